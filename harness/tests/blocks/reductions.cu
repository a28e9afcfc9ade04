// Reductions of warps, blocks, ranges and axes: sums, extremes with NaN and ties, moments.
#include <kb/axis.cuh>
#include <kb/moments.cuh>
#include <kb/softmax.cuh>

#include "blocks.h"

namespace {

const float infinity = INFINITY, nan_value = NAN;

// Each block reduces all of x with every thread; all threads must get the same.
template <class T, class Op>
__global__ void reduce_by_block(const T* x, int64_t n, Op op, typename Op::Value* all) {
  const typename Op::Value first = kb::reduce(kb::Block{}, n, op, kb::Same{}, x);
  const typename Op::Value again = kb::reduce(kb::Block{}, n, op, kb::Same{}, x);
  all[threadIdx.x] = threadIdx.x % 2 == 0 ? first : again;
}

template <class Op, class T>
std::vector<typename Op::Value> reduced(const std::vector<T>& x, int threads, int64_t skip = 0) {
  Buffer<T> in(x);
  std::vector<typename Op::Value> nothing(threads);
  Buffer<typename Op::Value> out(nothing);
  const T* start = static_cast<T*>(in) + skip;
  reduce_by_block<<<1, threads>>>(start, static_cast<int64_t>(x.size()) - skip, Op{},
                                  static_cast<typename Op::Value*>(out));
  KB_LAUNCHED();
  return out.read();
}

template <class T>
void sums_and_extremes() {
  for (const int64_t n : sizes) {
    const std::vector<T> x = signed_values<T>(n);
    double sum = 0, max = -infinity, min = infinity;
    for (const double v : as_double(x)) sum += v, max = std::max(max, v), min = std::min(min, v);
    for (const int threads : {32, 96, 1024}) {
      for (const float v : reduced<kb::Sum>(x, threads)) KB_EXPECT(near(v, sum));
      for (const float v : reduced<kb::Max>(x, threads)) KB_EXPECT(v == max);
      for (const float v : reduced<kb::Min>(x, threads)) KB_EXPECT(v == min);
    }
  }
}

KB_FEATURE(reduce_sums_and_extremes) { KB_FOR_EACH_TYPE(sums_and_extremes); }

KB_FEATURE(reduce_misaligned) {
  const std::vector<float> x = signed_values<float>(1003);
  for (int skip = 0; skip < 8; ++skip) {
    double sum = 0;
    for (size_t i = skip; i < x.size(); ++i) sum += x[i];
    for (const float v : reduced<kb::Sum>(x, 128, skip)) KB_EXPECT(near(v, sum));
  }
}

KB_FEATURE(reduce_product) {
  std::vector<float> x(300, 1.f);
  x[0] = 3, x[77] = -2, x[299] = 7;
  for (const float v : reduced<kb::Product>(x, 64)) KB_EXPECT(v == -42);
}

// NaN wins wherever it stands, as in PyTorch.
KB_FEATURE(reduce_extremes_of_nan) {
  for (const size_t place : {0, 5, 31, 64, 500, 998}) {
    std::vector<float> x = signed_values<float>(999);
    x[3] = infinity, x[4] = -infinity;
    x[place] = nan_value;
    for (const float v : reduced<kb::Max>(x, 64)) KB_EXPECT(std::isnan(v));
    for (const float v : reduced<kb::Min>(x, 64)) KB_EXPECT(std::isnan(v));
    x[998] = nan_value;
    for (const kb::Indexed v : reduced<kb::ArgMax>(x, 64)) KB_EXPECT(v.index == int64_t(place));
    for (const kb::Indexed v : reduced<kb::ArgMin>(x, 64)) KB_EXPECT(v.index == int64_t(place));
  }
}

// Of equal values the first counts; also where all are what a maximum starts from.
KB_FEATURE(reduce_indices_of_ties) {
  std::vector<float> x = signed_values<float>(4000);
  for (const int i : {3999, 2047, 700}) {
    x[i] = 5;
    x[i - 1] = -5;
    for (const kb::Indexed v : reduced<kb::ArgMax>(x, 256)) KB_EXPECT(v.index == i && v.value == 5);
    for (const kb::Indexed v : reduced<kb::ArgMin>(x, 256)) {
      KB_EXPECT(v.index == i - 1 && v.value == -5);
    }
  }
  const std::vector<float> low(100, -infinity), high(100, infinity);
  for (const kb::Indexed v : reduced<kb::ArgMax>(low, 32)) KB_EXPECT(v.index == 0);
  for (const kb::Indexed v : reduced<kb::ArgMin>(high, 32)) KB_EXPECT(v.index == 0);
  const std::vector<float> zeros = make<float>(100, [](int i) { return i == 0 ? -0.f : 0.f; });
  for (const kb::Indexed v : reduced<kb::ArgMax>(zeros, 32)) KB_EXPECT(v.index == 0);
}

template <class T>
void moments_of_offset_values() {
  for (const int64_t n : sizes) {
    std::vector<T> x = signed_values<T>(n);
    // Far from zero, where a difference of sums would cancel.
    if (sizeof(T) == 4) {
      for (T& v : x) v = static_cast<T>(static_cast<float>(v) + 1000);
    }
    double mean = 0, squares = 0;
    for (const double v : as_double(x)) mean += v / static_cast<double>(n);
    for (const double v : as_double(x)) squares += (v - mean) * (v - mean);
    for (const kb::Moments m : reduced<kb::OnlineMoments>(x, 96)) {
      KB_EXPECT(m.count == n);
      KB_EXPECT(near(m.mean, mean, 1e-6));
      KB_EXPECT(near(m.squares, squares, 1e-4));
    }
  }
}

KB_FEATURE(reduce_moments) { KB_FOR_EACH_TYPE(moments_of_offset_values); }

template <class T>
void extent_of_values() {
  for (const int64_t n : sizes) {
    const std::vector<T> x = signed_values<T>(n);
    double max = -infinity, sum = 0;
    for (const double v : as_double(x)) max = std::max(max, v);
    for (const double v : as_double(x)) sum += std::exp(v - max);
    for (const kb::ExpSum e : reduced<kb::OnlineSoftmax>(x, 96)) {
      KB_EXPECT(e.max == max);
      KB_EXPECT(near(e.sum, sum));
    }
  }
}

KB_FEATURE(reduce_online_softmax) { KB_FOR_EACH_TYPE(extent_of_values); }

// Where PyTorch's softmax is NaN, the quotient is, too.
KB_FEATURE(reduce_online_softmax_of_odd_values) {
  for (const float odd : {infinity, nan_value}) {
    for (const size_t place : {0, 99, 199}) {
      std::vector<float> x(200, 1.f);
      x[place] = odd;
      for (const kb::ExpSum e : reduced<kb::OnlineSoftmax>(x, 64)) KB_EXPECT(std::isnan(e.sum));
    }
  }
  for (const kb::ExpSum e : reduced<kb::OnlineSoftmax>(std::vector<float>(200, -infinity), 64)) {
    KB_EXPECT(std::isnan(std::exp(-infinity - e.max) / e.sum));
  }
  // Thousands apart, without an overflow.
  std::vector<float> x(200, -3e4f);
  x[150] = 3e4f;
  for (const kb::ExpSum e : reduced<kb::OnlineSoftmax>(x, 64)) KB_EXPECT(e.sum == 1);
}

struct Pair {
  double value;
  short tag;
};
struct Lower {
  __device__ Pair operator()(Pair a, Pair b) const { return b.value < a.value ? b : a; }
};

// Any functor, on any type that can be copied.
__global__ void lowest_pair(Pair* out) {
  const Pair mine = {100. - threadIdx.x, static_cast<short>(threadIdx.x)};
  const Pair best = kb::combine(kb::Block{}, mine, Lower{}, Pair{1000, -1});
  if (threadIdx.x == 7) *out = best;
}

KB_FEATURE(reduce_any_functor) {
  std::vector<Pair> nothing(1);
  Buffer<Pair> out(nothing);
  lowest_pair<<<1, 96>>>(out);
  KB_LAUNCHED();
  KB_EXPECT(out.read()[0].value == 5 && out.read()[0].tag == 95);
}

template <class T>
void axes() {
  struct Shape {
    int outer, n, inner;
  };
  for (const Shape s :
       {Shape{1, 1, 1}, Shape{1, 5000, 1}, Shape{3, 300, 1}, Shape{2, 17, 33}, Shape{3, 100, 5},
        Shape{2, 1300, 3}, Shape{2, 700, 1025}}) {  // of the last two, blocks share rows
    const std::vector<T> x = signed_values<T>(s.outer * s.n * s.inner);
    const std::vector<double> from = as_double(x);
    const int count = s.outer * s.inner;
    Buffer<T> in(x), max(count, T(77.f));
    Buffer<float> sum(count, 77), mean(count, 77);
    Buffer<int64_t> place(count, -1);
    const T* start = static_cast<T*>(in);
    kb::launch_reduce_axis(nullptr, s.outer, s.n, s.inner, kb::Sum{}, kb::Same{},
                           static_cast<float*>(sum), start);
    kb::launch_reduce_axis(nullptr, s.outer, s.n, s.inner, kb::Sum{},
                           kb::DivideBy{static_cast<float>(s.n)}, static_cast<float*>(mean), start);
    kb::launch_reduce_axis(nullptr, s.outer, s.n, s.inner, kb::Max{}, kb::Same{},
                           static_cast<T*>(max), start);
    kb::launch_reduce_axis(nullptr, s.outer, s.n, s.inner, kb::ArgMax{}, kb::IndexOf{},
                           static_cast<int64_t*>(place), start);
    KB_LAUNCHED();
    for (int i = 0; i < count; ++i) {
      double total = 0, best = -infinity;
      int64_t at = 0;
      for (int j = 0; j < s.n; ++j) {
        const double v = from[(i / s.inner * s.n + j) * s.inner + i % s.inner];
        total += v;
        if (v > best) best = v, at = j;
      }
      KB_EXPECT(near(sum.read()[i], total));
      KB_EXPECT(near(mean.read()[i], total / s.n));
      KB_EXPECT(static_cast<float>(max.read()[i]) == best);
      KB_EXPECT(place.read()[i] == at);
    }
  }
}

KB_FEATURE(reduce_axes) { KB_FOR_EACH_TYPE(axes); }

template <class T>
void moments_of_rows() {
  constexpr int64_t rows = 3;
  for (const int64_t n : sizes) {
    const std::vector<T> x = signed_values<T>(rows * n);
    const std::vector<double> from = as_double(x);
    Buffer<T> in(x);
    Buffer<kb::Moments> out(std::vector<kb::Moments>(rows + 1, {77, 77, 77}));
    kb::launch_moments(nullptr, rows, n, static_cast<kb::Moments*>(out), static_cast<const T*>(in));
    KB_LAUNCHED();
    const std::vector<kb::Moments> got = out.read();
    for (int64_t row = 0; row < rows; ++row) {
      double mean = 0, squares = 0;
      for (int64_t i = 0; i < n; ++i) mean += from[row * n + i] / static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i) squares += std::pow(from[row * n + i] - mean, 2);
      KB_EXPECT(got[row].count == n);
      KB_EXPECT(near(got[row].mean, mean));
      KB_EXPECT(near(got[row].squares, squares));
    }
    KB_EXPECT(got[rows].count == 77);
  }
}

