// Matrix products c = a * b, in batches, on tensor cores where there are any. Operands and results
// are functors, so a product can read and write any layout and do more on the way.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "mma.cuh"
#include "types.cuh"

namespace kb {

/// How floats are multiplied. Sums are float in all cases.
enum class Arithmetic {
  tf32x3,  ///< three products of TF32 parts: about as accurate as float
  tf32,    ///< one product of operands that are rounded to TF32: 2^-11 of each
  plain,   ///< fmaf, also for halves: for devices without TF32
};

/// Sizes of a product: a is [rows, depth], b is [depth, columns], c is [rows, columns], each
/// `batches` times.
struct ProductShape {
  int64_t rows, columns, depth, batches = 1;
};

/// Where an element of an operand is, and how many of its neighbours exist, itself included. None
/// does if count is not positive; then `from` is any valid address and the element counts as zero.
template <class T>
struct Source {
  const T* from;
  int64_t count;
};

// An operand has a type Element, and
//   at(batch, line, k)  its Source; a line is a row of a and a column of b
//   along_k             whether neighbours in memory follow k, else lines
//   in_vectors()        whether elements 16 bytes apart start at multiples of 16 bytes: from every
//                       k or line that is such a multiple on
// Lines and k from beyond the sizes are asked for, too.

/// An operand in memory: lines of k, or transposed.
template <class T, bool along_k_>
struct Matrix {
  using Element = T;
  static constexpr bool along_k = along_k_;
  static constexpr int64_t width = 16 / sizeof(T);
  const T* data;
  int64_t lines, depth;
  int64_t stride;        ///< elements from a line to the next, or from a k to the next
  int64_t batch_stride;  ///< elements from a matrix to the next; 0 if all share one

  __device__ bool in_vectors() const {
    return (reinterpret_cast<uintptr_t>(data) / sizeof(T) | stride | batch_stride) % width == 0;
  }
  __device__ Source<T> at(int64_t batch, int64_t line, int64_t k) const {
    const int64_t count = line < lines && k < depth ? (along_k ? depth - k : lines - line) : 0;
    const int64_t offset = along_k ? line * stride + k : k * stride + line;
    return {count > 0 ? data + batch * batch_stride + offset : data, count};
  }
};

/// The left operand, [rows, depth] with `stride` elements from a row to the next.
template <class T>
Matrix<T, true> left(const T* a, const ProductShape& s, int64_t stride, int64_t batch_stride = 0) {
  return {a, s.rows, s.depth, stride, batch_stride};
}
/// The left operand from its transpose, [depth, rows].
template <class T>
Matrix<T, false> left_transposed(const T* a, const ProductShape& s, int64_t stride,
                                 int64_t batch_stride = 0) {
  return {a, s.rows, s.depth, stride, batch_stride};
}
/// The right operand, [depth, columns].
template <class T>
Matrix<T, false> right(const T* b, const ProductShape& s, int64_t stride,
                       int64_t batch_stride = 0) {
  return {b, s.columns, s.depth, stride, batch_stride};
}
/// The right operand from its transpose, [columns, depth].
template <class T>
Matrix<T, true> right_transposed(const T* b, const ProductShape& s, int64_t stride,
                                 int64_t batch_stride = 0) {
  return {b, s.columns, s.depth, stride, batch_stride};
}

/// The functor that leaves a result as it is.
struct AsIs {
  __device__ float operator()(float value, int64_t, int64_t, int64_t) const { return value; }
};

/// The result in memory: c[row, column] = f(value, batch, row, column).
template <class T, class F = AsIs>
struct Store {
  T* c;
  int64_t stride, batch_stride;
  F f{};

  /// Takes `count` of N neighbouring columns; more than one only where the first is even.
  template <int N>
  __device__ void operator()(int64_t batch, int64_t row, int64_t column, const float (&values)[N],
                             int64_t count) const {
    T* to = c + batch * batch_stride + row * stride + column;
    Vector<T, N> v;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      if (j < count) v.at[j] = static_cast<T>(f(values[j], batch, row, column + j));
    }
    if (count >= N && reinterpret_cast<uintptr_t>(to) % sizeof(v) == 0) {
      *reinterpret_cast<Vector<T, N>*>(to) = v;
    } else {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        if (j < count) to[j] = v.at[j];
      }
    }
  }
};

