// Matrix products c = a * b, in batches, on tensor cores where there are any. Operands and results
// are functors, so a product can read and write any layout and do more on the way.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <type_traits>

#include "decide.cuh"
#include "mma.cuh"
#include "types.cuh"

namespace kb {

/// How floats are multiplied. Sums are float in all cases.
enum class Arithmetic {
  tf32x3,  ///< three products of TF32 parts: about as accurate as float
  tf32,    ///< one product of operands that are rounded to TF32: 2^-11 of each
  plain,   ///< fmaf, also for halves: for devices without TF32
};

/// Which elements of both operands, and so of their product, are zero: none in particular, or those
/// below or above the diagonal.
enum class Triangle { none, upper, lower };

/// Sizes of a product: a is [rows, depth], b is [depth, columns], c is [rows, columns], each
/// `batches` times. Of triangular matrices only what is not zero is multiplied.
struct ProductShape {
  int64_t rows, columns, depth, batches = 1;
  Triangle triangle = Triangle::none;
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

// The same where rows and matrices follow one another without a gap.
template <class T>
Matrix<T, true> left(const T* a, const ProductShape& s) {
  return left(a, s, s.depth, s.rows * s.depth);
}
template <class T>
Matrix<T, false> left_transposed(const T* a, const ProductShape& s) {
  return left_transposed(a, s, s.rows, s.depth * s.rows);
}
template <class T>
Matrix<T, false> right(const T* b, const ProductShape& s) {
  return right(b, s, s.columns, s.depth * s.columns);
}
template <class T>
Matrix<T, true> right_transposed(const T* b, const ProductShape& s) {
  return right_transposed(b, s, s.depth, s.columns * s.depth);
}

/// The functor that leaves a result as it is.
struct AsIs {
  __device__ float operator()(float value, int64_t, int64_t, int64_t) const { return value; }
};

/// The functor that adds the bias of its column to a result: a linear layer's.
template <class T>
struct AddColumnBias {
  const T* bias;  // [columns]
  __device__ float operator()(float value, int64_t, int64_t, int64_t column) const {
    return value + static_cast<float>(bias[column]);
  }
};

template <class T>
AddColumnBias(const T*) -> AddColumnBias<T>;

/// The functor of (result + bias) * scale, with the bias and the scale of its column.
template <class T>
struct AddColumnBiasAndScale {
  const T *bias, *scale;  // [columns] each
  __device__ float operator()(float value, int64_t, int64_t, int64_t column) const {
    return (value + static_cast<float>(bias[column])) * static_cast<float>(scale[column]);
  }
};

template <class T>
AddColumnBiasAndScale(const T*, const T*) -> AddColumnBiasAndScale<T>;

/// The result in memory: c[row, column] = f(value, batch, row, column).
template <class T, class F = AsIs>
struct Store {
  T* c;
  int64_t stride, batch_stride;
  F f{};

  template <class Use>
  __device__ void decided(Use use) const {
    decide(f, [&](const auto& known) {
      using Known = std::decay_t<decltype(known)>;
      use(Store<T, Known>{c, stride, batch_stride, known});
    });
  }
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

/// The result, [rows, columns] without gaps.
template <class T, class F = AsIs>
Store<T, F> store(T* c, const ProductShape& s, F f = {}) {
  return {c, s.columns, s.rows * s.columns, f};
}

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

// How a block's threads share the copying of a tile, in groups of 16 bytes or in single elements,
// and where it is in shared memory.

/// The tile is stored as its operand is.
template <class Operand, int lines_, int depth_, int threads_>
struct PlainLayout {
  using T = typename Operand::Element;
  static constexpr int lines = lines_, depth = depth_, threads = threads_;
  template <int width>
  using Walk = TileWalk<Operand::along_k, lines, depth, threads, width>;
  template <int width>
  __device__ static int place(int line, int k) {
    return OperandTile<T, lines, depth, Operand::along_k>::place(line, k);
  }
};

/// What wgmma() expects of halves.
template <class Operand, int lines_, int threads_>
struct HalfLayout {
  using T = typename Operand::Element;
  static constexpr int lines = lines_, depth = 64, threads = threads_;
  template <int width>
  using Walk = TileWalk<Operand::along_k, lines, depth, threads, width>;
  template <int width>
  __device__ static int place(int line, int k) {
    return swizzled_half<T, Operand::along_k>(line, k);
  }
};

/// What wgmma() expects of floats, 128 lines of 32 k. A thread copies groups of 4 k of a line, so
/// that it can split them without waiting for others. If neighbours in memory follow lines, it
/// copies 4 lines of one k at a time; four of these, a block, stand in the places of the groups of
/// these lines, until split() transposes them.
template <class Operand, int threads_>
struct SplitLayout {
  static constexpr bool along_k = Operand::along_k;
  static constexpr int lines = 128, depth = 32, threads = threads_;

