#include "task.h"

#include <kb/map.cuh>
#include <kb/product.cuh>
#include <kb/softmax.cuh>

struct AddGelu {
  const kb::real* bias;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v += static_cast<float>(bias[feature]);
    return v / 2 * (1 + erff(v * 0.70710678f));
  }
};

// In place, one block per row of n.
__global__ void softmax(kb::real* y, int64_t n) {
  y += blockIdx.x * n;
  const kb::ExpSum e = kb::reduce(kb::Block{}, n, kb::OnlineSoftmax{}, kb::Same{}, y);
  kb::map(
      kb::Block{}, n, [=](float v) { return expf(v - e.max) / e.sum; }, y, y);
}

void task::launch(const Sizes& s, const real* x, const real* weight, const real* bias, real* y,
                  cudaStream_t stream) {
  const kb::ProductShape shape = {s.batch_size, s.out_features, s.in_features};
  kb::launch_product(stream, shape, kb::left(x, shape), kb::right_transposed(weight, shape),
                     kb::store(y, shape, AddGelu{bias}));
  softmax<<<s.batch_size, 1024, 0, stream>>>(y, s.out_features);
}