// ---------------------------------------------------------------------------------------------
// Tiles of operands in shared memory

/// A tile of `lines` times `depth` elements, stored as its operand is.
template <class T, int lines, int depth, bool along_k>
struct OperandTile {
  static constexpr int chunk = 16 / sizeof(T);
  // Rows start 4 or 8 banks apart, so that the lanes of a warp meet in no bank.
  static constexpr int padding = sizeof(T) == 4 && !along_k ? 8 : chunk;
  static constexpr int stride = (along_k ? depth : lines) + padding;
  static constexpr int size = (along_k ? lines : depth) * stride;

  __device__ static int place(int line, int k) {
    return along_k ? line * stride + k : k * stride + line;
  }

  /// The fragment of 16 lines as the left operand of mma().
  __device__ static void load_left(const T* tile, int line, int k, unsigned (&a)[4]) {
    const int lane = threadIdx.x % 32;
    if constexpr (along_k) {
      load_matrices<false>(a, tile + place(line + lane % 16, k + lane / 16 * chunk));
    } else if constexpr (sizeof(T) == 2) {
      load_matrices<true>(a, tile + place(line + lane / 8 % 2 * 8, k + lane / 16 * 8 + lane % 8));
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[i] = __float_as_uint(tile[place(line + lane / 4 + i % 2 * 8, k + lane % 4 + i / 2 * 4)]);
      }
    }
  }

  /// The fragments of twice 8 lines as the right operand of mma().
  __device__ static void load_right(const T* tile, int line, int k, unsigned (&b0)[2],
                                    unsigned (&b1)[2]) {
    const int lane = threadIdx.x % 32;
    if constexpr (sizeof(T) == 4 && !along_k) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        b0[i] = __float_as_uint(tile[place(line + lane / 4, k + lane % 4 + i * 4)]);
        b1[i] = __float_as_uint(tile[place(line + lane / 4 + 8, k + lane % 4 + i * 4)]);
      }
    } else {
      unsigned r[4];
      if constexpr (along_k) {
        const int from = place(line + lane / 16 * 8 + lane % 8, k + lane / 8 % 2 * chunk);
        load_matrices<false>(r, tile + from);
      } else {
        const int from = place(line + lane / 16 * 8, k + lane / 8 % 2 * 8 + lane % 8);
        load_matrices<true>(r, tile + from);
      }
      b0[0] = r[0], b0[1] = r[1], b1[0] = r[2], b1[1] = r[3];
    }
  }
};

/// Starts to copy one element, or zero.
template <class T>
__device__ void copy_element(T* to, const Source<T>& source) {
  if constexpr (sizeof(T) >= 4) {
    __pipeline_memcpy_async(to, source.from, sizeof(T), source.count > 0 ? 0 : sizeof(T));
  } else {
    *to = source.count > 0 ? *source.from : static_cast<T>(0.f);
  }
}

/// Starts to copy 16 bytes, with zeros from source.count on.
template <class T>
__device__ void copy_chunk(T* to, const Source<T>& source) {
  constexpr int width = 16 / sizeof(T);
  const int64_t count = source.count < 0 ? 0 : source.count < width ? source.count : width;
  __pipeline_memcpy_async(to, source.from, 16, (width - count) * sizeof(T));
}

/// Calls chunk(line, k) for groups of 16 bytes, or element(line, k), for all of a tile of an
/// operand. The threads together take neighbours in memory.
/// @param in_vectors  whether groups are wanted
template <class T, bool along_k, int lines, int depth, int threads, class Chunk, class Single>
__device__ void for_tile(int thread, bool in_vectors, Chunk chunk, Single element) {
  constexpr int width = 16 / sizeof(T), near = along_k ? depth : lines;
  if (in_vectors) {
#pragma unroll
    for (int i = thread; i < lines * depth / width; i += threads) {
      const int far = i / (near / width), start = i % (near / width) * width;
      chunk(along_k ? far : start, along_k ? start : far);
    }
  } else {
#pragma unroll 4
    for (int i = thread; i < lines * depth; i += threads) {
      element(along_k ? i / near : i % near, along_k ? i % near : i / near);
    }
  }
}