  template <int width>
  struct Walk {
    static constexpr bool blocks = !along_k && width == 4;
    static constexpr int line_step = along_k ? threads / 8 : blocks ? threads / 8 * 4 : lines;
    static constexpr int k_step = along_k || blocks ? depth : threads / lines * 4;
    static constexpr int unroll = width == 1 ? 1 : lines / line_step;
    __device__ static int first_line(int thread) {
      return along_k ? thread / 8 : blocks ? thread / 8 * 4 : thread % lines;
    }
    __device__ static int first_k(int thread) {
      return along_k || blocks ? thread % 8 * 4 : thread / lines * 4;
    }
    __device__ static int first_near(int thread) {
      return along_k ? first_k(thread) : first_line(thread);
    }
    __device__ static int first_far(int thread) {
      return along_k ? first_line(thread) : first_k(thread);
    }
    /// Calls f(line, k) for the groups, or blocks, of a thread; the first is so many away.
    template <class F>
    __device__ static void for_each_group(F f) {
#pragma unroll unroll
      for (int line = 0; line < lines; line += line_step) {
#pragma unroll unroll
        for (int k = 0; k < depth; k += k_step) f(line, k);
      }
    }
    /// As that of TileWalk.
    template <class F>
    __device__ static void for_each(int thread, F f) {
      for_each_group([&](int line, int k) {
#pragma unroll
        for (int i = 0; i < (along_k && width == 4 ? 1 : 4); ++i) {
          // Lanes whose lines differ by 8 take turns, or they would meet in a bank.
          const int at = k + (along_k || blocks ? i : (i + thread / 8) % 4);
          f(first_line(thread) + line, first_k(thread) + at, along_k ? line : at,
            along_k ? at : line);
        }
      });
    }
  };

  template <int width>
  __device__ static int place(int line, int k) {
    return !along_k && width == 4 ? swizzled<float>(line + k % 4, k - k % 4)
                                  : swizzled<float>(line, k);
  }

  /// Splits what a thread has copied into two TF32 parts; or rounds it, if one will do.
  template <Arithmetic arithmetic>
  __device__ static void split(float* high, float* low, int thread, bool in_vectors) {
    constexpr bool parts = arithmetic == Arithmetic::tf32x3;
    using Group = Vector<float, 4>;
    const auto load = [&](int line, int k) {
      return *reinterpret_cast<const Group*>(high + swizzled<float>(line, k));
    };
    const auto store = [&](int line, int k, Group first) {
      Group second;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        unsigned bits = __float_as_uint(first.at[i]), nearest, rest;
        split_tf32(bits, nearest, rest);
        if constexpr (!parts) nearest = round_tf32(bits);
        first.at[i] = __uint_as_float(nearest);
        second.at[i] = __uint_as_float(rest);
      }
      const int at = swizzled<float>(line, k);
      *reinterpret_cast<Group*>(high + at) = first;
      if (parts) *reinterpret_cast<Group*>(low + at) = second;
    };
    if (!along_k && in_vectors) {
      using Blocks = Walk<4>;
      Blocks::for_each_group([&](int from_line, int from_k) {
        const int line = Blocks::first_line(thread) + from_line;
        const int k = Blocks::first_k(thread) + from_k;
        Group x[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) x[i] = load(line + i, k);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          store(line + i, k, {{x[0].at[i], x[1].at[i], x[2].at[i], x[3].at[i]}});
        }
      });
    } else {
      using Groups = Walk<along_k ? 4 : 1>;
      Groups::for_each_group([&](int from_line, int from_k) {
        const int line = Groups::first_line(thread) + from_line;
        const int k = Groups::first_k(thread) + from_k;
        store(line, k, load(line, k));
      });
    }
  }
};

template <class Operand>
struct IsMatrix : std::false_type {};
template <class T, bool along_k>
struct IsMatrix<Matrix<T, along_k>> : std::true_type {};

/// One thread's part of copying an operand, tile after tile along k.
template <class Operand, class Layout>
class TileCopier {
 public:
  using T = typename Operand::Element;
  static constexpr bool along_k = Operand::along_k, affine = IsMatrix<Operand>::value;
  static constexpr int lines = Layout::lines, depth = Layout::depth, wide = 16 / sizeof(T);
  using Vectors = typename Layout::template Walk<wide>;
  using Elements = typename Layout::template Walk<1>;

