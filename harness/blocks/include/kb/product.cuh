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
  int count;
};

// An operand is a functor with a type Element, and
//   operand(batch, line, k)  its Source; a line is a row of a and a column of b
//   along_k       whether neighbours in memory follow k, else lines
//   in_vectors()  whether elements start at multiples of 16 bytes wherever the k or the line that
//                 neighbours follow is such a multiple
// Lines and k beyond the sizes are asked for, too. Matrix has no call: the address of an element
// is known from that of another.

/// An operand in memory: lines of k, or transposed.
template <class T, bool along_k_>
struct Matrix {
  using Element = T;
  static constexpr bool along_k = along_k_;
  const T* data;
  int64_t lines, depth;
  int64_t stride;        ///< elements from a line to the next, or from a k to the next
  int64_t batch_stride;  ///< elements from a matrix to the next; 0 if all share one

  __device__ bool in_vectors() const {
    constexpr int64_t width = 16 / sizeof(T);
    return reinterpret_cast<uintptr_t>(data) % 16 == 0 && (stride | batch_stride) % width == 0;
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

/// Starts to copy `bytes` to shared memory, of which the first `valid` are read and the rest is
/// zero. What __pipeline_memcpy_async() does in a branch for each number of bytes.
template <int bytes>
__device__ void copy_async(void* to, const void* from, int valid) {
#ifdef KB_HAS_MMA
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(valid)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(place), "l"(from),
                 "n"(bytes), "r"(valid)
                 : "memory");
  }
#else
  __pipeline_memcpy_async(to, from, bytes, bytes - valid);
#endif
}

/// Starts to copy one element, or zero.
template <class T>
__device__ void copy_element(T* to, const Source<T>& source) {
  if constexpr (sizeof(T) >= 4) {
    copy_async<sizeof(T)>(to, source.from, source.count > 0 ? sizeof(T) : 0);
  } else {
    *to = source.count > 0 ? *source.from : static_cast<T>(0.f);
  }
}

/// Starts to copy 16 bytes, with zeros from source.count on.
template <class T>
__device__ void copy_chunk(T* to, const Source<T>& source) {
  constexpr int width = 16 / sizeof(T);
  const int count = source.count < 0 ? 0 : source.count < width ? source.count : width;
  copy_async<16>(to, source.from, count * static_cast<int>(sizeof(T)));
}

/// How threads share a tile of an operand: neighbouring threads take neighbours in memory, `width`
/// elements each.
template <bool along_k, int lines, int depth, int threads, int width>
struct TileWalk {
  static constexpr int near = (along_k ? depth : lines) / width, far = along_k ? lines : depth;
  static constexpr int abreast = threads < near ? threads : near, step = threads / abreast;
  static constexpr int unroll = width == 1 ? 2 : (far + step - 1) / step;
  static_assert(near % abreast == 0 && threads % abreast == 0, "sizes are powers of two");

  __device__ static int first_near(int thread) { return thread % abreast * width; }
  __device__ static int first_far(int thread) { return thread / abreast; }

  /// Calls f(line, k, n, m) for all elements, or groups, of a thread; its first one is n lines (or
  /// k) and m of the others away.
  template <class F>
  __device__ static void for_each(int thread, F f) {
#pragma unroll unroll
    for (int n = 0; n < far; n += step) {
      const int at_far = first_far(thread) + n;
      if (far % step == 0 || at_far < far) {
#pragma unroll
        for (int m = 0; m < near * width; m += abreast * width) {
          const int at_near = first_near(thread) + m;
          f(along_k ? at_far : at_near, along_k ? at_near : at_far, n, m);
        }
      }
    }
  }
};

/// Where elements of a tile are in shared memory if it is stored as its operand is.
template <class T, int lines, int depth, bool along_k>
struct PlainPlace {
  __device__ int operator()(int line, int k) const {
    return OperandTile<T, lines, depth, along_k>::place(line, k);
  }
};

/// The places that wgmma() expects.
struct SwizzledPlace {
  __device__ int operator()(int line, int k) const { return swizzled(line, k); }
};

template <class Operand>
struct IsMatrix : std::false_type {};
template <class T, bool along_k>
struct IsMatrix<Matrix<T, along_k>> : std::true_type {};

/// One thread's part of copying an operand, tile after tile along k.
template <class Operand, int lines, int depth, int threads, class Place>
class TileCopier {
 public:
  using T = typename Operand::Element;
  static constexpr bool along_k = Operand::along_k, affine = IsMatrix<Operand>::value;
  // Groups across lines cannot be swizzled as they are.
  static constexpr bool may_use_vectors = along_k || !std::is_same_v<Place, SwizzledPlace>;
  using Vectors = TileWalk<along_k, lines, depth, threads, 16 / sizeof(T)>;
  using Elements = TileWalk<along_k, lines, depth, threads, 1>;

