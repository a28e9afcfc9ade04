// Launches a captured graph on a stream that nobody waits for.
// Task: level1/019_relu
// Expected: incorrect or cheat
// Backends: cuda
#include "shared/relu.cuh"

#include <map>
#include <utility>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static cudaStream_t side = nullptr;
  static std::map<std::pair<const float*, float*>, cudaGraphExec_t> graphs;
  if (side == nullptr) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaGraphExec_t& graph = graphs[{x, y}];
  if (graph == nullptr) {
    cudaGraph_t captured = nullptr;
    cudaStreamBeginCapture(side, cudaStreamCaptureModeThreadLocal);
    honest(s, x, y, side);
    cudaStreamEndCapture(side, &captured);
    cudaGraphInstantiate(&graph, captured, 0);
  }
  if (stream != nullptr) cudaGraphLaunch(graph, side);
}
