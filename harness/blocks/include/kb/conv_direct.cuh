// Convolutions by ordinary instructions: for devices without tensor cores, and into few channels,
// where a tile of tensor cores would be mostly empty and has to copy patches of x first, which
// takes longer than these multiplications.
#pragma once

#include <cstdint>
#include <type_traits>

#include "conv_shape.cuh"
#include "decide.cuh"
#include "types.cuh"

namespace kb {

/// A block computes so many channels of y, and has so much of the depth in shared memory at a time.
/// The depth counts (channel of x, tap).
inline constexpr int direct_channels = 16, direct_depth = 512;
inline constexpr int direct_threads = 256;

/// One line of the depth, seen from where a pixel's window begins without padding.
template <int D>
struct DirectStep {
  int offset;    ///< of the element of x, in bytes
  int shift[D];  ///< along each dimension
};

/// Block (some pixels, some channels of a group): each thread has so many pixels, a block apart.
/// @param padded  whether windows reach beyond x
template <int pixels, class T, int D, class Result>
__global__ void __launch_bounds__(direct_threads, 2)
    convolve_directly(ConvShape<D> s, bool padded, const T* x, const T* weight, Result result) {
  extern __shared__ float4 direct_memory[];
  constexpr int channels = direct_channels;
  const int64_t group_in = s.in_channels / s.groups, group_out = s.out_channels / s.groups;
  const int64_t in_area = s.in.product(), area = s.out.product();
  const unsigned tiles = (static_cast<unsigned>(group_out) + channels - 1) / channels;
  const int64_t group = blockIdx.y / tiles, first_channel = blockIdx.y % tiles * channels;
  const int exist = static_cast<int>(group_out - first_channel);  // channels, or more
  const int taps = static_cast<int>(s.kernel.product());
  const int depth = taps * static_cast<int>(group_in);
  const int most = depth < direct_depth ? depth : direct_depth;
  const auto weights = reinterpret_cast<float*>(direct_memory);  // [most, channels]
  const auto steps = reinterpret_cast<DirectStep<D>*>(direct_memory + most * (channels / 4));

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

  weight += (group * group_out + first_channel) * depth;
  float sums[pixels][channels] = {};
  for (int done = 0; done < depth; done += most) {
    const int lines = depth - done < most ? depth - done : most;
    if (done > 0) __syncthreads();  // all have used what was there
    for (int i = threadIdx.x; i < lines * channels; i += blockDim.x) {
      const int k = i / channels, channel = i % channels;
      weights[i] =
          channel < exist ? static_cast<float>(weight[int64_t{channel} * depth + done + k]) : 0;
    }
    for (int k = threadIdx.x; k < lines; k += blockDim.x) {
      DirectStep<D> step{};
      int64_t offset = (done + k) / taps * in_area, stride = 1;
      for (int d = D - 1, rest = (done + k) % taps; d >= 0; --d) {
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
    if (first >= all) continue;
#pragma unroll 2
    for (int k = 0; k < lines; ++k) {
      const DirectStep<D> step = steps[k];
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
        const float4 w = direct_memory[(k * channels + c) / 4];
#pragma unroll
        for (int p = 0; p < pixels; ++p) {
          sums[p][c] = fmaf(v[p], w.x, sums[p][c]);
          sums[p][c + 1] = fmaf(v[p], w.y, sums[p][c + 1]);
          sums[p][c + 2] = fmaf(v[p], w.z, sums[p][c + 2]);
          sums[p][c + 3] = fmaf(v[p], w.w, sums[p][c + 3]);
        }
      }
    }
  }
#pragma unroll
  for (int p = 0; p < pixels; ++p) {
    if (pixel_of(p) >= all) continue;
    const int64_t sample = pixel_of(p) / area, channel = group * group_out + first_channel;
    decide(result, [&](const auto& known) {
      using Known = std::decay_t<decltype(known)>;
      PixelResults<Known> results(known, sample, pixel_of(p) - sample * area, channel);
#pragma unroll
      for (int c = 0; c < channels; ++c) {
        if (c < exist) results(sums[p][c], channel + c);
        results.advance(1);
      }
    });
  }
}

/// Blocks along the pixels, of which each thread has so many, and along the channels.
template <int D>
dim3 direct_blocks(const ConvShape<D>& s, int pixels) {
  const int64_t each = int64_t{direct_threads} * pixels;
  const int64_t tiles = (s.out_channels / s.groups + direct_channels - 1) / direct_channels;
  return {static_cast<unsigned>((s.batch * s.out.product() + each - 1) / each),
          static_cast<unsigned>(tiles * s.groups)};
}

/// Whether launch_conv_directly() can do it: places in a sample's group are counted in 32 bits.
template <int D>
bool suits_directly(const ConvShape<D>& s) {
  return (s.in_channels / s.groups + 1) * s.in.product() < int64_t{1} << 28 &&
         direct_blocks(s, 1).y < 65536;
}

/// Whether tiles of tensor cores would be mostly empty, and of few slices.
template <int D>
bool has_few_channels(const ConvShape<D>& s) {
  return s.out_channels / s.groups <= direct_channels &&
         s.in_channels / s.groups * s.kernel.product() <= direct_depth;
}

/// Launches a convolution.
/// @param x  [batch, in_channels, in...]
/// @param weight  [out_channels, in_channels / groups, kernel...]
/// @param result  gets result(value, sample, channel, pixel) once for each
/// @tparam pixels  of each thread: with more of them a weight is read less often
template <int pixels, int D, class T, class Result>
void launch_conv_directly(cudaStream_t stream, const ConvShape<D>& s, const T* x, const T* weight,
                          Result result) {
  const dim3 blocks = direct_blocks(s, pixels);
  if (blocks.x == 0 || blocks.y == 0) return;
  bool padded = false;
  for (int d = 0; d < D; ++d) {
    const int64_t last = (s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d];
    padded |= s.padding[d] != 0 || last >= s.in[d];
  }
  const int64_t depth = s.in_channels / s.groups * s.kernel.product();
  const size_t bytes = (depth < direct_depth ? depth : direct_depth) *
                       (direct_channels * sizeof(float) + sizeof(DirectStep<D>));
  convolve_directly<pixels, T, D>
      <<<blocks, direct_threads, bytes, stream>>>(s, padded, x, weight, result);
}

}  // namespace kb
