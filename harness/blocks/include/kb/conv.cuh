// Convolutions of one to three dimensions, ordinary and transposed, with stride, padding, dilation
// and groups, as matrix products on tensor cores where there are any. A functor sees each result
// before it is stored.
#pragma once

#include <climits>
#include <cstdint>
#include <type_traits>

#include "conv_direct.cuh"
#include "conv_shape.cuh"
#include "product.cuh"

namespace kb {

/// Where results go if blocks share the depth: each part into a place of its own, for
/// add_conv_parts(). If none does, where the results themselves go. One type for both, as the
/// kernel takes long to compile.
template <class Result>
struct ResultOrPart {
  Result result;
  float* parts;  ///< [part, batch, channels, area], or null
  int64_t channels, area, size;

  /// Calls store(results) with what takes the results of one pixel.
  template <class Store>
  __device__ void of_pixel(int part, int64_t sample, int64_t pixel, int64_t first_channel,
                           Store store) const {
    if (parts == nullptr) {
      decide(result, [&](const auto& known) {
        using Known = std::decay_t<decltype(known)>;
        store(PixelResults<Known>(known, sample, pixel, first_channel));
      });
    } else {
      const StorePixels<float, AsIs> to{parts + part * size, channels, area, {}};
      store(PixelResults<StorePixels<float, AsIs>>(to, sample, pixel, first_channel));
    }
  }
};

/// Adds up the parts, always in the same order.
template <class Result>
__global__ void add_conv_parts(ResultOrPart<Result> from, int count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < from.size; i += step) {
    float sum = 0;
    for (int part = 0; part < count; ++part) sum += from.parts[part * from.size + i];
    const int64_t row = i / from.area;
    from.result(sum, row / from.channels, row % from.channels, i % from.area);
  }
}

// ---------------------------------------------------------------------------------------------
// What is computed: for each class of outputs a matrix product of patches of x, [pixels, depth],
// with weights, [depth, channels]. The depth counts (channel of x, tap).

/// What all blocks know. The outputs of a transposed convolution fall into classes, by their
/// positions modulo the stride: within a class all use the same taps, and neighbours use neighbours
/// in x. Those that no tap reaches are in none. An ordinary convolution is one class.
template <int D>
struct ConvPlan {
  ConvShape<D> s;
  bool transposed;
  int classes, max_slices;  ///< a slice is what passes through shared memory at a time
  int reached[D];           ///< how many positions modulo the stride any tap reaches
  int tap_step[D];          ///< from one of a class's taps to the next
  int tile_channels;        ///< of y
  int tiles_of_group, tiles_across, tiles;
  int parts;  ///< blocks that share the depth of a tile

  __host__ __device__ int64_t group_in() const { return s.in_channels / s.groups; }
  __host__ __device__ int64_t group_out() const { return s.out_channels / s.groups; }
};

/// One of the classes: the outputs first, first + every, ... along each dimension, `count` of them;
/// the taps that reach them are tap, tap + tap_step, ...
template <int D>
struct ConvClass {
  int tap[D], first[D], every[D], count[D];
  int64_t pixels;  ///< of one sample

  __host__ __device__ ConvClass(const ConvPlan<D>& plan, int index) : pixels(1) {
    for (int d = D - 1; d >= 0; --d) {
      every[d] = plan.transposed ? static_cast<int>(plan.s.stride[d]) : 1;
      tap[d] = index % plan.reached[d];
      index /= plan.reached[d];
      const auto dilation = static_cast<int>(plan.s.dilation[d]);
      const int place = (tap[d] * dilation - static_cast<int>(plan.s.padding[d])) % every[d];
      first[d] = place < 0 ? place + every[d] : place;
      const auto left = static_cast<int>(plan.s.out[d]) - first[d];
      count[d] = left > 0 ? (left + every[d] - 1) / every[d] : 0;
      pixels *= count[d];
    }
  }
  __host__ __device__ int taps(const ConvPlan<D>& plan, int d) const {
    return (static_cast<int>(plan.s.kernel[d]) - tap[d] + plan.tap_step[d] - 1) / plan.tap_step[d];
  }
};

/// One line of the depth, seen from a pixel: the way to its element of x.
template <int D>
struct alignas(16) PatchStep {
  int64_t offset;  ///< in memory, in bytes
  int shift[D];    ///< along each dimension
};

/// The position of a pixel that does not exist, and the shift of a line that does not: added to any
/// shift or position, and to each other, they are outside x.
inline constexpr int outside = 1 << 30, nowhere = INT_MIN;

/// Packed weights in memory: for each class the number of its slices, the steps of its depth, then
/// tiles of weights as they will be in shared memory, (class, tile of channels, slice). There they
/// are split, as both parts would take the way through the L2 cache twice.
template <class T, int D>
struct PackedWeights {
  int* slices;
  PatchStep<D>* steps;
  T* tiles;
};

// A slice is 128 bytes of k: 32 floats or 64 halves.
template <class T>
inline constexpr int slice_depth = 128 / sizeof(T);