/// Starts to copy a tile of an operand.
template <int lines, int depth, int threads, class Operand>
__device__ void copy_tile(typename Operand::Element* tile, const Operand& operand, int thread,
                          int64_t batch, int64_t line0, int64_t k0) {
  using T = typename Operand::Element;
  using Tile = OperandTile<T, lines, depth, Operand::along_k>;
  for_tile<T, Operand::along_k, lines, depth, threads>(
      thread, operand.in_vectors(),
      [&](int line, int k) {
        copy_chunk(tile + Tile::place(line, k), operand.at(batch, line0 + line, k0 + k));
      },
      [&](int line, int k) {
        copy_element(tile + Tile::place(line, k), operand.at(batch, line0 + line, k0 + k));
      });
}

// ---------------------------------------------------------------------------------------------
// Which block computes what

/// A product in tiles. Blocks may share a tile: each takes a part of the depth.
struct ProductGrid {
  int64_t rows, columns, depth;
  int64_t tiles_down, tiles_across;
  int64_t parts, part_depth;  ///< part_depth is a multiple of a tile's depth
};

/// What one block computes.
struct ProductTile {
  int64_t batch, result;  ///< result counts (batch, part)
  int64_t row, column, k, k_end;
};

/// Blocks that run at the same time take tiles next to one another, 8 rows of tiles at a time, and
/// find their operands in the L2 cache.
template <int tile_rows, int tile_columns>
__device__ ProductTile this_tile(const ProductGrid& grid) {
  constexpr int64_t group = 8;
  const int64_t tiles = grid.tiles_down * grid.tiles_across;
  const int64_t result = blockIdx.x / tiles, tile = blockIdx.x % tiles;
  const int64_t first = tile / (group * grid.tiles_across) * group;
  const int64_t height = grid.tiles_down - first < group ? grid.tiles_down - first : group;
  const int64_t within = tile - first * grid.tiles_across;
  const int64_t part = result % grid.parts, k = part * grid.part_depth;
  const int64_t k_end = k + grid.part_depth < grid.depth ? k + grid.part_depth : grid.depth;
  return {result / grid.parts,
          result,
          (first + within % height) * tile_rows,
          within / height * tile_columns,
          k,
          k_end};
}

// ---------------------------------------------------------------------------------------------
// Products by warps

/// How a block of warps computes a tile of rows x columns. Each warp computes warp_rows x
/// warp_columns of it (multiples of 16). Slices of `depth` pass through shared memory, `stages` of
/// them at a time.
///
/// Tensor cores round towards zero when they add, so errors would grow with the depth: every
/// `promotion` (a multiple of `depth`) their sums are added to others by ordinary instructions.
/// Those are in registers, or in shared memory if sums_in_shared, which leaves registers for larger
/// tiles of warps.
template <int rows_, int columns_, int warp_rows_, int warp_columns_, int depth_, int stages_,
          int promotion_ = 64, int blocks_per_multiprocessor_ = 1, bool sums_in_shared_ = false>
struct WarpTiles {
  static constexpr bool warpgroups = false;
  static constexpr int rows = rows_, columns = columns_;
  static constexpr int warp_rows = warp_rows_, warp_columns = warp_columns_;
  static constexpr int depth = depth_, stages = stages_, promotion = promotion_;
  static constexpr int blocks_per_multiprocessor = blocks_per_multiprocessor_;
  static constexpr bool sums_in_shared = sums_in_shared_;
  static constexpr int threads = rows / warp_rows * (columns / warp_columns) * 32;
  static_assert(rows % warp_rows == 0 && columns % warp_columns == 0, "warps share the tile");
  static_assert(warp_rows % 16 == 0 && warp_columns % 16 == 0, "fragments share a warp's tile");
  static_assert(promotion % depth == 0, "sums are promoted after whole slices");

  template <class A, class B>
  static constexpr int stage_bytes =
      sizeof(typename A::Element) *
      (OperandTile<typename A::Element, rows, depth, A::along_k>::size +
       OperandTile<typename B::Element, columns, depth, B::along_k>::size);
  template <class A, class B>
  static constexpr int shared_bytes = stages* stage_bytes<A, B> +
                                      (sums_in_shared ? rows * columns * 4 : 0);
};