  __device__ TileCopier(const Operand& operand, int thread, int64_t batch, int64_t line, int64_t k)
      : operand_(operand),
        thread_(thread),
        in_vectors_(operand.in_vectors()),
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
        from += (n - moved) * operand_.stride;
        moved = n;
        const Source<T> source = {from + m, exists ? near_left : 0};
        start(tile + Layout::template place<decltype(width)::value>(line, k), source, width);
      });
      from_ += along_k ? depth : depth * operand_.stride;
    } else {
      visit([&](int line, int k, int, int, auto width) {
        start(tile + Layout::template place<decltype(width)::value>(line, k),
              operand_(batch_, line_ + line, k_ + k), width);
      });
    }
    k_ += depth;
  }

 private:
  /// Calls f(line, k, n, m, width) for all that this thread copies; width is a constant.
  template <class F>
  __device__ void visit(F f) const {
    if (in_vectors_) {
      Vectors::for_each(thread_, [&](int line, int k, int n, int m) {
        f(line, k, n, m, std::integral_constant<int, wide>{});
      });
    } else {
      Elements::for_each(thread_, [&](int line, int k, int n, int m) {
        f(line, k, n, m, std::integral_constant<int, 1>{});
      });
    }
  }

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
  unsigned tiles_down, tiles_across;
  unsigned parts;
  unsigned tiles;      ///< of all matrices and parts
  int64_t part_depth;  ///< a multiple of a tile's depth
  Triangle triangle;
};

/// A tile, or a part of one.
struct ProductTile {
  int64_t batch, result;  ///< result counts (batch, part)
  int64_t row, column, k, k_end;
};

/// The tile of a number. Neighbours in number are next to one another, 8 rows of tiles at a time,
/// so that blocks that run together find their operands in the L2 cache. Tiles of a triangle come
/// in an order in which the deepest are early.
template <class Tile>
__device__ ProductTile tile_of(const ProductGrid& grid, unsigned number) {
  constexpr unsigned group = 8;
  if (grid.triangle == Triangle::lower) number = grid.tiles - 1 - number;
  const unsigned tiles = grid.tiles_down * grid.tiles_across;
  const unsigned result = number / tiles, tile = number % tiles;
  const unsigned first = tile / (group * grid.tiles_across) * group;
  const unsigned height = grid.tiles_down - first < group ? grid.tiles_down - first : group;
  const unsigned within = tile - first * grid.tiles_across;
  const int64_t row = int64_t{first + within % height} * Tile::rows;
  const int64_t column = int64_t{within / height} * Tile::columns;
  int64_t k = result % grid.parts * grid.part_depth;
  int64_t k_end = k + grid.part_depth < grid.depth ? k + grid.part_depth : grid.depth;
  if (grid.triangle != Triangle::none) {
    // a[row, k] * b[k, column] is zero unless row <= k <= column, or row >= k >= column.
    const bool upper = grid.triangle == Triangle::upper;
    const int64_t from = (upper ? row : column) / Tile::depth * Tile::depth;
    const int64_t to = upper ? column + Tile::columns : row + Tile::rows;
    k = k < from ? from : k;
    k_end = k_end < to ? k_end : to;
  }
  return {result / grid.parts, result, row, column, k, k_end};
}

// ---------------------------------------------------------------------------------------------
// Products by warps

/// How a block of warps computes a tile of rows x columns. Each warp computes warp_rows x
/// warp_columns of it (multiples of 16). Slices of `depth` pass through shared memory, `stages` of
/// them at a time.
///
/// Tensor cores round towards zero when they add, so errors would grow with the depth: what they
/// add up of two parts, 8 of the depth, is added to the sums by ordinary instructions.
template <int rows_, int columns_, int warp_rows_, int warp_columns_, int depth_, int stages_,
          int blocks_per_multiprocessor_ = 1>
struct WarpTiles {
  static constexpr bool warpgroups = false;
  static constexpr int rows = rows_, columns = columns_;
  static constexpr int warp_rows = warp_rows_, warp_columns = warp_columns_;
  static constexpr int depth = depth_, stages = stages_;
  static constexpr int blocks_per_multiprocessor = blocks_per_multiprocessor_;
  static constexpr int threads = rows / warp_rows * (columns / warp_columns) * 32;
  static_assert(rows % warp_rows == 0 && columns % warp_columns == 0, "warps share the tile");
  static_assert(warp_rows % 16 == 0 && warp_columns % 16 == 0, "fragments share a warp's tile");