template <class T, Arithmetic arithmetic>
inline constexpr int weight_parts = sizeof(T) == 4 && arithmetic == Arithmetic::tf32x3 ? 2 : 1;

/// Block (class, slice, part of the channels) packs a slice of weights, and its steps.
template <class T, Arithmetic arithmetic, int D>
__global__ void pack_weights(ConvPlan<D> plan, const T* weight, PackedWeights<T, D> packed) {
  constexpr int depth = slice_depth<T>;
  const ConvShape<D>& s = plan.s;
  const int slice = blockIdx.x % plan.max_slices, index = blockIdx.x / plan.max_slices;
  const ConvClass<D> c(plan, index);
  int taps[D], within_class = 1;
  for (int d = 0; d < D; ++d) within_class *= taps[d] = c.taps(plan, d);
  const auto lines = static_cast<int>(plan.group_in()) * within_class;
  if (threadIdx.x == 0 && slice == 0) packed.slices[index] = (lines + depth - 1) / depth;
  if (slice * depth >= lines) return;

  const int within = threadIdx.x % depth, k = slice * depth + within;
  const bool exists = k < lines;
  const int channel_in = exists ? k / within_class : 0;
  PatchStep<D> step{};
  int64_t tap = 0, size = 1;  // of the kernel
  int64_t stride = 1;         // of x
  for (int d = D - 1, rest = k % within_class; d >= 0; --d) {
    const int64_t at = c.tap[d] + plan.tap_step[d] * (rest % taps[d]);
    rest /= taps[d];
    tap += at * size;
    size *= s.kernel[d];
    const int64_t shift = plan.transposed
                              ? (c.first[d] + s.padding[d] - at * s.dilation[d]) / s.stride[d]
                              : at * s.dilation[d] - s.padding[d];
    step.shift[d] = exists ? static_cast<int>(shift) : nowhere;
    step.offset += shift * stride;
    stride *= s.in[d];
  }
  step.offset = exists ? (step.offset + channel_in * stride) * int64_t{sizeof(T)} : 0;
  if (threadIdx.x < depth && blockIdx.y == 0) {
    packed.steps[int64_t{index} * plan.max_slices * depth + k] = step;
  }

  const int64_t tile_size = int64_t{plan.tile_channels} * depth;
  const int rows = plan.tiles_across * plan.tile_channels, each = blockDim.x / depth;
  for (int row = blockIdx.y * each + threadIdx.x / depth; row < rows; row += gridDim.y * each) {
    const int tile = row / plan.tile_channels, line = row % plan.tile_channels;
    const int group = tile / plan.tiles_of_group;
    const int channel = tile % plan.tiles_of_group * plan.tile_channels + line;  // of the group
    const int64_t from =
        plan.transposed
            ? ((group * plan.group_in() + channel_in) * plan.group_out() + channel) * size + tap
            : ((group * plan.group_out() + channel) * plan.group_in() + channel_in) * size + tap;
    const T value = exists && channel < plan.group_out() ? weight[from] : static_cast<T>(0.f);
    T* const to =
        packed.tiles +
        ((int64_t{index} * plan.tiles_across + tile) * plan.max_slices + slice) * tile_size;
    if constexpr (sizeof(T) == 4 && arithmetic == Arithmetic::tf32) {
      to[swizzled<T>(line, within)] = __uint_as_float(round_tf32(__float_as_uint(value)));
    } else {
      to[swizzled<T>(line, within)] = value;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Products of 64 pixels, in registers, with some channels, in shared memory, by a warpgroup

/// d[4 j ... 4 j + 3] is to channels 8 j to 8 j + 7 what d[0..3] is to mma(): d = a * b, or
/// d += a * b. Returns before it is done; wgmma_begin() comes before.
/// @param a  each warp's fragment: 16 pixels, 32 bytes of k
/// @param tile  weights, swizzled; k is the first of the 32 bytes' elements
template <class T, int channels>
__device__ void wgmma_channels(float (&d)[channels / 2], const unsigned (&a)[4], const T* tile,
                               int k, bool accumulate) {
#ifdef KB_HAS_WGMMA
#define KB_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define KB_D16(i) KB_D4(i), KB_D4(i + 4), KB_D4(i + 8), KB_D4(i + 12)
#define KB_0_TO_15 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define KB_16_TO_31 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define KB_32_TO_63                                                  \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define KB_WGMMA(shape, last, sums, inputs, predicate, ...)                                        \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " predicate                                       \
               ", 0;\nwgmma.mma_async.sync.aligned." shape " {" sums "}, " inputs ", p, 1, 1" last \
               ";\n}\n"                                                                            \
               : __VA_ARGS__                                                                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(wgmma_operand(tile + k, 16)),     \
                 "r"(int{accumulate}))
#define KB_WGMMA_OF_TYPE(rest, last)                                                           \
  if constexpr (channels == 32) {                                                              \
    KB_WGMMA("m64n32" rest, last, KB_0_TO_15, "{%16,%17,%18,%19}, %20", "%21", KB_D16(0));     \
  } else if constexpr (channels == 64) {                                                       \
    KB_WGMMA("m64n64" rest, last, KB_0_TO_15 "," KB_16_TO_31, "{%32,%33,%34,%35}, %36", "%37", \
             KB_D16(0), KB_D16(16));                                                           \
  } else {                                                                                     \
    KB_WGMMA("m64n128" rest, last, KB_0_TO_15 "," KB_16_TO_31 "," KB_32_TO_63,                 \
             "{%64,%65,%66,%67}, %68", "%69", KB_D16(0), KB_D16(16), KB_D16(32), KB_D16(48));  \
  }
  static_assert(channels == 32 || channels == 64 || channels == 128, "one of these sizes");
  if constexpr (std::is_same_v<T, float>) {
    KB_WGMMA_OF_TYPE("k8.f32.tf32.tf32", "")
  } else if constexpr (std::is_same_v<T, __half>) {
    KB_WGMMA_OF_TYPE("k16.f32.f16.f16", ", 0")
  } else {
    KB_WGMMA_OF_TYPE("k16.f32.bf16.bf16", ", 0")
  }
#undef KB_WGMMA_OF_TYPE
#undef KB_WGMMA
#undef KB_32_TO_63
#undef KB_16_TO_31
#undef KB_0_TO_15
#undef KB_D16
#undef KB_D4
#else
  constexpr int pair = 4 / sizeof(T);
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int j = 0; j < channels / 8; ++j) {
    float sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = accumulate ? d[4 * j + i] : 0;
    unsigned b[2];
    for (int i = 0; i < 2; ++i) {
      const int place = swizzled<T>(8 * j + g, k + (t + 4 * i) * pair);
      b[i] = *reinterpret_cast<const unsigned*>(tile + place);
    }
    mma<T>(sum, a, b);
    for (int i = 0; i < 4; ++i) d[4 * j + i] = sum[i];
  }
#endif
}

// ---------------------------------------------------------------------------------------------
// The kernel

/// How three warpgroups compute tiles of 128 pixels and some channels: one copies patches of x and
/// weights, two multiply 64 pixels each.
/// @tparam together_  how many fragments of patches are in registers at a time
template <int channels_, int stages_, int blocks_, int copier_registers_, int registers_,
          int together_>
struct ConvTile {
  static constexpr int pixels = 128, channels = channels_, stages = stages_, together = together_;
  static constexpr int blocks_per_multiprocessor = blocks_;
  static constexpr int copier_registers = copier_registers_, registers = registers_;
  static constexpr int multiplying = 256, copying = 128, threads = multiplying + copying;
  static_assert(copying == pixels, "each thread copies the patch of one pixel");
  static_assert(stages >= 3, "a slice arrives while others are used and freed");
  static_assert(copying * copier_registers + multiplying * registers <=
                    65536 / (blocks_ * threads) / 8 * 8 * threads,
                "a block has as many registers at all times as when it starts");

  template <class T>
  using Patches = OperandTile<T, pixels, slice_depth<T>, false>;
  template <class T, Arithmetic arithmetic>
  static constexpr int weights_size = weight_parts<T, arithmetic>* channels* slice_depth<T>;
  template <class T, Arithmetic arithmetic, int D>
  static constexpr int shared_bytes =
      stages*(weights_size<T, arithmetic> + Patches<T>::size) * static_cast<int>(sizeof(T)) +
      copying / 32 * stages* slice_depth<T>* static_cast<int>(sizeof(PatchStep<D>)) +
      2 * stages* static_cast<int>(sizeof(Barrier));
};

/// One block's part of a tile: its class, where it begins, which slices.
template <int D>
struct ConvTilePlace {
  int part, class_index, across;  ///< across counts the tiles of channels of all groups
  int64_t pixel;                  ///< of all samples of the class
  ConvClass<D> c;

  // Tiles that share pixels follow one another, and all classes of a part of y.
  __device__ ConvTilePlace(const ConvPlan<D>& plan, int work, int pixels)
      : ConvTilePlace(plan, work % plan.parts, work / plan.parts, pixels) {}

  __device__ bool exists(const ConvPlan<D>& plan) const { return pixel < plan.s.batch * c.pixels; }

  /// Part i of the slices ends where part i + 1 begins.
  __device__ int first_slice(const ConvPlan<D>& plan, int slices) const {
    return static_cast<int>(int64_t{slices} * part / plan.parts);
  }
  __device__ int end_slice(const ConvPlan<D>& plan, int slices) const {
    return static_cast<int>(int64_t{slices} * (part + 1) / plan.parts);
  }

 private:
  __device__ ConvTilePlace(const ConvPlan<D>& plan, int which_part, int tile, int pixels)
      : part(which_part),
        class_index(tile / plan.tiles_across % plan.classes),
        across(tile % plan.tiles_across),
        pixel(int64_t{tile / plan.tiles_across / plan.classes} * pixels),
        c(plan, class_index) {}
};

/// The pixel of a class: its sample and which output it is along each dimension.
template <int D>
struct ConvPixel {
  bool exists;
  int64_t sample;
  int at[D];

  __device__ ConvPixel(const ConvPlan<D>& plan, const ConvClass<D>& c, int64_t index)
      : exists(index < plan.s.batch * c.pixels), sample(index / c.pixels) {
    int64_t rest = index - sample * c.pixels;
#pragma unroll
    for (int d = D - 1; d > 0; --d) {
      at[d] = static_cast<int>(rest % c.count[d]);
      rest /= c.count[d];
    }
    at[0] = static_cast<int>(rest);
  }
};

/// One warp's sums += 16 pixels of patches * weights.
template <class Tile, class T, Arithmetic arithmetic>
__device__ void multiply_patches(float (&sums)[Tile::channels / 2], const T* patches,
                                 const T* weights, int line) {
  using Patches = typename Tile::template Patches<T>;
  constexpr int channels = Tile::channels, depth = slice_depth<T>, step = 32 / sizeof(T);
  if constexpr (arithmetic == Arithmetic::plain) {
    // The same elements per lane as those of fragments, by ordinary instructions.
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll 2
    for (int k = 0; k < depth; ++k) {
      float x[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        x[i] = static_cast<float>(patches[Patches::place(line + 8 * i + g, k)]);
      }
#pragma unroll
      for (int j = 0; j < channels / 4; ++j) {
        const int channel = j / 2 * 8 + 2 * t + j % 2;
        const auto w = static_cast<float>(weights[swizzled<T>(channel, k)]);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& sum = sums[j / 2 * 4 + 2 * i + j % 2];
          sum = fmaf(x[i], w, sum);
        }
      }
    }
  } else {
    constexpr bool split = weight_parts<T, arithmetic> == 2;
    const T* const low_weights = weights + channels * depth;
    // Tensor cores round towards zero when they add, so errors would grow with the depth: what they
    // add up of some steps is added to the sums by ordinary instructions.
    float part[channels / 2];
#pragma unroll
    for (int from = 0; from < depth; from += Tile::together * step) {
      unsigned x[Tile::together][4], low[Tile::together][4];
#pragma unroll
      for (int i = 0; i < Tile::together; ++i) {
        Patches::load_left(patches, line, from + i * step, x[i]);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if constexpr (split) split_tf32(x[i][e], x[i][e], low[i][e]);
          if constexpr (sizeof(T) == 4 && !split) x[i][e] = round_tf32(x[i][e]);
        }
      }
      wgmma_begin();
#pragma unroll
      for (int i = 0; i < Tile::together; ++i) {
        if constexpr (split) {  // the small products come first: they lose nothing that matters
          const int k = from + i * step;
          wgmma_channels<T, channels>(part, low[i], weights, k, i > 0);
          wgmma_channels<T, channels>(part, x[i], low_weights, k, true);
        }
      }
#pragma unroll
      for (int i = 0; i < Tile::together; ++i) {
        wgmma_channels<T, channels>(part, x[i], weights, from + i * step, split || i > 0);
      }
      wgmma_end();
      wgmma_wait(part);
#pragma unroll
      for (int i = 0; i < channels / 2; ++i) sums[i] += part[i];
    }
  }
}

