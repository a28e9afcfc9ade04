// The acceptance rule: right is what rounding can produce. An output may be as far off as the
// roundings of its contract move it, and as LibTorch is.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "judge/acceptance/compare.h"
#include "judge/acceptance/pass_over_rows.h"
#include "kb/tensors.h"

namespace kb {

/// No element may be off by more than so many of its own spreads. Chosen together with
/// noise_amplitude and whole_limit: of 58,420 right results of 203 tasks under five contracts,
/// simulated, such limits call less than 10 wrong and catch 81 % of 7,076 wrong kernels;
/// harness/tests/acceptance/ wrong_kernels_test.cpp holds the shares by kind (docs/validity.md).
inline constexpr double element_limit = 8;
/// Of so many elements one may be off by up to twice as much: of 4,194,304 of an attention, honest
/// kernels had one or two at 9 to 11 spreads on an H200 in two of three judgings. The whole leaves
/// out so many, too: of 32,514,048 saturated outputs of a convolution in TF32, five took the other
/// end of tanh, within their limits, and were more than all that the whole may be off by.
inline constexpr int64_t elements_of_a_stray = int64_t{1} << 20;
/// No output may be off as a whole by more than so many spreads, if 16 elements or more have a say
/// in it.
inline constexpr double whole_limit = 3.5;

/// What LibTorch's error alone says of an output.
struct Screening {
  bool right = false;
  Comparison comparison;       ///< without a worst element
  std::vector<double> excess;  ///< of each row, unless it is right: how many times its limit the
                               ///< worst element is off; all of an output with fewer than two
                               ///< dimensions is one row
};

/// How far rounding moves each element of one output of one call: sigma^2 = S^2 + (S y / Y)^2 + m^2
/// + (r y)^2. S and Y are the root mean squares of moves and of values in the element's sample, m
/// is the element's own largest move, r one rounding of the output (16-bit: half). Moves are what
/// noisy runs differ by from the plain one in fp64; LibTorch's error is one more move. A sample
/// whose S is over Y / 16 says nothing, nor does an element where a noisy run or LibTorch is not
/// finite and the value is, or the other way round.
class Spread {
 public:
  /// From LibTorch's error alone, which can only be less than what rounding does: what it allows
  /// is right.
  /// @param torch       the reference in the output's own type
  /// @param oracle      the reference in fp64
  /// @param first_rows  where samples begin that are pooled, along dimension 0; nothing: each row
  /// of
  ///                    an output of two dimensions or more is a sample, and others are one
  Spread(TensorSpec spec, at::Tensor torch, Oracle oracle, std::vector<int64_t> first_rows = {});

  /// Makes room for what is kept of runs, 34 bytes per element, in the host's memory if wanted.
  /// Moves what is there. @throws c10::OutOfMemoryError
  void reserve(bool on_host);
  /// Adds a pair of noisy runs, which are mirror images: the whole output, in fp64.
  void add(const at::Tensor& one, const at::Tensor& other);

  /// As compare() before any run is added, which can only allow less than with runs. Quicker.
  Screening screen(const at::Tensor& got);
  Comparison compare(const at::Tensor& got);
  /// Whether any element is judged.
  bool says_something();
  /// What surely is within the rule for values of the same kind.
  Tolerance tolerance();

 private:
  struct Part;  // some elements, with what they move by
  Part part(int64_t first, int64_t count) const;
  Allowance allowance(int64_t first, int64_t count) const;
  at::Tensor spread_over(const at::Tensor& of_samples, int64_t first, int64_t count) const;
  void add_to_samples(at::Tensor& sums, const at::Tensor& numbers, int64_t first) const;
  int64_t at_a_time() const;  // elements; whole rows where they can be
  template <class Work>
  void for_parts(Work work) const;
  void pool();
  int64_t strays() const;
  void finish_pool(const at::Tensor& known);
  void pool_rows(const std::vector<RowSums>& rows);
  double torch_error(const RowSums& all);
  std::vector<RowSums> measure(const at::Tensor& got) const;
  ComparedOutput compared(const at::Tensor& got) const;

  TensorSpec spec_;
  at::Tensor torch_;
  Oracle oracle_;
  int64_t row_elements_ = 1;
  std::vector<int64_t> samples_of_rows_;
  at::Tensor sample_of_row_;  // the same, on the oracle's device
  int64_t samples_ = 1;
  int runs_ = 0;
  // Of the noisy runs, per element: sum of squared moves, largest squared move, and two bools.
  at::Tensor sum_squares_, largest_square_, wild_, tied_;
  at::Tensor first_one_, first_other_;            // moves of the first pair
  bool is_pooled_ = false;                        // what follows is of all runs
  at::Tensor moved_, value_;                      // S^2, Y^2 per sample
  at::Tensor dead_;                               // bool per sample: says nothing
  double moved_squared_ = 0, value_squared_ = 0;  // sums
  std::optional<double> torch_error_;             // once it is known
  bool was_right_at_once_ = false;
};

/// Values beyond a type's largest one, as infinity.
at::Tensor in_range(const at::Tensor& values, at::ScalarType type);

}  // namespace kb
