// How an output compares with what it should be, element by element and as a whole.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/acceptance/wrong_elements.h"
#include "kb/tensors.h"

namespace kb {

/// The element that breaks the rule most, or the one farthest off.
struct Worst {
  std::vector<int64_t> index;
  double expected = 0, got = 0, bound = 0;
  std::string reason;  ///< value, nan, unwritten, integer
  WrongElements all;   ///< none where only the output as a whole is off by too much
};

/// How one output compares. Errors are relative: ||v - oracle|| / ||oracle|| in the 2-norm.
struct Comparison {
  double error = 0;
  double bound = 0;
  double torch_error = 0;  ///< for the report
  int noisy_runs = 0;      ///< of the reference, that the limits follow from
  double max_abs_error = 0;
  int64_t elements = 0;
  std::optional<Worst> worst;  ///< set if the output is wrong
};

/// How far an output may be from what is expected, in units that carry over to other inputs.
struct Tolerance {
  double relative = 0;   ///< of the 2-norm of the whole output
  double per_rms = 0;    ///< of each element, in units of a root mean square: of the whole output
                         ///< (compare_output), or of the element's row (surely_right)
  double per_value = 0;  ///< of each element, added in units of the expected element
};

/// Infinities and NaN as zero: they are compared by position, and add nothing to sums.
at::Tensor finite(const at::Tensor& t);

/// What either of two allows.
Tolerance wider(const Tolerance& a, const Tolerance& b);

/// "y[3, 7] is 1.5 but must be 1.4 +- 1e-06; 12 of 96 elements are wrong, the first is y[0, 7],
/// only index 7 of dimension 1; relative error of the whole output ..." for an output that has a
/// worst element.
std::string describe_worst(const TensorSpec& spec, const Comparison& comparison);

/// The values that an output should have, by the reference in fp64 and in row-major order: at hand,
/// or computed as they are read. A check of timed calls (quick_check.h) has PyTorch's in their
/// place.
class Oracle {
 public:
  /// Elements [first, first + count).
  using Range = std::function<at::Tensor(int64_t first, int64_t count)>;

  Oracle(const at::Tensor& whole);
  Oracle(int64_t numel, Range range) : numel_(numel), range_(std::move(range)) {}

  int64_t numel() const { return numel_; }
  at::Tensor range(int64_t first, int64_t count) const { return range_(first, count); }

 private:
  int64_t numel_;
  Range range_;
};

/// The tolerance of outputs whose exact values are integers: half a unit in each element, or 8 x
/// LibTorch's worst error if that is more; for 16-bit types half a unit and two roundings.
Tolerance integer_tolerance(const TensorSpec& spec, const at::Tensor& torch, const Oracle& oracle);

/// What the elements of a slice should be, and how far they may be off.
struct Allowance {
  at::Tensor expected;  ///< fp64
  at::Tensor limit;     ///< of each element; infinite where nothing is known of it
  at::Tensor counted;   ///< bool: elements that belong to the error of the whole
  double squared = 0;   ///< sum of squares that counted elements may be off by, all together
  double fourth = 0;    ///< sum of the squares of what is summed there
};
/// Of the elements [first, first + count) in row-major order.
using Allowances = std::function<Allowance(int64_t first, int64_t count)>;

/// What all elements of an output add up to.
struct Totals {
  double error_squared = 0;    ///< of the elements that count for the whole
  double allowed_squared = 0;  ///< sums of Allowance's
  double allowed_fourth = 0;
  double worst_ratio = 0;  ///< largest error of an element, in units of its limit
  int64_t beyond = 0;      ///< elements beyond their limit
};

/// Whether no element, and not the output as a whole, is off by too much.
/// @param whole_from, strays  as for compare_slices()
bool is_right(const Totals& totals, double whole_from, int64_t strays);

/// Compares every element of `got`, which may lie in the host's memory while the expected ones do
/// not; NaN and infinity must stand exactly where they are expected. Where the expected value is as
/// near to the type's largest one as the limit reaches, infinity is right, too.
/// @param at_a_time    elements of a slice
/// @param strays       elements that may be beyond their limit, by less than twice; the whole leaves
///                     out as many of the largest errors
/// @param whole_from   elements that must have a say in the error of the whole for it to be judged:
///                     the square of the sum of what each may add, over the sum of squares
Comparison compare_slices(const TensorSpec& spec, const at::Tensor& got,
                          const Allowances& allowances, int64_t at_a_time, double whole_from = 0,
                          int64_t strays = 0);

/// The same as compare_slices() with one tolerance for all elements. Integers must be equal.
Comparison compare_output(const TensorSpec& spec, const at::Tensor& got, const Oracle& expected,
                          const Tolerance& tolerance);

/// For outputs that name a position (TensorSpec::argument_of): `got` is right where the input holds
/// the same value as at the oracle's position.
Comparison compare_argument(const TensorSpec& spec, const at::Tensor& got, const Oracle& oracle,
                            const at::Tensor& input);

}  // namespace kb