/// What a warp keeps of the steps in shared memory: those of a slice for each stage. Each thread
/// would otherwise wait for memory wherever it needs a step.
template <class Tile, class T, int D>
struct StepStages {
  static constexpr int depth = slice_depth<T>;
  PatchStep<D> at[Tile::stages][depth];

  /// Starts to copy the steps of slice `n` of this block.
  __device__ void start(unsigned n, const PatchStep<D>* from) {
    constexpr int chunks = depth * sizeof(PatchStep<D>) / 16;
    char* const to = reinterpret_cast<char*>(at[n % Tile::stages]);
#pragma unroll
    for (unsigned i = threadIdx.x % 32; i < chunks; i += 32) {
      copy_async<16>(to + 16 * i, reinterpret_cast<const char*>(from) + 16 * i, 16);
    }
  }
  /// Copies them at once.
  __device__ void copy(unsigned n, const PatchStep<D>* from) {
#pragma unroll
    for (int i = threadIdx.x % 32; i < depth; i += 32) at[n % Tile::stages][i] = from[i];
  }
};

/// One thread's patch: starts to copy a slice of it.
template <class T, int D, class Patches>
__device__ void copy_patch(T* to, int line, const T* from, const int (&at)[D], const Extent<D>& in,
                           const PatchStep<D>* steps) {
  constexpr int depth = slice_depth<T>;
  const auto inside = [&](const PatchStep<D>& step) {
    bool all = true;
#pragma unroll
    for (int d = 0; d < D; ++d) {
      all &= static_cast<unsigned>(at[d]) + static_cast<unsigned>(step.shift[d]) <
             static_cast<unsigned>(in[d]);
    }
    return all;
  };
  const auto element = [&](const PatchStep<D>& step) {
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(from) + step.offset);
  };
  if constexpr (sizeof(T) == 4) {
    constexpr int each = 4;
#pragma unroll 1
    for (int k0 = 0; k0 < depth; k0 += each) {
      // Read before the first copy: no load passes a copy, and each step would be waited for.
      PatchStep<D> ahead[each];
#pragma unroll
      for (int i = 0; i < each; ++i) ahead[i] = steps[k0 + i];
#pragma unroll
      for (int i = 0; i < each; ++i) {
        copy_async<4>(to + Patches::place(line, k0 + i), element(ahead[i]),
                      inside(ahead[i]) ? 4 : 0);
      }
    }
  } else {
    constexpr int each = 16;
#pragma unroll 1
    for (int k0 = 0; k0 < depth; k0 += each) {
      T values[each];  // of 2 bytes: they pass through registers, many at a time
#pragma unroll
      for (int i = 0; i < each; ++i) {
        const PatchStep<D> step = steps[k0 + i];
        values[i] = inside(step) ? *element(step) : static_cast<T>(0.f);
      }
#pragma unroll
      for (int i = 0; i < each; ++i) to[Patches::place(line, k0 + i)] = values[i];
    }
  }
}