  template <class A, class B>
  static constexpr int stage_bytes =
      sizeof(typename A::Element) *
      (OperandTile<typename A::Element, rows, depth, A::along_k>::size +
       OperandTile<typename B::Element, columns, depth, B::along_k>::size);
  template <class A, class B>
  static constexpr int shared_bytes = stages* stage_bytes<A, B>;
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
        if constexpr (split) {
          // All tiles come before the next product of one: products into one sum wait for each
          // other. The small ones come first: they lose nothing that matters.
          float part[down][together][4] = {};
          const auto all = [&](const auto& x, const auto& y) {
#pragma unroll
            for (int i = 0; i < down; ++i) {
#pragma unroll
              for (int j = 0; j < together; ++j) mma<T>(part[i][j], x[i], y[j]);
            }
          };
          all(a_low, b);
          all(a, b_low);
          all(a, b);
#pragma unroll
          for (int i = 0; i < down; ++i) {
#pragma unroll
            for (int j = 0; j < together; ++j) {
#pragma unroll
              for (int e = 0; e < 4; ++e) sums[i][j0 + j][e] += part[i][j][e];
            }
          }
        } else {
#pragma unroll
          for (int i = 0; i < down; ++i) {
#pragma unroll
            for (int j = 0; j < together; ++j) mma<T>(sums[i][j0 + j], a[i], b[j]);
          }
        }
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
  using ATile = OperandTile<T, Tile::rows, depth, A::along_k>;
  using BTile = OperandTile<T, Tile::columns, depth, B::along_k>;
  T* const a_tiles = reinterpret_cast<T*>(dynamic_shared());
  T* const b_tiles = a_tiles + stages * ATile::size;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;

  const ProductTile tile = tile_of<Tile>(grid, blockIdx.x);
  const int64_t slices = (tile.k_end - tile.k + depth - 1) / depth;
  TileCopier<A, PlainLayout<A, Tile::rows, depth, threads>> copy_a(a, thread, tile.batch, tile.row,
                                                                   tile.k);
  TileCopier<B, PlainLayout<B, Tile::columns, depth, threads>> copy_b(b, thread, tile.batch,
                                                                      tile.column, tile.k);
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

  for (int slice = 0; slice < stages - 1; ++slice) copy(slice);
#pragma unroll 1
  for (int64_t slice = 0; slice < slices; ++slice) {
    __pipeline_wait_prior(stages - 2);
    __syncthreads();  // the slice is there for all, and nobody reads the one before any more
    copy(slice + stages - 1);
    const int stage = static_cast<int>(slice % stages);
    multiply_slice<Tile, arithmetic, ATile, BTile>(sums, a_tiles + stage * ATile::size,
                                                   b_tiles + stage * BTile::size, row, column);
  }

  decide(store, [&](const auto& decided) {
#pragma unroll
    for (int i = 0; i < down * 2; ++i) {
      const int64_t at_row = tile.row + row + 8 * i + lane / 4;
#pragma unroll
      for (int j = 0; j < across; ++j) {
        const int64_t at_column = tile.column + column + 8 * j + lane % 4 * 2;
        const float pair[] = {sums[i / 2][j][i % 2 * 2], sums[i / 2][j][i % 2 * 2 + 1]};
        if (at_row < grid.rows && at_column < grid.columns) {
          decided(tile.result, at_row, at_column, pair, grid.columns - at_column);
        }
      }
    }
  });
}

// ---------------------------------------------------------------------------------------------
// Products by warpgroups

/// Two warpgroups multiply; one or two more copy for them. Blocks stay and compute tile after tile,
/// so that copies for the next go on while one is stored.
template <int stages_, int copying_>
struct WarpgroupRoles {
  static constexpr bool warpgroups = true;
  static constexpr int stages = stages_, copying = copying_, multiplying = 256;
  static constexpr int threads = multiplying + copying;
  static constexpr int blocks_per_multiprocessor = 1;
  static_assert(copying == 128 || copying == 256, "threads copy as whole warpgroups");
  static constexpr int copying_registers = copying == 128 ? 72 : 64;
  static constexpr int multiplying_registers = copying == 128 ? 216 : 192;
  /// A slice is handed over so many copies after its own was started.
  static constexpr int late = stages - 1;
};

/// How warpgroups multiply floats in tiles of 128 x 128 with wgmma: 64 rows of the left operand
/// each, from registers, with the right one, which is split in shared memory as it arrives. What
/// the tensor cores add up of a slice is added to the sums by ordinary instructions.
template <int stages, int copying = 256>
struct WarpgroupTiles : WarpgroupRoles<stages, copying> {
  static constexpr int rows = 128, columns = 128, depth = 32;
  static constexpr int right_size = columns * depth;  ///< floats

  template <class A>
  using Left = OperandTile<float, rows, depth, A::along_k>;
  template <class A, class B>
  static constexpr int shared_bytes = stages*((2 * right_size + Left<A>::size) * 4 +
                                              2 * sizeof(Barrier));
};

/// How warpgroups multiply halves in tiles of 128 x 256 with wgmma, both operands in shared memory.
/// One warpgroup copies: with two, a block would start with fewer registers than a wgmma names.
template <int stages>
struct HalfWarpgroupTiles : WarpgroupRoles<stages, 128> {
  static constexpr int rows = 128, columns = 256, depth = 64;
  template <class A, class B>
  static constexpr int shared_bytes = stages*((rows + columns) * depth * 2 + 2 * sizeof(Barrier));
};

