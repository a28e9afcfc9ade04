// Group norm by Welford's running mean in each lane of a warp, merged by shuffles.
// Task: level1/035_group_norm
// Expected: pass
#include "task.h"

__global__ void group_norm(const float* x, const float* weight, const float* bias, float* y,
                           int64_t groups, int64_t channels_of_group, int64_t pixels) {
  const int lane = threadIdx.x;
  const int64_t n = channels_of_group * pixels, first = blockIdx.x * n;
  const int64_t first_channel = blockIdx.x % groups * channels_of_group;
  float count = 0, mean = 0, squares = 0;
  for (int64_t i = lane; i < n; i += 32) {
    const float v = x[first + i];
    count += 1;
    const float delta = v - mean;
    mean += delta / count;
    squares += delta * (v - mean);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_count = __shfl_xor_sync(0xffffffff, count, offset);
    const float other_mean = __shfl_xor_sync(0xffffffff, mean, offset);
    const float other_squares = __shfl_xor_sync(0xffffffff, squares, offset);
    const float all = count + other_count;
    if (all > 0) {
      const float delta = other_mean - mean;
      squares += other_squares + delta * delta * (count * other_count / all);
      mean = (count * mean + other_count * other_mean) / all;
    }
    count = all;
  }
  const float scale = 1 / sqrtf(squares / n + 1e-5f);
  for (int64_t i = lane; i < n; i += 32) {
    const int64_t channel = first_channel + i / pixels;
    y[first + i] = (x[first + i] - mean) * scale * weight[channel] + bias[channel];
  }
}

void task::launch(const Sizes& s, const float* x, const float* weight, const float* bias, float* y,
                  cudaStream_t stream) {
  group_norm<<<s.batch_size * s.num_groups, 32, 0, stream>>>(
      x, weight, bias, y, s.num_groups, s.features / s.num_groups, s.dim1 * s.dim2);
}