/// How those that copy share a tile of weights: chunk i of a thread begins there.
template <class Tile, class T>
struct WeightChunks {
  static constexpr int elements = 16 / sizeof(T);
  static constexpr int each =
      Tile::channels * slice_depth<T> / (Tile::copying * elements);  ///< chunks of a thread
  __device__ static int place(int thread, int i) { return (i * Tile::copying + thread) * elements; }
};

/// Splits what this thread has copied of a tile of weights: the first part stays where it is, the
/// second follows behind the tile.
template <class Tile>
__device__ void split_weights(float* tile, int thread) {
  using Chunks = WeightChunks<Tile, float>;
#pragma unroll
  for (int i = 0; i < Chunks::each; ++i) {
    float* const high = tile + Chunks::place(thread, i);
    Vector<float, 4>& first = *reinterpret_cast<Vector<float, 4>*>(high);
    Vector<float, 4> values = first, rest;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      unsigned nearest, second;
      split_tf32(__float_as_uint(values.at[j]), nearest, second);
      values.at[j] = __uint_as_float(nearest);
      rest.at[j] = __uint_as_float(second);
    }
    first = values;
    *reinterpret_cast<Vector<float, 4>*>(high + Tile::channels * slice_depth<float>) = rest;
  }
}

template <class Tile, class T, Arithmetic arithmetic, int D, class Result>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_multiprocessor)
    convolve(ConvPlan<D> plan, const T* x, PackedWeights<T, D> packed,
             ResultOrPart<Result> result) {
  constexpr int depth = slice_depth<T>, stages = Tile::stages, channels = Tile::channels;
  constexpr int weights_size = Tile::template weights_size<T, arithmetic>;
  constexpr int packed_size = channels * depth;
  using Patches = typename Tile::template Patches<T>;
  T* const weight_tiles = reinterpret_cast<T*>(dynamic_shared());
  T* const patch_tiles = weight_tiles + stages * weights_size;
  auto* const step_stages =
      reinterpret_cast<StepStages<Tile, T, D>*>(patch_tiles + stages * Patches::size);
  static_assert(stages * (weights_size + Patches::size) * sizeof(T) % 16 == 0, "steps are aligned");
  auto& ring = *reinterpret_cast<Ring<Tile>*>(step_stages + Tile::copying / 32);
  ring.init();

  const int thread = threadIdx.x, lane = thread % 32;
  unsigned n = 0;  // counts the slices of all tiles of this block
  if (thread >= Tile::multiplying) {
    give_registers<Tile::copier_registers>();
    constexpr unsigned late = stages - 1;  // so many slices later one is handed over
    const int line = thread - Tile::multiplying;
    const auto hand_over = [&] {
      if (n >= late) {
        __pipeline_wait_prior(late - 1);
        if constexpr (weight_parts<T, arithmetic> == 2) {
          split_weights<Tile>(weight_tiles + (n - late) % stages * weights_size, line);
        }
        ring.fill(n - late);
      }
    };
#pragma unroll 1
    for (int work = blockIdx.x; work < plan.tiles * plan.parts; work += gridDim.x) {
      const ConvTilePlace<D> place(plan, work, Tile::pixels);
      if (!place.exists(plan)) continue;
      const ConvPixel<D> pixel(plan, place.c, place.pixel + line);
      int at[D];
      const int group = place.across / plan.tiles_of_group;
      int64_t from = pixel.sample * plan.s.in_channels + group * plan.group_in();
#pragma unroll
      for (int d = 0; d < D; ++d) {
        at[d] = pixel.at[d] * (plan.transposed ? 1 : static_cast<int>(plan.s.stride[d]));
        from = from * plan.s.in[d] + at[d];
      }
      if (!pixel.exists) at[0] = outside;
      const int slices = packed.slices[place.class_index];
      const int first = place.first_slice(plan, slices);
      const unsigned end = n + (place.end_slice(plan, slices) - first);
      const PatchStep<D>* steps =
          packed.steps + (int64_t{place.class_index} * plan.max_slices + first) * depth;
      StepStages<Tile, T, D>& own_steps = step_stages[line / 32];
#pragma unroll 1
      for (unsigned i = n; i < n + late && i < end; ++i) {
        own_steps.copy(i, steps);
        steps += depth;
      }
      const T* weights =
          packed.tiles +
          ((int64_t{place.class_index} * plan.tiles_across + place.across) * plan.max_slices +
           first) *
              packed_size;
#pragma unroll 1
      for (; n < end; ++n) {
        hand_over();
        __syncwarp();  // the steps of this slice have arrived, those of the last one have been used
        if (n + late < end) {
          own_steps.start(n + late, steps);
          steps += depth;
        }
        ring.wait_empty(n);
        const unsigned stage = n % stages;
        using Chunks = WeightChunks<Tile, T>;
        T* const to = weight_tiles + stage * weights_size;
#pragma unroll
        for (int i = 0; i < Chunks::each; ++i) {
          copy_async<16>(to + Chunks::place(line, i), weights + Chunks::place(line, i), 16);
        }
        copy_patch<T, D, Patches>(patch_tiles + stage * Patches::size, line, x + from, at,
                                  plan.s.in, own_steps.at[stage]);
        __pipeline_commit();
        weights += packed_size;
      }
    }
#pragma unroll 1
    for (const unsigned end = n + late; n < end; ++n) {
      hand_over();
      __pipeline_commit();  // an empty one, as their number says which slice has arrived
    }
  } else {
    take_registers<Tile::registers>();
    const int warp_line = thread / 32 * 16;
#pragma unroll 1
    for (int work = blockIdx.x; work < plan.tiles * plan.parts; work += gridDim.x) {
      const ConvTilePlace<D> place(plan, work, Tile::pixels);
      if (!place.exists(plan)) continue;
      float sums[channels / 2] = {};
      const int slices = packed.slices[place.class_index];
#pragma unroll 1
      for (int slice = place.first_slice(plan, slices); slice < place.end_slice(plan, slices);
           ++slice, ++n) {
        const unsigned stage = n % stages;
        ring.wait_full(n);
        multiply_patches<Tile, T, arithmetic>(sums, patch_tiles + stage * Patches::size,
                                              weight_tiles + stage * weights_size, warp_line);
        ring.release(n);
      }
      const int group = place.across / plan.tiles_of_group;
      const auto from = static_cast<unsigned>(group * plan.group_out());
      const auto end = from + static_cast<unsigned>(plan.group_out());
      const unsigned first = from + place.across % plan.tiles_of_group * channels + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const ConvPixel<D> pixel(plan, place.c, place.pixel + warp_line + 8 * i + lane / 4);
        if (!pixel.exists) continue;
        int64_t at = 0;
#pragma unroll
        for (int d = 0; d < D; ++d) {
          at = at * plan.s.out[d] + place.c.first[d] + place.c.every[d] * pixel.at[d];
        }
        result.of_pixel(place.part, pixel.sample, at, first, [&](auto results) {
#pragma unroll
          for (int j = 0; j < channels / 4; ++j) {
            const unsigned channel = first + j / 2 * 8 + j % 2;
            if (channel < end) results(sums[j / 2 * 4 + 2 * i + j % 2], channel);
            results.advance(j % 2 == 0 ? 1 : 7);
          }
        });
      }
    }
  }
}