  __device__ TileCopier(const Operand& operand, int thread, int64_t batch, int64_t line, int64_t k)
      : operand_(operand),
        thread_(thread),
        in_vectors_(may_use_vectors && operand.in_vectors()),
        batch_(batch),
        line_(line),
        k_(k) {
    if constexpr (affine) {
      const int near = in_vectors_ ? Vectors::first_near(thread) : Elements::first_near(thread);
      const int far = in_vectors_ ? Vectors::first_far(thread) : Elements::first_far(thread);
      const int64_t at = along_k ? (line + far) * operand.stride + k + near
                                 : (k + far) * operand.stride + line + near;
      from_ = operand.data + batch * operand.batch_stride + at;
      lines_left_ = static_cast<int>(operand.lines - line < lines ? operand.lines - line : lines);
    }
  }

  /// Starts to copy the next tile.
  __device__ void copy(T* tile) {
    if constexpr (affine) {
      const int64_t left = operand_.depth - k_;
      const int k_left = left < depth ? static_cast<int>(left) : depth;
      // One address moves on, as one for each element would take too many registers.
      const T* from = from_;
      int moved = 0;
      visit([&](int line, int k, int n, int m, auto width) {
        const int near_left = along_k ? k_left - k : lines_left_ - line;
        const bool exists = along_k ? line < lines_left_ : k < k_left;
        if (n != moved) from += (n - moved) * operand_.stride;
        moved = n;
        const Source<T> source = {from + m, exists ? near_left : 0};
        start(tile + Place{}(line, k), source, width);
      });
      from_ += along_k ? depth : depth * operand_.stride;
    } else {
      visit([&](int line, int k, int, int, auto width) {
        start(tile + Place{}(line, k), operand_(batch_, line_ + line, k_ + k), width);
      });
    }
    k_ += depth;
  }

  /// Calls f(line, k, n, m, width) for all that this thread copies; width is a constant.
  template <class F>
  __device__ void visit(F f) const {
    if constexpr (may_use_vectors) {
      if (in_vectors_) {
        Vectors::for_each(thread_, [&](int line, int k, int n, int m) {
          f(line, k, n, m, std::integral_constant<int, 16 / sizeof(T)>{});
        });
        return;
      }
    }
    Elements::for_each(thread_, [&](int line, int k, int n, int m) {
      f(line, k, n, m, std::integral_constant<int, 1>{});
    });
  }

 private:
  template <class Width>
  __device__ static void start(T* to, const Source<T>& source, Width) {
    if constexpr (Width::value == 1) {
      copy_element(to, source);
    } else {
      copy_chunk(to, source);
    }
  }

  const Operand& operand_;
  const int thread_;
  const bool in_vectors_;
  const int64_t batch_, line_;
  int64_t k_;
  const T* from_ = nullptr;
  int lines_left_ = 0;
};

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
  TileCopier<A, Tile::rows, depth, threads, PlainPlace<T, Tile::rows, depth, A::along_k>> copy_a(
      a, thread, tile.batch, tile.row, tile.k);
  TileCopier<B, Tile::columns, depth, threads, PlainPlace<T, Tile::columns, depth, B::along_k>>
      copy_b(b, thread, tile.batch, tile.column, tile.k);
  const auto copy = [&](int64_t slice) {
    if (slice < slices) {
      const int stage = static_cast<int>(slice % stages);
      copy_a.copy(a_tiles + stage * ATile::size);
      copy_b.copy(b_tiles + stage * BTile::size);
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
      using Registers = std::decay_t<decltype(in_registers)>;
      using Shared = std::decay_t<decltype(in_shared)>;
      constexpr int late = stages - 2;  // so many slices after its copy starts, a slice is split
      TileCopier<Registers, 128, depth, Tile::copying,
                 PlainPlace<float, 128, depth, Registers::along_k>>
          copy_to_registers(in_registers, copier, tile.batch, register_line, tile.k);
      TileCopier<Shared, 128, depth, Tile::copying, SwizzledPlace> copy_to_shared(
          in_shared, copier, tile.batch, shared_line, tile.k);
#pragma unroll 1
      for (int64_t slice = 0; slice < slices + late; ++slice) {
        if (slice < slices) {
          const int stage = static_cast<int>(slice % stages);
          if (slice >= stages) empty[stage].wait(slice / stages - 1, empty_arrivals);
          copy_to_registers.copy(register_tiles + stage * RegisterTile::size);
          copy_to_shared.copy(high_tiles + stage * Tile::shared_size);
        }
        __pipeline_commit();
        if (slice >= late) {
          // What this thread has copied has arrived, and only this thread splits it.
          __pipeline_wait_prior(late);
          const int stage = static_cast<int>((slice - late) % stages);
          float* const high = high_tiles + stage * Tile::shared_size;
          float* const low = low_tiles + stage * Tile::shared_size;
          copy_to_shared.visit([&](int line, int k, int, int, auto width) {
            using Values = Vector<float, decltype(width)::value>;
            auto& place = *reinterpret_cast<Values*>(high + swizzled(line, k));
            Values first = place, second;
#pragma unroll
            for (int i = 0; i < decltype(width)::value; ++i) {
              unsigned bits = __float_as_uint(first.at[i]), rest = 0;
              if constexpr (split) split_tf32(bits, bits, rest);
              if constexpr (!split) bits = round_tf32(bits);
              first.at[i] = __uint_as_float(bits);
              second.at[i] = __uint_as_float(rest);
            }
            if constexpr (!split || Tile::cut_high) place = first;
            if constexpr (split) *reinterpret_cast<Values*>(low + swizzled(line, k)) = second;
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
