// Sums of rows on the device, against a loop on the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>
#include <limits>

#include "../../cpu/conformance/conformance.h"
#include "judge/acceptance/row_passes_cuda.h"

using conformance::Buffer;
using conformance::make;
using kb::JudgeRows;
using kb::MeasureRows;
using kb::RowExcess;
using kb::RowLimit;
using kb::RowSums;

namespace {

constexpr double largest = std::numeric_limits<float>::max();
constexpr MeasureRows measure{largest, 1e-5};

struct Shape {
  int64_t rows, columns;
};
// Rows for warps and for blocks, of one chunk and of several, with and without a rest.
constexpr Shape shapes[] = {{1, 1}, {300, 3}, {7, 1024}, {3, 1025}, {2, 9000}, {1, 20001}};

template <class T>
struct Output {
  std::vector<T> got, torch;
  std::vector<double> oracle;
  Shape shape;

  explicit Output(Shape s) : shape(s) {
    const auto n = static_cast<size_t>(s.rows * s.columns);
    oracle = make<double>(n, [](int i) { return (i * 37 % 65 - 32) / 16.0 + 1e-4 * (i % 7); });
    got = make<T>(n, [&](int i) { return static_cast<float>(oracle[i] * (1 + 1e-3 * (i % 5))); });
    torch = make<T>(n, [&](int i) { return static_cast<float>(oracle[i]); });
    if (n < 100) return;
    got[3] = static_cast<T>(INFINITY);
    got[40] = static_cast<T>(NAN);
    oracle[50] = INFINITY, torch[50] = got[50] = static_cast<T>(INFINITY);
    oracle[60] = NAN, torch[60] = static_cast<T>(NAN);
    torch[70] = static_cast<T>(NAN);
    std::memset(&got[80], 0xFF, sizeof got[80]);
  }
};

template <class T, class Pass>
std::vector<typename Pass::Sums> on_host(const Output<T>& y, const Pass& pass) {
  std::vector<typename Pass::Sums> rows(y.shape.rows);
  for (size_t i = 0; i < y.oracle.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / y.shape.columns;
    pass.add(rows[row], y.got[i], y.oracle[i], y.torch[i], row);
  }
  return rows;
}

// In two parts that meet within a row.
template <class T, class Pass>
std::vector<typename Pass::Sums> on_device(const Output<T>& y, const Pass& pass) {
  using Sums = typename Pass::Sums;
  Buffer<T> got(y.got), torch(y.torch);
  Buffer<double> oracle(y.oracle);
  Buffer<Sums> rows(std::vector<Sums>(y.shape.rows));
  const auto all = static_cast<int64_t>(y.oracle.size()), middle = all / 2;
  for (const auto& [first, count] : {std::pair{int64_t{0}, middle}, {middle, all - middle}}) {
    const kb::Elements<T> part{static_cast<T*>(got) + first,
                               static_cast<T*>(torch) + first,
                               static_cast<double*>(oracle) + first,
                               first,
                               count,
                               y.shape.columns};
    kb::pass_over_device_rows(part, pass, static_cast<Sums*>(rows), nullptr);
    KB_LAUNCHED();
  }
  return rows.read();
}

bool same(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-12 * (std::abs(a) + std::abs(b));
}

template <class T>
void measures() {
  for (const Shape shape : shapes) {
    const Output<T> y(shape);
    const std::vector<RowSums> expected = on_host(y, measure), rows = on_device(y, measure);
    for (size_t i = 0; i < rows.size(); ++i) {
      KB_EXPECT(same(rows[i].value_squared, expected[i].value_squared));
      KB_EXPECT(same(rows[i].torch_squared, expected[i].torch_squared));
      KB_EXPECT(same(rows[i].error_squared, expected[i].error_squared));
      KB_EXPECT(rows[i].largest_error == expected[i].largest_error);
      KB_EXPECT(rows[i].known == expected[i].known);
      KB_EXPECT(rows[i].off == expected[i].off);
    }
  }
}

template <class T>
void judges() {
  for (const Shape shape : shapes) {
    const Output<T> y(shape);
    const auto limits = [&](int i) { return RowLimit{1e-6 * i, 1e-8, i % 3 == 1}; };
    std::vector<RowLimit> of_rows;
    for (int64_t i = 0; i < shape.rows; ++i) of_rows.push_back(limits(static_cast<int>(i)));
    JudgeRows pass{largest, largest, 0x1p-24, 8, of_rows.data()};
    const std::vector<RowExcess> expected = on_host(y, pass);
    Buffer<RowLimit> there(of_rows);
    pass.rows = there;
    const std::vector<RowExcess> rows = on_device(y, pass);
    for (size_t i = 0; i < rows.size(); ++i) {
      KB_EXPECT(same(rows[i].error_squared, expected[i].error_squared));
      KB_EXPECT(rows[i].largest_error == expected[i].largest_error);
      KB_EXPECT(same(rows[i].largest, expected[i].largest));
      KB_EXPECT(same(rows[i].spread_squared, expected[i].spread_squared));
      KB_EXPECT(same(rows[i].spread_fourth, expected[i].spread_fourth));
      KB_EXPECT(rows[i].wrong == expected[i].wrong);
    }
  }
}

KB_FEATURE(rows_are_measured) {
  measures<float>();
  measures<__half>();
  measures<__nv_bfloat16>();
}

KB_FEATURE(rows_are_judged) {
  judges<float>();
  judges<__half>();
  judges<__nv_bfloat16>();
}

}  // namespace