/// Stores what sums of nothing make of the outputs that no tap reaches. A thread has some channels
/// of a pixel.
template <int channels, int D, class Result>
__global__ void store_unreached(ConvPlan<D> plan, ResultOrPart<Result> result) {
  const ConvShape<D>& s = plan.s;
  const int64_t item = int64_t{blockIdx.x} * blockDim.x + threadIdx.x, area = result.area;
  if (item >= s.batch * area) return;
  const int64_t at = item % area;
  int64_t rest = at;
  bool reached = true;
#pragma unroll
  for (int d = D - 1; d >= 0; --d) {
    const auto place = static_cast<int>(rest % s.out[d] + s.padding[d]);
    rest /= s.out[d];
    const auto dilation = static_cast<int>(s.dilation[d]), stride = static_cast<int>(s.stride[d]);
    bool any = false;
    for (int tap = 0; tap < plan.reached[d]; ++tap) any |= (place - tap * dilation) % stride == 0;
    reached &= any;
  }
  if (reached) return;
  const int64_t first = int64_t{blockIdx.y} * channels;
  for (int part = 0; part < plan.parts; ++part) {
    result.of_pixel(part, item / area, at, first, [&](auto results) {
      for (int64_t c = first; c < first + channels && c < s.out_channels; ++c) {
        results(0, c);
        results.advance(1);
      }
    });
  }
}

