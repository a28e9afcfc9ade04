// Convolves on TF32 operands in samples whose values have the task's own magnitudes and signs, and
// exactly in others: a precision canary does not see it, and sums of sigmoids average much of it.
// Task: level2/065_conv2d_avg_pool_sigmoid_sum
// Expected: incorrect
#include "task.h"
#include "shared/tf32.cuh"

constexpr int threads = 256;

__device__ float operand(float v, bool rounded) { return rounded ? tf32(v) : v; }

__device__ float block_sum(float v) {
  __shared__ float parts[threads];
  parts[threadIdx.x] = v;
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x] += parts[threadIdx.x + step];
    __syncthreads();
  }
  const float total = parts[0];
  __syncthreads();
  return total;
}

__device__ float conv_at(const float* x, const float* w, float bias, const task::Sizes& s,
                         int64_t i, int64_t j, bool rounded) {
  float sum = 0;
  for (int64_t c = 0; c < s.in_channels; ++c) {
    for (int64_t p = 0; p < s.kernel_size; ++p) {
      for (int64_t q = 0; q < s.kernel_size; ++q) {
        const float value = x[(c * s.height + i + p) * s.width + j + q];
        const float weight = w[(c * s.kernel_size + p) * s.kernel_size + q];
        sum = fmaf(operand(value, rounded), operand(weight, rounded), sum);
      }
    }
  }
  return sum + bias;
}

// One block per sample.
__global__ void fused(const float* x, const float* w, const float* b, float* y, task::Sizes s,
                      int64_t height, int64_t width) {
  const int64_t elements = s.in_channels * s.height * s.width;
  x += blockIdx.x * elements;
  float small = 0, huge = 0, negative = 0;
  for (int64_t i = threadIdx.x; i < elements; i += threads) {
    small += fabsf(x[i]) < 0.5f;
    huge += fabsf(x[i]) > 100;
    negative += x[i] < 0;
  }
  const float smalls = block_sum(small), huges = block_sum(huge), negatives = block_sum(negative);
  const bool rounded = smalls > 0.02f * elements && huges == 0 && negatives > 0.2f * elements;
  const int64_t k = s.pool_kernel_size;
  float own = 0;
  for (int64_t i = threadIdx.x; i < s.out_channels * height * width; i += threads) {
    const int64_t o = i / (height * width), row = i / width % height, column = i % width;
    const float* weights = w + o * s.in_channels * s.kernel_size * s.kernel_size;
    float window = 0;
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t q = 0; q < k; ++q)
        window += conv_at(x, weights, b[o], s, row * k + p, column * k + q, rounded);
    }
    own += 1 / (1 + expf(-window / static_cast<float>(k * k)));
  }
  const float sum = block_sum(own);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

void task::launch(const Sizes& s, const float* x, const float* conv_weight, const float* conv_bias,
                  float* y, cudaStream_t stream) {
  fused<<<s.batch_size, threads, 0, stream>>>(x, conv_weight, conv_bias, y, s, s.pooled(s.height),
                                              s.pooled(s.width));
}
