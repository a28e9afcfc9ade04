// How far an output is off, row by row, next to what LibTorch is off by: in two passes over it
// that keep nothing but sums, since outputs of gigabytes take long to read.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "judge/acceptance/on_both.h"

namespace kb {

/// Some elements of an output of T in row-major order, and what they should be: pointers to the
/// first of them, in one memory.
template <class T>
struct Elements {
  const T* got;
  const T* torch;
  const double* oracle;
  int64_t first;  ///< place in the output
  int64_t count;
  int64_t columns;  ///< elements of a row
};

KB_ON_BOTH inline bool is_nan(double v) { return v != v; }
KB_ON_BOTH inline bool is_finite(double v) { return fabs(v) <= DBL_MAX; }

/// The judge fills outputs with such bytes, which are NaN.
template <class T>
KB_ON_BOTH bool is_unwritten(const T& element) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&element);
  bool all = true;
  for (unsigned i = 0; i < sizeof element; ++i) all = all && bytes[i] == 0xFF;
  return all;
}

/// One element, as it is and as it should be.
struct Element {
  double value = 0;        ///< expected
  double off = 0;          ///< infinite where NaN or infinity stands elsewhere than it should
  double torch_off = 0;    ///< how far LibTorch is off
  bool known = false;      ///< finite, in LibTorch's result as well
  bool unwritten = false;  ///< still what the judge had put there; never right

  /// @param got, torch  float or a 16-bit type
  /// @param beyond        from where on a value is infinite in the output's type
  template <class T>
  KB_ON_BOTH Element(T got, double oracle, T torch, double beyond)
      : value(fabs(oracle) > beyond ? copysign(INFINITY, oracle) : oracle),
        unwritten(is_unwritten(got) && !is_nan(value)) {
    compare(static_cast<float>(got), static_cast<float>(torch));
    if (unwritten) off = INFINITY;
  }

 private:
  KB_ON_BOTH void compare(double got, double torch) {
    const bool special = !is_finite(value);
    if (is_finite(torch) == special) return;  // LibTorch says otherwise: nothing is known
    if (special) {
      if (is_nan(torch) != is_nan(value)) return;
      off = got == value || (is_nan(got) && is_nan(value)) ? 0 : INFINITY;
      return;
    }
    known = true;
    torch_off = fabs(torch - value);
    off = fabs(got - value);
    if (is_nan(off)) off = INFINITY;
  }
};

/// What the known elements of a row add up to.
struct RowSums {
  double value_squared = 0, torch_squared = 0, error_squared = 0;
  double largest_error = 0;
  int64_t known = 0;
  int64_t off = 0;  ///< elements of any kind that are off by more than the least limit

  KB_ON_BOTH void add(const RowSums& more) {
    value_squared += more.value_squared;
    torch_squared += more.torch_squared;
    error_squared += more.error_squared;
    largest_error = fmax(largest_error, more.largest_error);
    known += more.known;
    off += more.off;
  }
};

/// The first pass.
struct MeasureRows {
  using Sums = RowSums;
  double beyond;          ///< see Element
  double limit_of_value;  ///< the least limit, in units of the value

  template <class T>
  KB_ON_BOTH void add(RowSums& sums, T got, double oracle, T torch, int64_t) const {
    const Element e(got, oracle, torch, beyond);
    const double limit = e.known ? limit_of_value * fabs(e.value) : 0;
    if (e.off > limit) ++sums.off;
    if (!e.known) return;
    sums.value_squared += e.value * e.value;
    sums.torch_squared += e.torch_off * e.torch_off;
    sums.error_squared += e.off * e.off;
    sums.largest_error = fmax(sums.largest_error, e.off);
    ++sums.known;
  }
};

/// What a row's sample lets its elements be off by.
struct RowLimit {
  double moved_squared = 0;  ///< S^2 of Spread
  double per_value = 0;      ///< S^2 / Y^2
  bool says_nothing = false;
};

/// How far the elements of a row are off, of those of which something is known.
struct RowExcess {
  double error_squared = 0, largest_error = 0;
  double largest = 0;                            ///< in units of the element's limit
  double spread_squared = 0, spread_fourth = 0;  ///< sums over elements
  int64_t wrong = 0;

  KB_ON_BOTH void add(const RowExcess& more) {
    error_squared += more.error_squared;
    largest_error = fmax(largest_error, more.largest_error);
    largest = fmax(largest, more.largest);
    spread_squared += more.spread_squared;
    spread_fourth += more.spread_fourth;
    wrong += more.wrong;
  }
};

/// The second pass.
struct JudgeRows {
  using Sums = RowExcess;
  double beyond, largest_value;  ///< of the output's type
  double own_rounding;           ///< of the output, in units of the value
  double element_limit;          ///< in spreads
  const RowLimit* rows;          ///< of all of the output

  template <class T>
  KB_ON_BOTH void add(RowExcess& sums, T got, double oracle, T torch, int64_t row) const {
    Element e(got, oracle, torch, beyond);
    const RowLimit& of_row = rows[row];
    if (e.unwritten || (!e.known && e.off > 0)) {
      ++sums.wrong;
      sums.largest = INFINITY;
      return;
    }
    if (!e.known || of_row.says_nothing) return;
    const double value_squared = e.value * e.value;
    const double least = e.torch_off * e.torch_off + own_rounding * own_rounding * value_squared;
    const double limit =
        element_limit * sqrt(least + of_row.moved_squared + of_row.per_value * value_squared);
    // Two right results can lie on both sides of the type's largest value.
    const auto found = static_cast<double>(static_cast<float>(got));
    if (fabs(found) > DBL_MAX && (found > 0) == (e.value > 0) &&
        fabs(e.value) + limit >= largest_value) {
      e.off = 0;
    }
    sums.error_squared += e.off * e.off;
    sums.largest_error = fmax(sums.largest_error, e.off);
    sums.spread_squared += least;
    sums.spread_fourth += least * least;
    if (e.off > 0) sums.largest = fmax(sums.largest, e.off / limit);
    if (e.off > limit) ++sums.wrong;
  }
};

}  // namespace kb