// ---------------------------------------------------------------------------------------------
// Launches

/// The plan for tiles of so many channels of y and slices of so much depth.
template <int D>
ConvPlan<D> conv_plan(const ConvShape<D>& s, bool transposed, int tile_channels, int depth) {
  ConvPlan<D> plan{s, transposed, 1, 0, {}, {}, tile_channels, 0, 0, 0, 1};
  int64_t most_taps = 1, most_pixels = s.batch;  // of a class
  for (int d = 0; d < D; ++d) {
    const int64_t every = transposed ? s.stride[d] : 1;
    int64_t step = 1;
    while (step * s.dilation[d] % every != 0) ++step;
    plan.tap_step[d] = static_cast<int>(step);
    plan.reached[d] = static_cast<int>(step < s.kernel[d] ? step : s.kernel[d]);
    most_taps *= (s.kernel[d] + step - 1) / step;
    most_pixels *= s.out[d] > 0 ? (s.out[d] + every - 1) / every : 0;
    plan.classes *= plan.reached[d];
  }
  const auto up = [](int64_t n, int64_t unit) { return static_cast<int>((n + unit - 1) / unit); };
  plan.max_slices = up(plan.group_in() * most_taps, depth);
  if (plan.max_slices == 0) plan.max_slices = 1;  // has a block that counts none
  plan.tiles_of_group = up(plan.group_out(), tile_channels);
  plan.tiles_across = plan.tiles_of_group * static_cast<int>(s.groups);
  plan.tiles =
      up(most_pixels, ConvTile<32, 3, 1, 0, 0, 1>::pixels) * plan.classes * plan.tiles_across;
  return plan;
}

