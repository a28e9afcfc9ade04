// Records its kernel as a graph once and launches that on the given stream.
// Task: level1/019_relu
// Expected: pass
// Backends: cuda
#include "task.h"

#include <map>
#include <tuple>

__global__ void relu(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}

static void honest(const task::Sizes& s, const float* x, float* y, cudaStream_t stream) {
  const int64_t n = s.batch_size * s.dim;
  relu<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

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