KB_FEATURE(reduce_rows_to_moments) { KB_FOR_EACH_TYPE(moments_of_rows); }

template <class T>
void softmax_of_rows() {
  constexpr int64_t rows = 3;
  for (const int64_t n : sizes) {
    const std::vector<T> x = signed_values<T>(rows * n);
    const std::vector<double> from = as_double(x);
    Buffer<T> in(x), out(rows * n + 1, T(77.f)), both(x);
    kb::launch_softmax(nullptr, rows, n, static_cast<T*>(out), static_cast<const T*>(in));
    kb::launch_softmax(nullptr, rows, n, static_cast<T*>(both),
                       static_cast<const T*>(static_cast<T*>(both)));
    KB_LAUNCHED();
    const std::vector<double> got = as_double(out.read()), in_place = as_double(both.read());
    for (int64_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += std::exp(from[row * n + i]);
      for (int64_t i = row * n; i < row * n + n; ++i) {
        const auto scale = static_cast<double>(n);  // so that results are of about 1
        KB_EXPECT(near(got[i] * scale, std::exp(from[i]) / sum * scale, unit<T>));
        KB_EXPECT(in_place[i] == got[i]);
      }
    }
    KB_EXPECT(got[rows * n] == 77);
  }
}

KB_FEATURE(softmax_of_rows_of_any_type) { KB_FOR_EACH_TYPE(softmax_of_rows); }

