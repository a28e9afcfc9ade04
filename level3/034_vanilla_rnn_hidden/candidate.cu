#include "task.h"

#include <kb/network.cuh>

constexpr int samples = 8, threads = 256, warps = threads / 32;

// h of one step: tanh of what x gives, [batch_size, hidden_size], and the product with h_old. One
// warp per hidden unit, `samples` samples at a time.
__global__ void step(task::Sizes s, const float* of_x, const kb::real* weight,
                     const kb::real* h_old, kb::real* h) {
  const int lane = threadIdx.x % 32;
  const int64_t unit = int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (unit >= s.hidden_size) return;
  weight += unit * (s.input_size + s.hidden_size) + s.input_size;
  for (int64_t b0 = 0; b0 < s.batch_size; b0 += samples) {
    float sums[samples] = {};
    for (int64_t k = lane; k < s.hidden_size; k += 32) {
      const float w = kb::element(weight, k);
#pragma unroll
      for (int b = 0; b < samples; ++b) {
        if (b0 + b < s.batch_size)
          sums[b] = fmaf(w, kb::element(h_old, (b0 + b) * s.hidden_size + k), sums[b]);
      }
    }
#pragma unroll
    for (int b = 0; b < samples; ++b) {
      const float sum = kb::combine(kb::Warp{}, sums[b], kb::Sum{});
      const int64_t at = (b0 + b) * s.hidden_size + unit;
      if (lane == b && b0 + b < s.batch_size) h[at] = static_cast<kb::real>(tanhf(of_x[at] + sum));
    }
  }
}

// Only the product with h has to wait for the step before: what x and the outputs need is made for
// all steps at once.
void task::launch(const Sizes& s, const real* x, const real* h0, const kb::Weights& weights,
                  real* y, cudaStream_t stream) {
  const kb::Network net(weights, stream);
  const real* const weight = net.weight("i2h.weight");
  const kb::ProductShape of_all = {s.sequence_length * s.batch_size, s.hidden_size, s.input_size};
  float* of_x;
  cudaMallocAsync(&of_x, of_all.rows * s.hidden_size * sizeof(float), stream);
  kb::launch_product(stream, of_all, kb::left(x, of_all),
                     kb::right_transposed(weight, of_all, s.input_size + s.hidden_size),
                     kb::store(of_x, of_all, kb::AddColumnBias{net.weight("i2h.bias")}));
  const kb::FeatureMap states = net.make(of_all.rows, s.hidden_size);
  const int64_t size = s.batch_size * s.hidden_size;
  for (int64_t t = 0; t < s.sequence_length; ++t) {
    step<<<(s.hidden_size + warps - 1) / warps, threads, 0, stream>>>(
        s, of_x + t * size, weight, t == 0 ? h0 : states.data + (t - 1) * size,
        states.data + t * size);
  }
  cudaFreeAsync(of_x, stream);
  net.linear_to(net.output(y, of_all.rows, s.output_size), "h2o", states);
}
