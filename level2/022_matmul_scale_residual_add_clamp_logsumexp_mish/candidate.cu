#include "task.h"

#include <kb/axis.cuh>
#include <kb/product.cuh>
#include <kb/softmax.cuh>

struct ScaleClamp {
  const kb::real* bias;
  float factor, low, high;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v = (v + static_cast<float>(bias[feature])) * factor;
    return kb::clamp(v + v, low, high);
  }
};

// v * mish(v) of v = logsumexp. tanh(log(1 + e)) is (e^2 + 2 e) / (e^2 + 2 e + 2); beyond 20 it is
// 1, and e^2 may overflow.
struct TimesMish {
  __device__ float operator()(kb::ExpSum row) const {
    const float v = row.max + logf(row.sum), e = expf(v), w = e * (e + 2);
    return v > 20 ? v * v : v * v * (w / (w + 2));
  }
};

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  float* z;
  cudaMallocAsync(&z, s.batch_size * s.hidden_size * sizeof(float), stream);
  const kb::ProductShape shape = {s.batch_size, s.hidden_size, s.input_size};
  const ScaleClamp f = {bias, static_cast<float>(s.scale_factor), static_cast<float>(s.clamp_min),
                        static_cast<float>(s.clamp_max)};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(z, shape, f));
  kb::launch_reduce_axis(stream, s.batch_size, s.hidden_size, 1, kb::OnlineSoftmax{}, TimesMish{},
                         y, z);
  cudaFreeAsync(z, stream);
}
