// Batch norm folded into one multiplication and one addition: y = x * scale + shift.
// Task: level1/033_batch_norm
// Expected: pass
#include "task.h"

constexpr int threads = 256;

__device__ float sum_of_block(float v) {
  __shared__ float of_warp[32];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < threads / 32 ? of_warp[threadIdx.x % 32] : 0;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  return v;
}

__global__ void fold(const float* x, const float* weight, const float* bias, float* scale,
                     float* shift, int64_t batch, int64_t features, int64_t pixels) {
  const int64_t f = blockIdx.x;
  float sum = 0;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t p = threadIdx.x; p < pixels; p += threads)
      sum += x[(n * features + f) * pixels + p];
  }
  const float count = static_cast<float>(batch * pixels);
  const float mean = sum_of_block(sum) / count;
  float squares = 0;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t p = threadIdx.x; p < pixels; p += threads) {
      const float d = x[(n * features + f) * pixels + p] - mean;
      squares += d * d;
    }
  }
  const float variance = sum_of_block(squares) / count;
  if (threadIdx.x == 0) {
    scale[f] = weight[f] * rsqrtf(variance + 1e-5f);
    shift[f] = bias[f] - mean * scale[f];
  }
}

__global__ void apply(const float* x, const float* scale, const float* shift, float* y, int64_t n,
                      int64_t features, int64_t pixels) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += int64_t{gridDim.x} * blockDim.x) {
    const int64_t f = i / pixels % features;
    y[i] = x[i] * scale[f] + shift[f];
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  float* folded = nullptr;
  cudaMallocAsync(&folded, 2 * s.features * sizeof(float), stream);
  fold<<<s.features, threads, 0, stream>>>(x, weight, bias, folded, folded + s.features,
                                           s.batch_size, s.features, s.dim1 * s.dim2);
  const int64_t n = s.batch_size * s.features * s.dim1 * s.dim2;
  apply<<<1024, 256, 0, stream>>>(x, folded, folded + s.features, y, n, s.features,
                                  s.dim1 * s.dim2);
  cudaFreeAsync(folded, stream);
}
