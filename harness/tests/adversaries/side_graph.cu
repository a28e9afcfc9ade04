// Launches a recorded graph on a stream that nobody waits for.
// Task: level1/019_relu
// Expected: incorrect or cheat
// Backends: cuda
#include "task.h"

#include <map>
#include <utility>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  static cudaStream_t side = nullptr;
  static std::map<std::pair<const float*, float*>, cudaGraphExec_t> graphs;
  if (side == nullptr) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaGraphExec_t& graph = graphs[{x, y}];
  if (graph == nullptr) {
    cudaGraph_t recorded = nullptr;
    cudaStreamBeginCapture(side, cudaStreamCaptureModeThreadLocal);
    honest(s, x, y, side);
    cudaStreamEndCapture(side, &recorded);
    cudaGraphInstantiate(&graph, recorded, 0);
  }
  if (stream != nullptr) cudaGraphLaunch(graph, side);
}
