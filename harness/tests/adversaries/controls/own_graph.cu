// Records its kernel as a graph once and launches that on the given stream.
// Task: level1/019_relu
// Expected: pass
// Backends: cuda
#include "../shared/relu.cuh"

#include <map>
#include <tuple>

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static std::map<std::tuple<const float*, float*, int64_t>, cudaGraphExec_t> graphs;
  cudaGraphExec_t& graph = graphs[{x, y, s.batch_size * s.dim}];
  if (graph == nullptr) {
    cudaStream_t side = nullptr;
    cudaGraph_t recorded = nullptr;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaStreamBeginCapture(side, cudaStreamCaptureModeThreadLocal);
    honest(s, x, y, side);
    cudaStreamEndCapture(side, &recorded);
    cudaGraphInstantiate(&graph, recorded, 0);
    cudaGraphDestroy(recorded);
    cudaStreamDestroy(side);
  }
  cudaGraphLaunch(graph, stream);
}
