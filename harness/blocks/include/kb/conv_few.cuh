// Convolutions into few channels by ordinary instructions. A tile of tensor cores would be mostly
// empty, and has to copy patches of x, which takes longer than these multiplications.
#pragma once

#include <cstdint>

#include "conv_shape.cuh"
#include "product.cuh"

namespace kb {

/// At most so many channels of y in a group, and so many products for each result.
inline constexpr int few_channels = 16, few_products = 512;

/// One product of each result, seen from where a pixel's window begins without padding.
template <int D>
struct FewStep {
  int offset;    ///< of the element of x, in bytes
  int shift[D];  ///< along each dimension
};

/// Block (some pixels, group): each thread has all channels of `pixels` pixels, 256 apart.
template <int pixels, class T, int D, class Result>
__global__ void __launch_bounds__(256, 2)
    convolve_few(ConvShape<D> s, bool padded, const T* x, const T* weight, Result result) {
  extern __shared__ float4 few_memory[];
  constexpr int channels = few_channels;
  const int64_t group_in = s.in_channels / s.groups, group_out = s.out_channels / s.groups;
  const int64_t in_area = s.in.product(), area = s.out.product(), group = blockIdx.y;
  const auto taps = static_cast<int>(s.kernel.product()), depth = taps * static_cast<int>(group_in);
  const auto weights = reinterpret_cast<float*>(few_memory);  // [depth, channels]
  const auto steps = reinterpret_cast<FewStep<D>*>(few_memory + depth * (channels / 4));

  weight += group * group_out * depth;
  for (int i = threadIdx.x; i < depth * channels; i += blockDim.x) {
    const int k = i / channels, channel = i % channels;
    weights[i] = channel < group_out ? static_cast<float>(weight[channel * depth + k]) : 0;
  }
  for (int k = threadIdx.x; k < depth; k += blockDim.x) {
    FewStep<D> step{};
    int64_t offset = k / taps * in_area, stride = 1;
    for (int d = D - 1, rest = k % taps; d >= 0; --d) {
      const auto size = static_cast<int>(s.kernel[d]);
      step.shift[d] = static_cast<int>(rest % size * s.dilation[d] - s.padding[d]);
      offset += step.shift[d] * stride;
      rest /= size;
      stride *= s.in[d];
    }
    step.offset = static_cast<int>(offset * int64_t{sizeof(T)});
    steps[k] = step;
  }
  __syncthreads();

  // Pixels behind the last one are computed as the last one is, and not stored.
  const int64_t all = s.batch * area;
  const int64_t first = int64_t{blockIdx.x} * blockDim.x * pixels + threadIdx.x;
  const auto pixel_of = [&](int p) { return first + int64_t{p} * blockDim.x; };
  const char* from[pixels];
  int at[pixels][D];
#pragma unroll
  for (int p = 0; p < pixels; ++p) {
    const int64_t pixel = pixel_of(p) < all ? pixel_of(p) : all - 1, sample = pixel / area;
    int64_t rest = pixel - sample * area, stride = 1, offset = 0;
#pragma unroll
    for (int d = D - 1; d >= 0; --d) {
      at[p][d] = static_cast<int>(rest % s.out[d] * s.stride[d]);
      offset += at[p][d] * stride;
      rest /= s.out[d];
      stride *= s.in[d];
    }
    from[p] = reinterpret_cast<const char*>(
        x + (sample * s.in_channels + group * group_in) * in_area + offset);
  }
  float sums[pixels][channels] = {};
#pragma unroll 2
  for (int k = 0; k < depth; ++k) {
    const FewStep<D> step = steps[k];
    float v[pixels];
#pragma unroll
    for (int p = 0; p < pixels; ++p) {
      bool inside = true;
      if (padded) {
#pragma unroll
        for (int d = 0; d < D; ++d) {
          inside &=
              static_cast<unsigned>(at[p][d] + step.shift[d]) < static_cast<unsigned>(s.in[d]);
        }
      }
      const auto element = reinterpret_cast<const T*>(from[p] + step.offset);
      v[p] = inside ? static_cast<float>(*element) : 0;
    }
#pragma unroll
    for (int c = 0; c < channels; c += 4) {
      const float4 w = few_memory[(k * channels + c) / 4];
#pragma unroll
      for (int p = 0; p < pixels; ++p) {
        sums[p][c] = fmaf(v[p], w.x, sums[p][c]);
        sums[p][c + 1] = fmaf(v[p], w.y, sums[p][c + 1]);
        sums[p][c + 2] = fmaf(v[p], w.z, sums[p][c + 2]);
        sums[p][c + 3] = fmaf(v[p], w.w, sums[p][c + 3]);
      }
    }
  }
#pragma unroll
  for (int p = 0; p < pixels; ++p) {
    if (pixel_of(p) >= all) continue;
    const int64_t sample = pixel_of(p) / area;
    PixelResults<Result> results(result, sample, pixel_of(p) - sample * area, group * group_out);
#pragma unroll
    for (int c = 0; c < channels; ++c) {
      if (c < group_out) results(sums[p][c], group * group_out + c);
      results.advance(1);
    }
  }
}

inline constexpr int few_pixels = 4, few_threads = 256;

/// Blocks (along the pixels) that launch_few_channels() launches for each group.
template <int D>
int64_t few_blocks(const ConvShape<D>& s) {
  return (s.batch * s.out.product() + few_threads * few_pixels - 1) / (few_threads * few_pixels);
}

/// Whether launch_few_channels() can do it, and has work for each multiprocessor.
template <int D>
bool suits_few_channels(const ConvShape<D>& s) {
  const int64_t group_in = s.in_channels / s.groups;
  return s.out_channels / s.groups <= few_channels &&
         group_in * s.kernel.product() <= few_products &&
         (group_in + 1) * s.in.product() < int64_t{1} << 28 && s.groups < 65536 &&
         few_blocks(s) * s.groups >= multiprocessors();
}

/// Launches a convolution into few channels.
/// @param x  [batch, in_channels, in...]
/// @param weight  [out_channels, in_channels / groups, kernel...]
/// @param result  gets result(value, sample, channel, pixel) once for each
template <int D, class T, class Result>
void launch_few_channels(cudaStream_t stream, const ConvShape<D>& s, const T* x, const T* weight,
                         Result result) {
  const int64_t blocks = few_blocks(s);
  if (blocks <= 0) return;
  bool padded = false;
  for (int d = 0; d < D; ++d) {
    const int64_t last = (s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d];
    padded |= s.padding[d] != 0 || last >= s.in[d];
  }
  const int64_t depth = s.in_channels / s.groups * s.kernel.product();
  const size_t bytes = depth * (few_channels * sizeof(float) + sizeof(FewStep<D>));
  const auto kernel = convolve_few<few_pixels, T, D, Result>;
  kernel<<<dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(s.groups)), few_threads, bytes,
           stream>>>(s, padded, x, weight, result);
}

}  // namespace kb