/// One warp's share of a tile: sums += a slice of a * a slice of b.
template <class Tile, Arithmetic arithmetic, class ATile, class BTile, class T, int down,
          int across>
__device__ void multiply_slice(float (&sums)[down][across][4], const T* a_tile, const T* b_tile,
                               int row, int column) {
  if constexpr (arithmetic == Arithmetic::plain) {
    // The same elements per lane as those of fragments, by ordinary instructions.
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll 4
    for (int k = 0; k < Tile::depth; ++k) {
      float b[across][2];
#pragma unroll
      for (int j = 0; j < across * 2; ++j) {
        const int at = BTile::place(column + j / 2 * 8 + 2 * t + j % 2, k);
        b[j / 2][j % 2] = static_cast<float>(b_tile[at]);
      }
#pragma unroll
      for (int i = 0; i < down * 2; ++i) {
        const auto a = static_cast<float>(a_tile[ATile::place(row + i * 8 + g, k)]);
#pragma unroll
        for (int j = 0; j < across * 2; ++j) {
          float& sum = sums[i / 2][j / 2][i % 2 * 2 + j % 2];
          sum = fmaf(a, b[j / 2][j % 2], sum);
        }
      }
    }
  } else {
    constexpr bool split = sizeof(T) == 4 && arithmetic == Arithmetic::tf32x3;
    constexpr bool round = sizeof(T) == 4 && arithmetic == Arithmetic::tf32;
    constexpr int step = 32 / sizeof(T), together = across % 4 == 0 ? 4 : 2;
#pragma unroll
    for (int k = 0; k < Tile::depth; k += step) {
      unsigned a[down][4], a_low[split ? down : 1][4];
#pragma unroll
      for (int i = 0; i < down; ++i) {
        ATile::load_left(a_tile, row + 16 * i, k, a[i]);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if constexpr (split) split_tf32(a[i][e], a[i][e], a_low[i][e]);
          if constexpr (round) a[i][e] = round_tf32(a[i][e]);
        }
      }
#pragma unroll
      for (int j0 = 0; j0 < across; j0 += together) {
        unsigned b[together][2], b_low[split ? together : 1][2];
#pragma unroll
        for (int j = 0; j < together; j += 2) {
          BTile::load_right(b_tile, column + 8 * (j0 + j), k, b[j], b[j + 1]);
        }
#pragma unroll
        for (int j = 0; j < together; ++j) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            if constexpr (split) split_tf32(b[j][e], b[j][e], b_low[j][e]);
            if constexpr (round) b[j][e] = round_tf32(b[j][e]);
          }
        }
        // All tiles come before the next product of one: products into one sum wait for each other.
        const auto all = [&](const auto& x, const auto& y) {
#pragma unroll
          for (int i = 0; i < down; ++i) {
#pragma unroll
            for (int j = 0; j < together; ++j) mma<T>(sums[i][j0 + j], x[i], y[j]);
          }
        };
        if constexpr (split) {
          all(a_low, b);
          all(a, b_low);
        }
        all(a, b);
      }
    }
  }
}

/// The start of a block's dynamic shared memory, at a multiple of 1024 bytes.
__device__ inline unsigned char* dynamic_shared() {
  extern __shared__ __align__(1024) unsigned char product_memory[];
  return product_memory;
}