/// Stages in shared memory, through which slices pass in turn; n counts the slices of a block.
template <class Tile>
struct Ring {
  static constexpr int stages = Tile::stages;
  static constexpr int full_arrivals = Tile::copying, empty_arrivals = Tile::multiplying / 32;
  Barrier full[stages], empty[stages];

  /// All threads of the block call this.
  __device__ void init() {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) {
        full[stage].init(full_arrivals);
        empty[stage].init(empty_arrivals);
      }
    }
    __syncthreads();
  }
  /// Those that copy wait for a free stage and, later, hand over what is in it.
  __device__ void wait_empty(unsigned n) {
    if (n >= stages) empty[n % stages].wait(n / stages - 1, empty_arrivals);
  }
  __device__ void fill(unsigned n) {
    publish_to_wgmma();
    full[n % stages].arrive();
  }
  /// Those that multiply wait for it and, later, give back the stage.
  __device__ void wait_full(unsigned n) { full[n % stages].wait(n / stages, full_arrivals); }
  __device__ void release(unsigned n) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) empty[n % stages].arrive();
  }
};

/// What the threads that copy do: slice after slice of all tiles of this block.
/// @param copiers  a functor that makes that of a tile, which copies its next slice to a stage
/// @param finish  called with a stage whose copies of this thread have arrived
template <class Tile, class Copiers, class Finish>
__device__ void copy_slices(const ProductGrid& grid, Ring<Tile>& ring, Copiers copiers,
                            Finish finish) {
  constexpr unsigned late = Tile::late;
  unsigned n = 0;
  const auto hand_over = [&] {
    if (n >= late) {
      __pipeline_wait_prior(late - 1);
      finish((n - late) % Tile::stages);
      ring.fill(n - late);
    }
  };
  for (unsigned number = blockIdx.x; number < grid.tiles; number += gridDim.x) {
    const ProductTile tile = tile_of<Tile>(grid, number);
    auto copier = copiers(tile);
#pragma unroll 1
    for (int64_t k = tile.k; k < tile.k_end; k += Tile::depth, ++n) {
      hand_over();
      ring.wait_empty(n);
      copier(n % Tile::stages);
      __pipeline_commit();
    }
  }
#pragma unroll 1
  for (const unsigned end = n + late; n < end; ++n) {
    hand_over();
    __pipeline_commit();  // an empty one, as their number says which slice has arrived
  }
}

template <int count, class Result>
__device__ __forceinline__ void store_decided_fragments(const ProductGrid& grid,
                                                        const ProductTile& tile, int warp_row,
                                                        const float (&sums)[count],
                                                        const Result& store) {
  const int lane = threadIdx.x % 32;
  const bool whole = tile.column + 2 * count <= grid.columns;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int64_t row = tile.row + warp_row + 8 * i + lane / 4;
    if (row >= grid.rows) continue;
    const auto store_pairs = [&](auto columns_left) {
#pragma unroll
      for (int j = 0; j < count / 4; ++j) {
        const int64_t column = tile.column + 8 * j + lane % 4 * 2;
        const float pair[] = {sums[4 * j + 2 * i], sums[4 * j + 2 * i + 1]};
        const int64_t left = columns_left(column);
        if (left > 0) store(tile.result, row, column, pair, left);
      }
    };
    // Most tiles end before the last column: their stores have nothing to ask.
    if (whole) {
      store_pairs([](int64_t) { return int64_t{2}; });
    } else {
      store_pairs([&](int64_t column) { return grid.columns - column; });
    }
  }
}

/// Stores what a warp has of a tile, in fragments of 16 rows x 8 columns, from `row` on.
template <int count, class Result>
__device__ __forceinline__ void store_fragments(const ProductGrid& grid, const ProductTile& tile,
                                                int warp_row, const float (&sums)[count],
                                                const Result& store) {
  decide(store, [&](const auto& decided) {
    store_decided_fragments(grid, tile, warp_row, sums, decided);
  });
}

