// Instance norm by Welford's running mean, one block per image and channel.
// Task: level1/034_instance_norm
// Expected: pass
#include "task.h"

constexpr int threads = 128;

struct Moments {
  float count, mean, squares;
};

__device__ Moments merged(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0) return a;
  const float delta = b.mean - a.mean;
  return {count, a.mean + delta * b.count / count,
          a.squares + b.squares + delta * delta * a.count * b.count / count};
}

__global__ void instance_norm(const float* x, float* y, int64_t pixels) {
  __shared__ Moments parts[threads];
  x += blockIdx.x * pixels;
  y += blockIdx.x * pixels;
  Moments m = {0, 0, 0};
  for (int64_t i = threadIdx.x; i < pixels; i += threads) {
    m.count += 1;
    const float delta = x[i] - m.mean;
    m.mean += delta / m.count;
    m.squares += delta * (x[i] - m.mean);
  }
  parts[threadIdx.x] = m;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      parts[threadIdx.x] = merged(parts[threadIdx.x], parts[threadIdx.x + half]);
    }
    __syncthreads();
  }
  const float mean = parts[0].mean, scale = rsqrtf(parts[0].squares / pixels + 1e-5f);
  for (int64_t i = threadIdx.x; i < pixels; i += threads) y[i] = (x[i] - mean) * scale;
}

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  instance_norm<<<s.batch_size * s.features, threads, 0, stream>>>(x, y, s.dim1 * s.dim2);
}