template <class Tile, Arithmetic arithmetic, class A, class B, class Result>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_multiprocessor)
    multiply_by_warps(ProductGrid grid, A a, B b, Result store) {
  using T = typename A::Element;
  static_assert(std::is_same_v<T, typename B::Element>, "operands are of one type");
  constexpr int depth = Tile::depth, stages = Tile::stages, threads = Tile::threads;
  constexpr int down = Tile::warp_rows / 16, across = Tile::warp_columns / 8;
  // Ordinary additions need no promotion.
  constexpr bool promoted = arithmetic != Arithmetic::plain;
  using ATile = OperandTile<T, Tile::rows, depth, A::along_k>;
  using BTile = OperandTile<T, Tile::columns, depth, B::along_k>;
  T* const a_tiles = reinterpret_cast<T*>(dynamic_shared());
  T* const b_tiles = a_tiles + stages * ATile::size;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  float4* const shared_sums = reinterpret_cast<float4*>(b_tiles + stages * BTile::size) + thread;

  const ProductTile tile = this_tile<Tile::rows, Tile::columns>(grid);
  const int64_t slices = (tile.k_end - tile.k + depth - 1) / depth;
  const auto copy = [&](int64_t slice) {
    if (slice < slices) {
      const int stage = static_cast<int>(slice % stages);
      const int64_t k = tile.k + slice * depth;
      copy_tile<Tile::rows, depth, threads>(a_tiles + stage * ATile::size, a, thread, tile.batch,
                                            tile.row, k);
      copy_tile<Tile::columns, depth, threads>(b_tiles + stage * BTile::size, b, thread, tile.batch,
                                               tile.column, k);
    }
    __pipeline_commit();  // also when empty: the number of groups says which slice has arrived
  };

  const int row = warp / (Tile::columns / Tile::warp_columns) * Tile::warp_rows;
  const int column = warp % (Tile::columns / Tile::warp_columns) * Tile::warp_columns;
  float sums[down][across][4] = {};
  constexpr bool in_registers = promoted && !Tile::sums_in_shared;
  float promoted_sums[in_registers ? down : 1][in_registers ? across : 1][4] = {};
  if constexpr (promoted && Tile::sums_in_shared) {
#pragma unroll
    for (int i = 0; i < down * across; ++i) shared_sums[i * threads] = {0, 0, 0, 0};
  }
  const auto promote = [&] {
#pragma unroll
    for (int i = 0; i < down; ++i) {
#pragma unroll
      for (int j = 0; j < across; ++j) {
        if constexpr (in_registers) {
#pragma unroll
          for (int e = 0; e < 4; ++e) promoted_sums[i][j][e] += sums[i][j][e];
        } else {
          float4& place = shared_sums[(i * across + j) * threads];
          const float4 old = place;
          place = {old.x + sums[i][j][0], old.y + sums[i][j][1], old.z + sums[i][j][2],
                   old.w + sums[i][j][3]};
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][j][e] = 0;
      }
    }
  };

  for (int slice = 0; slice < stages - 1; ++slice) copy(slice);
#pragma unroll 1
  for (int64_t slice = 0; slice < slices; ++slice) {
    __pipeline_wait_prior(stages - 2);
    __syncthreads();  // the slice is there for all, and nobody reads the one before any more
    copy(slice + stages - 1);
    const int stage = static_cast<int>(slice % stages);
    multiply_slice<Tile, arithmetic, ATile, BTile>(sums, a_tiles + stage * ATile::size,
                                                   b_tiles + stage * BTile::size, row, column);
    if constexpr (promoted) {
      constexpr int slices_each = Tile::promotion / depth;
      if (static_cast<unsigned>(slice) % slices_each == slices_each - 1) promote();
    }
  }
  if constexpr (promoted) promote();

#pragma unroll
  for (int i = 0; i < down * 2; ++i) {
    const int64_t at_row = tile.row + row + 8 * i + lane / 4;
#pragma unroll
    for (int j = 0; j < across; ++j) {
      const int64_t at_column = tile.column + column + 8 * j + lane % 4 * 2;
      float pair[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if constexpr (!promoted) {
          pair[e] = sums[i / 2][j][i % 2 * 2 + e];
        } else if constexpr (in_registers) {
          pair[e] = promoted_sums[i / 2][j][i % 2 * 2 + e];
        } else {
          const float4& all = shared_sums[(i / 2 * across + j) * threads];
          pair[e] = i % 2 == 0 ? (e == 0 ? all.x : all.y) : (e == 0 ? all.z : all.w);
        }
      }
      if (at_row < grid.rows && at_column < grid.columns) {
        store(tile.result, at_row, at_column, pair, grid.columns - at_column);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Products by warpgroups

/// How three warpgroups compute a tile of 128 x 128 of floats with wgmma: two multiply 64 lines
/// each of one operand, in registers, with 128 lines of the other, in shared memory; one copies and
/// splits the latter. wgmma wants lines of k there: the operand that is stored so is taken, the
/// left one if both are, and otherwise the left one is transposed element by element.
/// @tparam cut_high  whether the high parts are cut off in shared memory, too, rather than by wgmma
template <int stages_, int promotion_ = 64, bool cut_high_ = false>
struct WarpgroupTiles {
  static constexpr bool warpgroups = true;
  static constexpr int rows = 128, columns = 128, depth = 32;
  static constexpr int stages = stages_, promotion = promotion_;
  static constexpr bool cut_high = cut_high_;
  static constexpr int threads = 384, copying = 128, multiplying = 256;
  static constexpr int blocks_per_multiprocessor = 1;
  static constexpr int shared_size = 128 * depth;  // floats of the operand in shared memory
  static_assert(promotion % depth == 0, "sums are promoted after whole slices");
  static_assert(stages >= 3, "a slice is split while others arrive");

  template <class A, class B>
  static constexpr bool left_in_shared = A::along_k || !B::along_k;
  template <class A, class B>
  using InRegisters =
      OperandTile<float, 128, depth, (left_in_shared<A, B> ? B::along_k : A::along_k)>;
  template <class A, class B>
  static constexpr int shared_bytes = stages*(2 * shared_size + InRegisters<A, B>::size) * 4 +
                                      2 * stages * sizeof(Barrier);
};

/// The copying warpgroup's work on the operand in shared memory: visits a tile of it.
template <bool along_k, int depth, int threads, class Chunk, class Single>
__device__ void for_swizzled(int thread, bool in_vectors, Chunk chunk, Single element) {
  // Groups of 16 bytes across lines would have to be taken apart.
  for_tile<float, along_k, 128, depth, threads>(
      thread, along_k && in_vectors, [&](int line, int k) { chunk(line, k, swizzled(line, k)); },
      [&](int line, int k) { element(line, k, swizzled(line, k)); });
}

template <class Tile, Arithmetic arithmetic, class A, class B, class Result>
__global__ void __launch_bounds__(Tile::threads, 1)
    multiply_by_warpgroups(ProductGrid grid, A a, B b, Result store) {
  static_assert(std::is_same_v<typename A::Element, float>, "TF32 is for floats");
  static_assert(arithmetic != Arithmetic::plain, "wgmma computes in TF32");
  constexpr int depth = Tile::depth, stages = Tile::stages;
  constexpr bool split = arithmetic == Arithmetic::tf32x3;
  constexpr bool left_in_shared = Tile::template left_in_shared<A, B>;
  using RegisterTile = typename Tile::template InRegisters<A, B>;
  float* const high_tiles = reinterpret_cast<float*>(dynamic_shared());
  float* const low_tiles = high_tiles + stages * Tile::shared_size;
  float* const register_tiles = low_tiles + stages * Tile::shared_size;
  auto* const full = reinterpret_cast<Barrier*>(register_tiles + stages * RegisterTile::size);
  auto* const empty = full + stages;
  constexpr int full_arrivals = Tile::copying, empty_arrivals = Tile::multiplying / 32;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  if (thread == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      full[stage].init(full_arrivals);
      empty[stage].init(empty_arrivals);
    }
  }
  __syncthreads();

  const ProductTile tile = this_tile<Tile::rows, Tile::columns>(grid);
  const int64_t slices = (tile.k_end - tile.k + depth - 1) / depth;
  if (thread >= Tile::multiplying) {
    give_registers<56>();
    const int copier = thread - Tile::multiplying;
    const auto work = [&](const auto& in_registers, const auto& in_shared, int64_t register_line,
                          int64_t shared_line) {
      constexpr bool along_k = std::decay_t<decltype(in_shared)>::along_k;
      const bool vectors = in_shared.in_vectors();
      constexpr int late = stages - 2;  // so many slices after its copy starts, a slice is split
#pragma unroll 1
      for (int64_t slice = 0; slice < slices + late; ++slice) {
        if (slice < slices) {
          const int stage = static_cast<int>(slice % stages);
          const int64_t k0 = tile.k + slice * depth;
          if (slice >= stages) empty[stage].wait(slice / stages - 1, empty_arrivals);
          copy_tile<128, depth, Tile::copying>(register_tiles + stage * RegisterTile::size,
                                               in_registers, copier, tile.batch, register_line, k0);
          float* const high = high_tiles + stage * Tile::shared_size;
          for_swizzled<along_k, depth, Tile::copying>(
              copier, vectors,
              [&](int line, int k, int place) {
                copy_chunk(high + place, in_shared.at(tile.batch, shared_line + line, k0 + k));
              },
              [&](int line, int k, int place) {
                copy_element(high + place, in_shared.at(tile.batch, shared_line + line, k0 + k));
              });
        }
        __pipeline_commit();
        if (slice >= late) {
          // What this thread has copied has arrived, and only this thread splits it.
          __pipeline_wait_prior(late);
          const int stage = static_cast<int>((slice - late) % stages);
          float* const high = high_tiles + stage * Tile::shared_size;
          float* const low = low_tiles + stage * Tile::shared_size;
          const auto split_one = [&](float& value, float& rest) {
            unsigned first, second = 0;
            if constexpr (split) {
              split_tf32(__float_as_uint(value), first, second);
            } else {
              first = round_tf32(__float_as_uint(value));
            }
            value = __uint_as_float(first);
            rest = __uint_as_float(second);
          };
          constexpr bool rewrite = !split || Tile::cut_high;
          for_swizzled<along_k, depth, Tile::copying>(
              copier, vectors,
              [&](int, int, int place) {
                float4 value = *reinterpret_cast<const float4*>(high + place), rest;
                split_one(value.x, rest.x);
                split_one(value.y, rest.y);
                split_one(value.z, rest.z);
                split_one(value.w, rest.w);
                if (rewrite) *reinterpret_cast<float4*>(high + place) = value;
                if (split) *reinterpret_cast<float4*>(low + place) = rest;
              },
              [&](int, int, int place) {
                float value = high[place], rest;
                split_one(value, rest);
                if (rewrite) high[place] = value;
                if (split) low[place] = rest;
              });
          publish_to_wgmma();
          full[stage].arrive();
        }
      }
    };
    if constexpr (left_in_shared) {
      work(b, a, tile.column, tile.row);
    } else {
      work(a, b, tile.row, tile.column);
    }
  } else {
    take_registers<224>();
    WarpgroupSums sums, promoted_sums;
#pragma unroll
    for (int i = 0; i < 64; ++i) promoted_sums[i] = sums[i] = 0;
    const int line = warp * 16;
    constexpr int slices_each = Tile::promotion / depth;
#pragma unroll 1
    for (int64_t slice = 0; slice < slices; ++slice) {
      const int stage = static_cast<int>(slice % stages);
      const float* const high = high_tiles + stage * Tile::shared_size;
      const float* const low = low_tiles + stage * Tile::shared_size;
      full[stage].wait(slice / stages, full_arrivals);
      unsigned x[depth / 8][4], x_low[depth / 8][4];
#pragma unroll
      for (int i = 0; i < depth / 8; ++i) {
        RegisterTile::load_left(register_tiles + stage * RegisterTile::size, line, 8 * i, x[i]);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if constexpr (split) split_tf32(x[i][e], x[i][e], x_low[i][e]);
          if constexpr (!split) x[i][e] = round_tf32(x[i][e]);
        }
      }
      const bool anew = static_cast<unsigned>(slice) % slices_each == 0;
      wgmma_begin();
#pragma unroll
      for (int i = 0; i < depth / 8; ++i) {
        if constexpr (split) {
          wgmma(sums, x_low[i], high, 8 * i, !anew || i > 0);
          wgmma(sums, x[i], low, 8 * i, true);
        }
        wgmma(sums, x[i], high, 8 * i, split || !anew || i > 0);
      }
      wgmma_end(sums);
      __syncwarp();
      if (lane == 0) empty[stage].arrive();
      if (static_cast<unsigned>(slice) % slices_each == slices_each - 1 || slice == slices - 1) {
#pragma unroll
        for (int i = 0; i < 64; ++i) promoted_sums[i] += sums[i];
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int64_t register_line = line + 8 * i + lane / 4;
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        const int shared_line = 8 * j + lane % 4 * 2;
        const float pair[] = {promoted_sums[4 * j + 2 * i], promoted_sums[4 * j + 2 * i + 1]};
        if constexpr (left_in_shared) {
          const int64_t column = tile.column + register_line, row = tile.row + shared_line;
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const float one[] = {pair[e]};
            if (row + e < grid.rows && column < grid.columns) {
              store(tile.result, row + e, column, one, 1);
            }
          }
        } else {
          const int64_t row = tile.row + register_line, column = tile.column + shared_line;
          if (row < grid.rows && column < grid.columns) {
            store(tile.result, row, column, pair, grid.columns - column);
          }
        }
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Launches

/// One thread adds up the parts of one element, in their order.
template <class Result>
__global__ void add_parts(int64_t rows, int64_t columns, int64_t parts, int64_t batches,
                          const float* sums, Result store) {
  const int64_t size = rows * columns;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size * batches; i += step) {
    const int64_t batch = i / size, at = i % size;
    float sum[] = {0};
    for (int64_t part = 0; part < parts; ++part) {
      sum[0] += sums[(batch * parts + part) * size + at];
    }
    store(batch, at / columns, at % columns, sum, 1);
  }
}

template <class Tile, Arithmetic arithmetic, class A, class B, class Result>
void launch_tiles(cudaStream_t stream, int64_t batches, const ProductGrid& grid, A a, B b,
                  Result result) {
  const auto blocks =
      static_cast<unsigned>(grid.tiles_down * grid.tiles_across * batches * grid.parts);
  constexpr int bytes = Tile::template shared_bytes<A, B>;
  if constexpr (Tile::warpgroups) {
    const auto kernel = multiply_by_warpgroups<Tile, arithmetic, A, B, Result>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<blocks, Tile::threads, bytes, stream>>>(grid, a, b, result);
  } else {
    const auto kernel = multiply_by_warps<Tile, arithmetic, A, B, Result>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<blocks, Tile::threads, bytes, stream>>>(grid, a, b, result);
  }
}

/// In how many parts to cut the depth, so that every multiprocessor has work: as many as fill the
/// device once, with at least 256 of the depth each.
template <class Tile>
int64_t parts_of_depth(const ProductShape& s) {
  int device = 0, multiprocessors = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int64_t tiles = (s.rows + Tile::rows - 1) / Tile::rows *
                        ((s.columns + Tile::columns - 1) / Tile::columns) * s.batches;
  const int64_t wanted = int64_t{multiprocessors} * Tile::blocks_per_multiprocessor / tiles;
  const int64_t most = s.depth / 256;
  return wanted < 1 || most < 1 ? 1 : wanted < most ? wanted : most;
}

/// Launches c = a * b in tiles of a kind. The order of the additions depends on the sizes, the
/// tiles and the number of parts only.
/// @param a, b  operands such as left(...) and right(...)
/// @param result  where the result goes, such as Store; called with (batch, row, column, values,
///     count). Operands and result are types with a name.
/// @param parts  blocks that share the depth of a tile; 0: as many as the device has room for
template <class Tile, Arithmetic arithmetic = Arithmetic::tf32x3, class A, class B, class Result>
void launch_product(cudaStream_t stream, const ProductShape& s, A a, B b, Result result,
                    int64_t parts = 0) {
  if (s.rows <= 0 || s.columns <= 0 || s.batches <= 0) return;
  if (parts == 0) parts = parts_of_depth<Tile>(s);
  const int64_t slices = (s.depth + Tile::depth - 1) / Tile::depth;
  const int64_t part_slices = slices > 0 ? (slices + parts - 1) / parts : 1;
  parts = slices > 0 ? (slices + part_slices - 1) / part_slices : 1;
  const ProductGrid grid = {s.rows,
                            s.columns,
                            s.depth,
                            (s.rows + Tile::rows - 1) / Tile::rows,
                            (s.columns + Tile::columns - 1) / Tile::columns,
                            parts,
                            part_slices * Tile::depth};
  if (parts == 1) {
    launch_tiles<Tile, arithmetic>(stream, s.batches, grid, a, b, result);
    return;
  }
  const int64_t size = s.rows * s.columns, all = size * s.batches;
  void* memory = nullptr;
  cudaMallocAsync(&memory, all * parts * sizeof(float), stream);
  const auto sums = static_cast<float*>(memory);
  launch_tiles<Tile, arithmetic>(stream, s.batches, grid, a, b,
                                 Store<float>{sums, s.columns, size});
  constexpr int64_t threads = 256, most_blocks = 1 << 20;
  const int64_t blocks = (all + threads - 1) / threads;
  add_parts<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), threads, 0,
              stream>>>(s.rows, s.columns, parts, s.batches, sums, result);
  cudaFreeAsync(memory, stream);
}

}  // namespace kb