template <class Tile, Arithmetic arithmetic, class A, class B, class Result>
__global__ void __launch_bounds__(Tile::threads, 1)
    multiply_by_warpgroups(ProductGrid grid, A a, B b, Result store) {
  static_assert(std::is_same_v<typename A::Element, float>, "TF32 is for floats");
  static_assert(std::is_same_v<typename B::Element, float>, "TF32 is for floats");
  static_assert(arithmetic != Arithmetic::plain, "wgmma computes in TF32");
  constexpr int depth = Tile::depth;
  constexpr bool split = arithmetic == Arithmetic::tf32x3;
  using Left = typename Tile::template Left<A>;
  using RightLayout = SplitLayout<B, Tile::copying>;
  float* const high_tiles = reinterpret_cast<float*>(dynamic_shared());
  float* const low_tiles = high_tiles + Tile::stages * Tile::right_size;
  float* const left_tiles = low_tiles + Tile::stages * Tile::right_size;
  auto& ring = *reinterpret_cast<Ring<Tile>*>(left_tiles + Tile::stages * Left::size);
  ring.init();

  if (threadIdx.x >= Tile::multiplying) {
    give_registers<Tile::copying_registers>();
    const int thread = threadIdx.x - Tile::multiplying;
    const auto copiers = [&](const ProductTile& tile) {
      using CopyA = TileCopier<A, PlainLayout<A, Tile::rows, depth, Tile::copying>>;
      using CopyB = TileCopier<B, RightLayout>;
      return [=, copy_a = CopyA(a, thread, tile.batch, tile.row, tile.k),
              copy_b = CopyB(b, thread, tile.batch, tile.column, tile.k)](int stage) mutable {
        copy_a.copy(left_tiles + stage * Left::size);
        copy_b.copy(high_tiles + stage * Tile::right_size);
      };
    };
    const bool in_vectors = b.in_vectors();
    copy_slices(grid, ring, copiers, [&](int stage) {
      const int from = stage * Tile::right_size;
      RightLayout::template split<arithmetic>(high_tiles + from, low_tiles + from, thread,
                                              in_vectors);
    });
  } else {
    take_registers<Tile::multiplying_registers>();
    const int row = static_cast<int>(threadIdx.x / 32) * 16;
    unsigned n = 0;
    for (unsigned number = blockIdx.x; number < grid.tiles; number += gridDim.x) {
      const ProductTile tile = tile_of<Tile>(grid, number);
      float part[64], sums[64];
#pragma unroll
      for (int i = 0; i < 64; ++i) sums[i] = 0;
#pragma unroll 1
      for (int64_t k = tile.k; k < tile.k_end; k += depth, ++n) {
        const int stage = n % Tile::stages;
        const float* const high = high_tiles + stage * Tile::right_size;
        const float* const low = low_tiles + stage * Tile::right_size;
        ring.wait_full(n);
        unsigned x[depth / 8][4], x_low[depth / 8][4];
#pragma unroll
        for (int i = 0; i < depth / 8; ++i) {
          Left::load_left(left_tiles + stage * Left::size, row, 8 * i, x[i]);
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            if constexpr (split) split_tf32(x[i][e], x[i][e], x_low[i][e]);
            if constexpr (!split) x[i][e] = round_tf32(x[i][e]);
          }
        }
        wgmma_begin();
        if constexpr (split) {
          // The small products come first: they lose nothing that matters.
#pragma unroll
          for (int i = 0; i < depth / 8; ++i) {
            wgmma(part, x_low[i], high, 8 * i, i > 0);
            wgmma(part, x[i], low, 8 * i, true);
          }
        }
#pragma unroll
        for (int i = 0; i < depth / 8; ++i) wgmma(part, x[i], high, 8 * i, split || i > 0);
        wgmma_end();
        wgmma_wait(part);
        ring.release(n);
#pragma unroll
        for (int i = 0; i < 64; ++i) sums[i] += part[i];
      }
      store_fragments(grid, tile, row, sums, store);
    }
  }
}

