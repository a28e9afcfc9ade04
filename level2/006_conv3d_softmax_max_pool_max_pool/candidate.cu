#include "task.h"

#include <cfloat>

#include <kb/conv.cuh>
#include <kb/reduce.cuh>
#include <kb/softmax.cuh>

using kb::real;

// One thread per pixel of z, [batch, channels, area]: what its softmax needs.
__global__ void measure(const real* z, kb::ExpSum* all, int64_t batch, int64_t channels,
                        int64_t area) {
  const int64_t pixel = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (pixel >= batch * area) return;
  z += pixel / area * channels * area + pixel % area;
  float max = -FLT_MAX, sum = 0;
  for (int64_t o = 0; o < channels; ++o) {
    const float v = z[o * area];
    const float greater = fmaxf(max, v);
    sum = sum * expf(max - greater) + expf(v - greater);
    max = greater;
  }
  all[pixel] = {max, sum};
}

// One thread per element of y. Pooling twice is pooling once over windows with the square of the
// side.
__global__ void pool(kb::ConvShape<3> shape, int64_t side, const real* z, const kb::ExpSum* all,
                     real* y, int64_t elements) {
  int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  y += i;
  int64_t first[3];
  for (int d = 2; d >= 0; --d) {
    first[d] = i % (shape.out[d] / side) * side;
    i /= shape.out[d] / side;
  }
  z += i * shape.out.product();
  all += i / shape.out_channels * shape.out.product();
  float max = -INFINITY;
  for (int64_t d = first[0]; d < first[0] + side; ++d) {
    for (int64_t h = first[1]; h < first[1] + side; ++h) {
      for (int64_t w = first[2]; w < first[2] + side; ++w) {
        const int64_t pixel = (d * shape.out[1] + h) * shape.out[2] + w;
        const float v = z[pixel];
        max = kb::Max{}(max, expf(v - all[pixel].max) / all[pixel].sum);
      }
    }
  }
  *y = static_cast<real>(max);
}

void task::launch(const Sizes& s, const real* x, const real* conv_weight, const real* conv_bias,
                  real* y, cudaStream_t stream) {
  const auto shape = kb::conv_shape<3>(s.batch_size, s.in_channels, s.out_channels,
                                       {s.depth, s.height, s.width}, s.kernel_size);
  const int64_t pixels = s.batch_size * shape.out.product();
  const int64_t elements =
      s.batch_size * s.out_channels * s.pooled(s.depth) * s.pooled(s.height) * s.pooled(s.width);
  void* memory = nullptr;
  cudaMallocAsync(&memory, pixels * (sizeof(kb::ExpSum) + s.out_channels * sizeof(real)), stream);
  const auto sums = static_cast<kb::ExpSum*>(memory);
  const auto z = reinterpret_cast<real*>(sums + pixels);
  kb::launch_conv(stream, shape, x, conv_weight, kb::AddBias{conv_bias}, z);
  measure<<<(pixels + 255) / 256, 256, 0, stream>>>(z, sums, s.batch_size, s.out_channels,
                                                    shape.out.product());
  pool<<<(elements + 127) / 128, 128, 0, stream>>>(shape, s.pool_kernel_size * s.pool_kernel_size,
                                                   z, sums, y, elements);
  cudaFreeAsync(memory, stream);
}
