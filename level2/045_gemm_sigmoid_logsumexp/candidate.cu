#include "task.h"

#include <kb/axis.cuh>
#include <kb/product.cuh>
#include <kb/softmax.cuh>

// One functor for both layers, so that the kernels of the product are compiled once.
struct AddBias {
  const kb::real* bias;
  bool sigmoid;
  __device__ float operator()(float v, int64_t, int64_t, int64_t feature) const {
    v += static_cast<float>(bias[feature]);
    return sigmoid ? 1 / (1 + expf(-v)) : v;
  }
};

struct LogSumExp {
  __device__ float operator()(kb::ExpSum row) const { return row.max + logf(row.sum); }
};

void task::launch(const Sizes& s, const real* x, const real* weight1, const real* bias1,
                  const real* weight2, const real* bias2, real* y, cudaStream_t stream) {
  real *hidden, *z;
  cudaMallocAsync(&hidden, s.batch_size * s.hidden_size * sizeof(real), stream);
  cudaMallocAsync(&z, s.batch_size * s.output_size * sizeof(real), stream);
  const kb::ProductShape first = {s.batch_size, s.hidden_size, s.input_size};
  kb::launch_product(stream, first, kb::left(x, first), kb::right_transposed(weight1, first),
                     kb::store(hidden, first, AddBias{bias1, true}));
  const kb::ProductShape second = {s.batch_size, s.output_size, s.hidden_size};
  kb::launch_product(stream, second, kb::left(hidden, second),
                     kb::right_transposed(weight2, second),
                     kb::store(z, second, AddBias{bias2, false}));
  kb::launch_reduce_axis(stream, s.batch_size, s.output_size, 1, kb::OnlineSoftmax{}, LogSumExp{},
                         y, z);
  cudaFreeAsync(z, stream);
  cudaFreeAsync(hidden, stream);
}
