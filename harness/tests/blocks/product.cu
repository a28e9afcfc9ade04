// Matrix products of any size: by warps and by warpgroups, of all layouts, types and arithmetics.
#include <kb/product.cuh>

#include "blocks.h"

namespace {

using kb::Arithmetic;
using kb::ProductShape;
using kb::Triangle;

/// Numbers of 9 bits: products of two have no error in TF32x3, and none before sums of 2^24.
template <class T>
std::vector<T> small_numbers(int64_t n, int seed) {
  return make<T>(n, [&](int i) {
    const unsigned mixed = (static_cast<unsigned>(i) * 4 + seed) * 2654435761u;
    return static_cast<float>(static_cast<int>(mixed >> 16) % 33 - 16);
  });
}

/// Operands with room between their lines, of which the unused part is NaN.
template <class T>
struct Operand {
  int64_t lines, depth, stride, size;
  bool along_k;
  std::vector<T> values;

  Operand(int64_t lines_, int64_t depth_, int64_t batches, bool along_k_, int64_t room, int seed)
      : lines(lines_),
        depth(depth_),
        stride((along_k_ ? depth_ : lines_) + room),
        size(stride * (along_k_ ? lines_ : depth_)),
        along_k(along_k_),
        values(small_numbers<T>(size * batches + 1, seed)) {
    for (int64_t i = 0; i < size * batches; ++i) {
      if (i % stride >= stride - room) values[i] = static_cast<T>(NAN);
    }
  }
  int64_t place(int64_t batch, int64_t line, int64_t k) const {
    return batch * size + (along_k ? line * stride + k : k * stride + line);
  }
  double at(int64_t batch, int64_t line, int64_t k) const {
    return static_cast<float>(values[place(batch, line, k)]);
  }
  /// Keeps what is on the diagonal or above it, where k is greater; or below it.
  void keep_triangle(bool above) {
    for (int64_t line = 0; line < lines; ++line) {
      for (int64_t k = 0; k < depth; ++k) {
        if (above ? k < line : k > line) values[place(0, line, k)] = static_cast<T>(0.f);
      }
    }
  }
};

/// In place of a kind of tiles: those that launch_product() chooses.
struct Chosen {};

/// What becomes of a result on its way: a bias of the column, then a threshold.
struct BiasRelu {
  const float* bias;
  __device__ float operator()(float value, int64_t, int64_t, int64_t column) const {
    return fmaxf(value + bias[column], 0);
  }
};

/// Compares c with a loop on the host, exactly.
template <class Tile, Arithmetic arithmetic, class T, bool left_along_k, bool right_along_k>
void expect_product(const ProductShape& s, int64_t room = 0, int64_t parts = 0) {
  Operand<T> a(s.rows, s.depth, s.batches, left_along_k, room, 1);
  Operand<T> b(s.columns, s.depth, s.batches, right_along_k, room, 2);
  if (s.triangle != Triangle::none) {
    a.keep_triangle(s.triangle == Triangle::upper);
    b.keep_triangle(s.triangle == Triangle::lower);
  }
  const int64_t size = s.rows * s.columns;
  const std::vector<float> bias = small_numbers<float>(s.columns, 3);
  Buffer<T> a_device(a.values), b_device(b.values);
  Buffer<float> c(size * s.batches + 1, 77), bias_device(bias);
  const kb::Matrix<T, left_along_k> left = {a_device, s.rows, s.depth, a.stride, a.size};
  const kb::Matrix<T, right_along_k> right = {b_device, s.columns, s.depth, b.stride, b.size};
  float* const result = c;
  const auto store = kb::store(result, s, BiasRelu{bias_device});
  if constexpr (std::is_same_v<Tile, Chosen>) {
    kb::launch_product<arithmetic>(nullptr, s, left, right, store);
  } else {
    kb::launch_product<Tile, arithmetic>(nullptr, s, left, right, store, parts);
  }
  KB_LAUNCHED();
  const std::vector<float> got = c.read();
  int64_t wrong = 0;
  for (int64_t batch = 0; batch < s.batches; ++batch) {
    for (int64_t row = 0; row < s.rows; ++row) {
      for (int64_t column = 0; column < s.columns; ++column) {
        double sum = 0;
        for (int64_t k = 0; k < s.depth; ++k) sum += a.at(batch, row, k) * b.at(batch, column, k);
        const double expected = fmax(sum + bias[column], 0);
        wrong += got[batch * size + row * s.columns + column] != expected;
      }
    }
  }
  KB_EXPECT(wrong == 0);
  KB_EXPECT(got[size * s.batches] == 77);
}

template <class Tile, Arithmetic arithmetic, class T>
void expect_layouts(const ProductShape& s, int64_t room = 0, int64_t parts = 0) {
  expect_product<Tile, arithmetic, T, true, false>(s, room, parts);
  expect_product<Tile, arithmetic, T, false, false>(s, room, parts);
  expect_product<Tile, arithmetic, T, true, true>(s, room, parts);
  expect_product<Tile, arithmetic, T, false, true>(s, room, parts);
}

using Small = kb::WarpTiles<32, 32, 32, 16, 32, 3>;
using Wide = kb::WarpTiles<64, 64, 32, 64, 16, 2>;
using Tall = kb::WarpTiles<64, 32, 64, 32, 16, 3>;

const ProductShape shapes[] = {{1, 1, 1},    {3, 17, 3},  {17, 3, 65},  {64, 64, 64},
                               {65, 33, 37}, {1, 70, 40}, {2, 5, 0, 2}, {20, 12, 24, 3}};

template <class T>
void products_of_type() {
  for (const ProductShape& s : shapes) {
    expect_layouts<Small, Arithmetic::tf32x3, T>(s);
    expect_layouts<Small, Arithmetic::plain, T>(s);
  }
  expect_product<Wide, Arithmetic::tf32x3, T, true, false>({65, 40, 72});
  expect_product<Wide, Arithmetic::tf32x3, T, false, true>({65, 40, 72});
  expect_layouts<Small, Arithmetic::tf32x3, T>({24, 40, 72}, 8);
  expect_layouts<Small, Arithmetic::tf32x3, T>({24, 40, 72}, 3);
}

KB_FEATURE(product_of_any_type_and_layout) { KB_FOR_EACH_TYPE(products_of_type); }

template <class T>
void chosen_products() {
  for (const ProductShape& s : {ProductShape{1, 1, 1}, ProductShape{20, 40, 72, 3}}) {
    expect_product<Chosen, kb::product_arithmetic, T, true, false>(s);
  }
#ifdef __NVCC__  // large enough for any device's large tiles
  expect_product<Chosen, kb::product_arithmetic, T, true, false>({1100, 1000, 136});
#endif
}

KB_FEATURE(product_by_chosen_tiles) { KB_FOR_EACH_TYPE(chosen_products); }

template <class Tile, class T>
void triangles(int64_t n) {
  for (const Triangle triangle : {Triangle::upper, Triangle::lower}) {
    expect_product<Tile, Arithmetic::tf32x3, T, true, false>({n, n, n, 1, triangle});
    expect_product<Tile, Arithmetic::tf32x3, T, true, false>({n, n, n, 1, triangle}, 0, 2);
  }
}

KB_FEATURE(product_of_triangles) {
  triangles<Small, float>(1);
  triangles<Small, float>(100);
  triangles<kb::WarpgroupTiles<3, 128>, float>(150);
  triangles<kb::HalfWarpgroupTiles<3>, __half>(150);
}

KB_FEATURE(product_of_parts) {
  for (const int64_t parts : {0, 2, 3, 7}) {
    expect_layouts<Small, Arithmetic::tf32x3, float>({9, 18, 333}, 0, parts);
    expect_layouts<Small, Arithmetic::plain, float>({4, 2, 3000, 2}, 0, parts);
  }
}

KB_FEATURE(product_by_tall_warps) {
  expect_layouts<Tall, Arithmetic::tf32x3, float>({65, 40, 72});
  expect_layouts<Tall, Arithmetic::tf32, __half>({65, 40, 72});
}

KB_FEATURE(product_by_warpgroups) {
  using Tile = kb::WarpgroupTiles<3, 128>;
  using TwoCopy = kb::WarpgroupTiles<4, 256>;
  for (const ProductShape& s :
       {ProductShape{1, 1, 1}, ProductShape{130, 17, 37}, ProductShape{64, 65, 128},
        ProductShape{2, 5, 0, 2}, ProductShape{20, 136, 232, 2}}) {
    expect_layouts<Tile, Arithmetic::tf32x3, float>(s);
  }
  expect_layouts<TwoCopy, Arithmetic::tf32x3, float>({12, 20, 264}, 4);
  expect_layouts<TwoCopy, Arithmetic::tf32, float>({12, 20, 40}, 3);
  expect_layouts<TwoCopy, Arithmetic::tf32x3, float>({12, 20, 500}, 0, 3);
}

template <class T>
void halves_by_warpgroups() {
  using Tile = kb::HalfWarpgroupTiles<3>;
  expect_layouts<Tile, Arithmetic::tf32x3, T>({1, 1, 1});
  expect_layouts<Tile, Arithmetic::tf32x3, T>({2, 5, 0, 2});
  expect_layouts<Tile, Arithmetic::tf32x3, T>({136, 264, 72});
  expect_layouts<Tile, Arithmetic::tf32x3, T>({12, 24, 328, 2}, 8);
}

KB_FEATURE(product_of_halves_by_warpgroups) {
  halves_by_warpgroups<__half>();
  halves_by_warpgroups<__nv_bfloat16>();
  expect_layouts<kb::HalfWarpgroupTiles<3>, Arithmetic::tf32x3, __half>({9, 20, 600}, 3, 2);
}

// What a linear layer adds and multiplies: of the column, whichever the row or the sample.
template <class T>
void columns_biased_and_scaled() {
  const ProductShape s = {5, 7, 3, 2};
  const int64_t size = s.batches * s.rows * s.columns;
  const std::vector<T> a = small_numbers<T>(s.batches * s.rows * s.depth, 1);
  const std::vector<T> b = small_numbers<T>(s.batches * s.depth * s.columns, 2);
  const std::vector<T> bias = small_numbers<T>(s.columns, 3),
                       scale = small_numbers<T>(s.columns, 4);
  Buffer<T> a_device(a), b_device(b), bias_device(bias), scale_device(scale);
  Buffer<float> biased(size, 77), scaled(size, 77);
  const T *a_start = a_device, *b_start = b_device;
  const T *bias_start = bias_device, *scale_start = scale_device;
  float *const biased_start = biased, *const scaled_start = scaled;
  kb::launch_product(nullptr, s, kb::left(a_start, s), kb::right(b_start, s),
                     kb::store(biased_start, s, kb::AddColumnBias{bias_start}));
  kb::launch_product(
      nullptr, s, kb::left(a_start, s), kb::right(b_start, s),
      kb::store(scaled_start, s, kb::AddColumnBiasAndScale{bias_start, scale_start}));
  KB_LAUNCHED();
  const std::vector<float> with_bias = biased.read(), with_both = scaled.read();
  for (int64_t i = 0; i < size; ++i) {
    const int64_t line = i / s.columns, column = i % s.columns, batch = line / s.rows;
    double sum = static_cast<float>(bias[column]);
    for (int64_t k = 0; k < s.depth; ++k) {
      sum += double{static_cast<float>(a[line * s.depth + k])} *
             static_cast<float>(b[(batch * s.depth + k) * s.columns + column]);
    }
    KB_EXPECT(with_bias[i] == sum);
    KB_EXPECT(with_both[i] == sum * static_cast<float>(scale[column]));
  }
}

KB_FEATURE(product_with_what_belongs_to_columns) { KB_FOR_EACH_TYPE(columns_biased_and_scaled); }

// The root mean square of the errors, and what is missing of each result on average; both relative.
struct Errors {
  double all, lost;
};

// Values with all 24 bits: three products keep as many of each, one keeps 11.
template <class Tile, Arithmetic arithmetic>
Errors errors_of_full_values() {
  const int64_t n = 40, depth = 200;
  const ProductShape s = {n, n, depth};
  const auto full = [](int seed) {
    return make<float>(n * depth, [&](int i) {
      const unsigned mixed = (static_cast<unsigned>(i) * 4 + seed) * 2654435761u;
      return static_cast<float>(static_cast<double>(mixed ^ mixed >> 15) / 0x80000000u - 1);
    });
  };
  const std::vector<float> a = full(1), b = full(2);
  Buffer<float> a_device(a), b_device(b), c(n * n, 77);
  const float *a_start = a_device, *b_start = b_device;
  kb::launch_product<Tile, arithmetic>(nullptr, s, kb::left(a_start, s, depth),
                                       kb::right(b_start, s, n), kb::Store<float>{c, n, 0});
  KB_LAUNCHED();
  const std::vector<float> got = c.read();
  double errors = 0, lost = 0, squares = 0;
  for (int64_t i = 0; i < n * n; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += double{a[i / n * depth + k]} * b[k * n + i % n];
    errors += (got[i] - sum) * (got[i] - sum);
    lost += (sum - got[i]) * sum;
    squares += sum * sum;
  }
  return {std::sqrt(errors / squares), lost / squares};
}

// As float does it in order, 2.5e-7, and about as often too large as too small: in a network of
// many layers what is always lost adds up.
template <class Tile, Arithmetic arithmetic>
void expect_float() {
  const Errors errors = errors_of_full_values<Tile, arithmetic>();
  KB_EXPECT(errors.all < 4e-7);
  KB_EXPECT(std::abs(errors.lost) < 1.6e-7);
}

template <class Tile>
void expect_tf32() {
  const double error = errors_of_full_values<Tile, Arithmetic::tf32>().all;
  KB_EXPECT(error > 1e-5 && error < 2e-3);
}

KB_FEATURE(product_is_as_accurate_as_it_says) {
  using Warpgroups = kb::WarpgroupTiles<3>;
  expect_float<Small, Arithmetic::plain>();
  expect_float<Small, Arithmetic::tf32x3>();
  expect_float<Warpgroups, Arithmetic::tf32x3>();
  expect_tf32<Small>();
  expect_tf32<Warpgroups>();
}

}  // namespace
