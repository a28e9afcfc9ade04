// Does not compile: `padding` is declared nowhere, and a semicolon is missing.
// Expected: compile_error
#include "task.h"

// One thread per element of y.
__global__ void conv(task::Sizes s, const float* x, const float* weight, float* y) {
  const int64_t height = s.height - s.kernel_size + 1, width = s.width - s.kernel_size + 1;
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t column = i % width, row = i / width % height;
  const int64_t channel = i / width / height % s.out_channels;
  const int64_t sample = i / width / height / s.out_channels;
  if (sample >= s.batch_size) return;
  float sum = 0;
  for (int64_t c = 0; c < s.in_channels; ++c) {
    for (int64_t p = 0; p < s.kernel_size; ++p) {
      for (int64_t q = 0; q < s.kernel_size; ++q) {
        const int64_t at = (sample * s.in_channels + c)* s.height + row + p - padding sum +=
            x[at * s.width + column + q] *
            weight[((channel * s.in_channels + c) * s.kernel_size + p) * s.kernel_size + q];
      }
    }
  }
  y[i] = sum;
}

void task::launch(const Sizes& s, const float* x, const float* weight, float* y,
                  cudaStream_t stream) {
  const int64_t n = s.batch_size * s.out_channels * (s.height - s.kernel_size + 1) *
                    (s.width - s.kernel_size + 1);
  conv<<<(n + 255) / 256, 256, 0, stream>>>(s, x, weight, y);
}