template <class Tile, class A, class B, class Result>
__global__ void __launch_bounds__(Tile::threads, 1)
    multiply_halves_by_warpgroups(ProductGrid grid, A a, B b, Result store) {
  using T = typename A::Element;
  static_assert(sizeof(T) == 2 && std::is_same_v<T, typename B::Element>, "halves of one type");
  constexpr int depth = Tile::depth;
  constexpr int left_size = Tile::rows * depth, right_size = Tile::columns * depth;
  T* const left_tiles = reinterpret_cast<T*>(dynamic_shared());
  T* const right_tiles = left_tiles + Tile::stages * left_size;
  auto& ring = *reinterpret_cast<Ring<Tile>*>(right_tiles + Tile::stages * right_size);
  ring.init();

  if (threadIdx.x >= Tile::multiplying) {
    give_registers<Tile::copying_registers>();
    const int thread = threadIdx.x - Tile::multiplying;
    const auto copiers = [&](const ProductTile& tile) {
      using CopyA = TileCopier<A, HalfLayout<A, Tile::rows, Tile::copying>>;
      using CopyB = TileCopier<B, HalfLayout<B, Tile::columns, Tile::copying>>;
      return [=, copy_a = CopyA(a, thread, tile.batch, tile.row, tile.k),
              copy_b = CopyB(b, thread, tile.batch, tile.column, tile.k)](int stage) mutable {
        copy_a.copy(left_tiles + stage * left_size);
        copy_b.copy(right_tiles + stage * right_size);
      };
    };
    copy_slices(grid, ring, copiers, [](int) {});
  } else {
    take_registers<Tile::multiplying_registers>();
    const int warpgroup = threadIdx.x / 128, warp = threadIdx.x / 32;
    unsigned n = 0;
    for (unsigned number = blockIdx.x; number < grid.tiles; number += gridDim.x) {
      const ProductTile tile = tile_of<Tile>(grid, number);
      float sums[128] = {};
#pragma unroll 1
      for (int64_t k = tile.k; k < tile.k_end; k += depth, ++n) {
        const int stage = n % Tile::stages;
        const T* const left = left_tiles + stage * left_size + warpgroup * 64 * depth;
        const T* const right = right_tiles + stage * right_size;
        ring.wait_full(n);
        wgmma_begin();
#pragma unroll
        for (int i = 0; i < depth; i += 16) {
          wgmma<T, A::along_k, B::along_k>(sums, left, right, i, true);
        }
        // One slice stays under way, and the one before it is over.
        wgmma_end();
        wgmma_wait<1>(sums);
        if (k > tile.k) ring.release(n - 1);
      }
      wgmma_wait(sums);
      if (tile.k < tile.k_end) ring.release(n - 1);
      store_fragments(grid, tile, warp * 16, sums, store);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Launches

/// Takes a tile to its place: the result, or, if blocks share the depth, memory for the sums.
template <class Result>
struct ResultOrSums {
  Result result;
  Store<float> sums;  ///< nowhere if each tile is one block's

  template <class Use>
  __device__ void decided(Use use) const {
    if (sums.c == nullptr) {
      decide(result, use);
    } else {
      use(sums);
    }
  }
  template <int N>
  __device__ void operator()(int64_t batch, int64_t row, int64_t column, const float (&values)[N],
                             int64_t count) const {
    if (sums.c == nullptr) {
      result(batch, row, column, values, count);
    } else {
      sums(batch, row, column, values, count);
    }
  }
};

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

/// The multiprocessors of the device.
inline int64_t multiprocessors() {
  int device = 0, count = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

template <class Tile, Arithmetic arithmetic, class A, class B, class Result>
void launch_tiles(cudaStream_t stream, const ProductGrid& grid, A a, B b, Result result) {
  const auto launch = [&](auto kernel, int64_t blocks) {
    constexpr int bytes = Tile::template shared_bytes<A, B>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<static_cast<unsigned>(blocks), Tile::threads, bytes, stream>>>(grid, a, b, result);
  };
  if constexpr (Tile::warpgroups) {
    // A block for each multiprocessor; but tiles of a triangle differ in depth, so the device hands
    // them out one by one.
    const int64_t most = grid.triangle == Triangle::none ? multiprocessors() : grid.tiles;
    const int64_t blocks = grid.tiles < most ? grid.tiles : most;
    if constexpr (sizeof(typename A::Element) == 2) {
      launch(multiply_halves_by_warpgroups<Tile, A, B, Result>, blocks);
    } else {
      launch(multiply_by_warpgroups<Tile, arithmetic, A, B, Result>, blocks);
    }
  } else {
    launch(multiply_by_warps<Tile, arithmetic, A, B, Result>, grid.tiles);
  }
}

/// In how many parts to cut the depth, so that every multiprocessor has work: as many as fill the
/// device once, with at least 256 of the depth each.
template <class Tile>
int64_t parts_of_depth(const ProductShape& s) {
  const int64_t tiles = (s.rows + Tile::rows - 1) / Tile::rows *
                        ((s.columns + Tile::columns - 1) / Tile::columns) * s.batches;
  const int64_t wanted = multiprocessors() * Tile::blocks_per_multiprocessor / tiles;
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
  const int64_t down = (s.rows + Tile::rows - 1) / Tile::rows;
  const int64_t across = (s.columns + Tile::columns - 1) / Tile::columns;
  const ProductGrid grid = {s.rows,
                            s.columns,
                            s.depth,
                            static_cast<unsigned>(down),
                            static_cast<unsigned>(across),
                            static_cast<unsigned>(parts),
                            static_cast<unsigned>(down * across * parts * s.batches),
                            part_slices * Tile::depth,
                            s.triangle};
  // One kernel for both, as it takes long to compile.
  const int64_t size = s.rows * s.columns, all = size * s.batches;
  void* memory = nullptr;
  if (parts > 1) cudaMallocAsync(&memory, all * parts * sizeof(float), stream);
  const auto sums = static_cast<float*>(memory);
  launch_tiles<Tile, arithmetic>(stream, grid, a, b,
                                 ResultOrSums<Result>{result, {sums, s.columns, size}});
  if (parts == 1) return;
  constexpr int64_t threads = 256, most_blocks = 1 << 20;
  const int64_t blocks = (all + threads - 1) / threads;
  add_parts<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), threads, 0,
              stream>>>(s.rows, s.columns, parts, s.batches, sums, result);
  cudaFreeAsync(memory, stream);
}

// ---------------------------------------------------------------------------------------------
// Which tiles for which device

/// What this file is compiled for.
enum class Target {
  cpu,           ///< the CPU layer
  without_tf32,  ///< before sm_80
  tensor_cores,  ///< what all from sm_80 on have
  warpgroups,    ///< sm_90a only. Without the "a" it is right, but slow.
};

#ifdef __NVCC__
inline constexpr int architectures[] = {__CUDA_ARCH_LIST__};  // such as 900, in ascending order
inline constexpr int oldest = architectures[0];
inline constexpr int newest = architectures[sizeof(architectures) / sizeof(int) - 1];
inline constexpr Target target = oldest < 800                     ? Target::without_tf32
                                 : oldest >= 900 && newest < 1000 ? Target::warpgroups
                                                                  : Target::tensor_cores;
#else
inline constexpr Target target = Target::cpu;
#endif

// How products and convolutions multiply floats, as the precision contract of the build allows: as
// accurate as float unless PyTorch would use TF32, too. Halves are multiplied as they are.
inline constexpr bool has_tf32 = target != Target::cpu && target != Target::without_tf32;
#ifdef KB_CONTRACT_TF32
inline constexpr Arithmetic product_arithmetic = has_tf32 ? Arithmetic::tf32 : Arithmetic::plain;
#else
inline constexpr Arithmetic product_arithmetic = has_tf32 ? Arithmetic::tf32x3 : Arithmetic::plain;
#endif
#ifdef KB_CONTRACT_KERNELBENCH
inline constexpr Arithmetic convolution_arithmetic =
    has_tf32 ? Arithmetic::tf32 : Arithmetic::plain;
#else
inline constexpr Arithmetic convolution_arithmetic = product_arithmetic;
#endif

/// The tiles for large products of a type of elements, and for small ones, which would leave
/// multiprocessors without a large tile. On the CPU one small tile runs and compiles quickly.
template <class T, Target target>
struct ProductTiles {
  using Large = WarpTiles<32, 32, 32, 16, 32, 2>;
  using Small = Large;
};
// 64 KiB of shared memory is all there is.
template <class T>
struct ProductTiles<T, Target::without_tf32> {
  using Large = WarpTiles<128, 128, 64, 32, 16, 2>;
  using Small = Large;
};
// At most 99 KiB, for sm_86 and sm_89.
template <class T>
struct ProductTiles<T, Target::tensor_cores> {
  using Large = WarpTiles<128, 128, 64, 32, 32, 3>;
  using Small = WarpTiles<64, 64, 32, 32, 32, 3, 2>;
};
template <>
struct ProductTiles<float, Target::tensor_cores> {
  using Large = WarpTiles<128, 64, 64, 32, 32, 3, 2>;
  using Small = Large;
};
template <class T>
struct ProductTiles<T, Target::warpgroups> {
  using Large = HalfWarpgroupTiles<4>;
  using Small = WarpTiles<64, 64, 32, 32, 64, 4, 2>;
};
template <>
struct ProductTiles<float, Target::warpgroups> {
  using Large = WarpgroupTiles<4>;
  using Small = WarpTiles<64, 64, 32, 32, 32, 4, 2>;
};

/// Whether tiles of a kind are small enough for a product: no more than half of one lies outside,
/// and half of the multiprocessors have one, or a part.
template <class Tile>
bool fits(const ProductShape& s) {
  const int64_t tiles = (s.rows + Tile::rows - 1) / Tile::rows *
                        ((s.columns + Tile::columns - 1) / Tile::columns) * s.batches;
  return 2 * s.rows > Tile::rows && 2 * s.columns > Tile::columns &&
         2 * tiles * parts_of_depth<Tile>(s) >= multiprocessors();
}

/// Launches c = a * b with what suits the sizes and the device.
/// @param a, b, result  as those of launch_product() above
template <Arithmetic arithmetic = product_arithmetic, class A, class B, class Result>
void launch_product(cudaStream_t stream, const ProductShape& s, A a, B b, Result result) {
  using Tiles = ProductTiles<typename A::Element, target>;
  using Large = typename Tiles::Large;
  using Small = typename Tiles::Small;
  if constexpr (!std::is_same_v<Large, Small>) {
    if (s.rows > 0 && s.columns > 0 && s.batches > 0 && !fits<Large>(s)) {
      launch_product<Small, arithmetic>(stream, s, a, b, result);
      return;
    }
  }
  launch_product<Large, arithmetic>(stream, s, a, b, result);
}

}  // namespace kb