KB_FEATURE(reduce_no_rows) {
  kb::launch_moments(nullptr, 0, 5, static_cast<kb::Moments*>(nullptr),
                     static_cast<const float*>(nullptr));
  kb::launch_softmax(nullptr, 0, 5, static_cast<float*>(nullptr),
                     static_cast<const float*>(nullptr));
  KB_LAUNCHED();
}

struct SquaredError {
  __device__ float operator()(float p, float t) const { return (p - t) * (p - t); }
};

template <class T>
void losses() {
  for (const int64_t n : {int64_t{1}, int64_t{5000}, int64_t{70001}}) {
    const std::vector<T> p = signed_values<T>(n), t = signed_values<T>(n, 1);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double d = static_cast<float>(p[i]) - static_cast<float>(t[i]);
      sum += d * d;
    }
    Buffer<T> a(p), b(t);
    Buffer<float> loss(1, 77);
    kb::launch_sum(nullptr, n, SquaredError{}, n, static_cast<float*>(loss),
                   static_cast<const T*>(a), static_cast<const T*>(b));
    KB_LAUNCHED();
    KB_EXPECT(near(loss.read()[0], sum / static_cast<double>(n)));
  }
}

KB_FEATURE(reduce_everything) { KB_FOR_EACH_TYPE(losses); }

}  // namespace