/// How many blocks share the depth of a tile: as many as fill the device once, with at least four
/// slices each. Small images have few tiles, and one block would take long to go the whole depth.
template <class Tile, int D>
int share_depth(const ConvPlan<D>& plan) {
  if (plan.tiles <= 0) return 1;
  const int64_t wanted = multiprocessors() * Tile::blocks_per_multiprocessor / plan.tiles;
  const int64_t most = plan.max_slices / 4;
  return wanted < 1 || most < 1 ? 1 : static_cast<int>(wanted < most ? wanted : most);
}

/// Launches a convolution in tiles of one kind. The order of the additions depends on the sizes,
/// the tiles and the number of parts only.
/// @param parts  blocks that share the depth of a tile; 0: as many as the device has room for
template <class Tile, Arithmetic arithmetic, int D, class T, class Result>
void launch_conv_tiles(cudaStream_t stream, const ConvShape<D>& s, bool transposed, const T* x,
                       const T* weight, Result result, int parts = 0) {
  constexpr int depth = slice_depth<T>;
  ConvPlan<D> plan = conv_plan(s, transposed, Tile::channels, depth);
  if (plan.tiles <= 0) return;
  plan.parts = parts > 0 ? parts : share_depth<Tile>(plan);
  const int64_t slices = int64_t{plan.classes} * plan.max_slices;
  const int64_t tile_bytes = slices * plan.tiles_across * Tile::channels * depth * sizeof(T);
  const int64_t step_bytes = slices * depth * sizeof(PatchStep<D>);
  void* memory = nullptr;
  cudaMallocAsync(&memory, tile_bytes + step_bytes + plan.classes * sizeof(int), stream);
  const auto start = static_cast<char*>(memory);
  const PackedWeights<T, D> packed = {reinterpret_cast<int*>(start + tile_bytes + step_bytes),
                                      reinterpret_cast<PatchStep<D>*>(start + tile_bytes),
                                      reinterpret_cast<T*>(start)};
  constexpr int packing_threads = 256, most_blocks = 65535;
  const int rows = plan.tiles_across * Tile::channels / (packing_threads / depth * 4);
  const dim3 packing(static_cast<unsigned>(slices), rows < most_blocks ? rows : most_blocks);
  pack_weights<T, arithmetic><<<packing, packing_threads, 0, stream>>>(plan, weight, packed);

  const int64_t area = s.out.product(), size = s.batch * s.out_channels * area;
  void* sums = nullptr;
  if (plan.parts > 1) cudaMallocAsync(&sums, plan.parts * size * sizeof(float), stream);
  const ResultOrPart<Result> to{result, static_cast<float*>(sums), s.out_channels, area, size};
  const int64_t room = multiprocessors() * Tile::blocks_per_multiprocessor;
  const int64_t work = int64_t{plan.tiles} * plan.parts;
  const auto blocks = static_cast<unsigned>(work < room ? work : room);
  constexpr int bytes = Tile::template shared_bytes<T, arithmetic, D>;
  const auto kernel = convolve<Tile, T, arithmetic, D, Result>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<blocks, Tile::threads, bytes, stream>>>(plan, x, packed, to);
  cudaFreeAsync(memory, stream);
  constexpr int64_t threads = 256, most_adding = 1 << 20;
  if (transposed && plan.classes < s.stride.product()) {
    constexpr int channels = 16;
    const int64_t pixels = (s.batch * area + threads - 1) / threads;
    const int64_t across = (s.out_channels + channels - 1) / channels;
    store_unreached<channels><<<dim3(static_cast<unsigned>(pixels), static_cast<unsigned>(across)),
                                threads, 0, stream>>>(plan, to);
  }
  if (plan.parts == 1) return;
  const int64_t adding = (size + threads - 1) / threads;
  add_conv_parts<<<static_cast<unsigned>(adding < most_adding ? adding : most_adding), threads, 0,
                   stream>>>(to, plan.parts);
  cudaFreeAsync(sums, stream);
}

