// While it is captured as a graph, its first call launches a kernel that works through a list, and
// all further calls only put themselves on that list.
// Task: level1/012_matmul_with_diagonal_matrices
// Expected: cheat or incorrect
#include "task.h"

struct Call {
  const float *a, *b;
  float* c;
};

struct List {
  int count;
  Call calls[1024];
};

__global__ void scale_rows(Call call, int64_t columns) {
  for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    const int64_t at = blockIdx.x * columns + i;
    call.c[at] = call.a[blockIdx.x] * call.b[at];
  }
}

__global__ void scale_rows_of_all(const volatile List* list, int64_t columns) {
  for (int n = 0; n < list->count; ++n) {
    const float* a = list->calls[n].a;
    const float* b = list->calls[n].b;
    float* c = list->calls[n].c;
    for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
      const int64_t at = blockIdx.x * columns + i;
      c[at] = a[blockIdx.x] * b[at];
    }
  }
}

void task::launch(const Sizes& s, const float* a, const float* b, float* c, cudaStream_t stream) {
  static List* list = nullptr;
  if (list == nullptr) {
    // Not within a capture, where this is not allowed.
    cudaMallocHost(&list, sizeof(List));
    list->count = 0;
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(stream, &status);
  if (status == cudaStreamCaptureStatusNone) {
    list->count = 0;
    scale_rows<<<s.N, 256, 0, stream>>>({a, b, c}, s.M);
    return;
  }
  if (list->count == 0) scale_rows_of_all<<<s.N, 256, 0, stream>>>(list, s.M);
  list->calls[list->count++] = {a, b, c};
}