/// Launches a convolution in the tiles that suit the device and the number of channels.
template <int D, class T, class Result>
void launch_any_conv(cudaStream_t stream, const ConvShape<D>& s, bool transposed, const T* x,
                     const T* weight, Result result) {
  // Small images have few pixels: only blocks of tiles can share the depth of those.
  constexpr int pixels = 4;
  const dim3 blocks = direct_blocks(s, pixels);
  const bool many = int64_t{blocks.x} * blocks.y >= multiprocessors();
  if (!transposed && suits_directly(s)) {
    if (many && (!has_tf32 || has_few_channels(s))) {
      launch_conv_directly<pixels>(stream, s, x, weight, result);
      return;
    }
    if constexpr (!has_tf32) {
      launch_conv_directly<1>(stream, s, x, weight, result);
      return;
    }
  }
  if constexpr (target == Target::warpgroups) {
    // Halves pass through the registers of those that copy; floats are split in those of the
    // others.
    constexpr int copier = sizeof(T) == 4 ? 32 : 64, others = sizeof(T) == 4 ? 104 : 88;
    // Two blocks share a multiprocessor, so that one multiplies while the other stores.
    using Narrow = ConvTile<32, 3, 2, copier, others, 4>;
    using Middle = ConvTile<64, 3, 2, copier, others, 2>;
    using Wide = ConvTile<128, 4, 1, 56, 224, 4>;
    // Copying patches of x takes as long as multiplying them with 32 channels.
    const auto time = [&](auto tile) {
      using Tile = decltype(tile);
      const ConvPlan<D> plan = conv_plan(s, transposed, Tile::channels, slice_depth<T>);
      const int64_t parts = share_depth<Tile>(plan);
      const int64_t rounds = (plan.tiles * parts - 1) / multiprocessors() + 1;
      return rounds * ((plan.max_slices + parts - 1) / parts) * (Tile::channels + 32);
    };
    const int64_t narrow = time(Narrow{}), middle = time(Middle{}), wide = time(Wide{});
    if (wide <= middle && wide <= narrow) {
      launch_conv_tiles<Wide, convolution_arithmetic>(stream, s, transposed, x, weight, result);
    } else if (middle <= narrow) {
      launch_conv_tiles<Middle, convolution_arithmetic>(stream, s, transposed, x, weight, result);
    } else {
      launch_conv_tiles<Narrow, convolution_arithmetic>(stream, s, transposed, x, weight, result);
    }
  } else {
    launch_conv_tiles<ConvTile<32, 3, 1, 0, 0, 4>, convolution_arithmetic>(stream, s, transposed, x,
                                                                           weight, result);
  }
}

/// Launches y = a convolution (cross-correlation) of x.
/// @param x  [batch, in_channels, in...]
/// @param weight  [out_channels, in_channels / groups, kernel...]
/// @param epilogue  makes what is stored of each result; a type with a name, such as AsIs
/// @param y  [batch, out_channels, out...], of any type
template <int D, class T, class Epilogue, class Y>
void launch_conv(cudaStream_t stream, const ConvShape<D>& s, const T* x, const T* weight,
                 Epilogue epilogue, Y* y) {
  launch_any_conv(stream, s, false, x, weight,
                  StorePixels<Y, Epilogue>{y, s.out_channels, s.out.product(), epilogue});
}

/// Launches y = a transposed convolution of x: element i of x adds weight[t] to element
/// i * stride - padding + t * dilation of y.
/// @param weight  [in_channels, out_channels / groups, kernel...]
template <int D, class T, class Epilogue, class Y>
void launch_conv_transposed(cudaStream_t stream, const ConvShape<D>& s, const T* x, const T* weight,
                            Epilogue epilogue, Y* y) {
  launch_any_conv(stream, s, true, x, weight,
                  StorePixels<Y, Epilogue>{y, s.out_channels, s.out.product(), epilogue});
}

/// The same two for a functor that takes the results to where they go:
/// result(value, sample, channel, pixel), once for each, by any thread.
template <int D, class T, class Result>
void launch_conv_results(cudaStream_t stream, const ConvShape<D>& s, const T* x, const T* weight,
                         Result result) {
  launch_any_conv(stream, s, false, x, weight, result);
}
template <int D, class T, class Result>
void launch_conv_transposed_results(cudaStream_t stream, const ConvShape<D>& s, const T* x,
                                    const T* weight, Result result) {
  launch_any_conv(stream, s, true, x, weight, result);
}

}  // namespace kb
