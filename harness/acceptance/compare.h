// The acceptance rule: an output is right if it is about as close to the fp64 oracle as the library
// is.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "acceptance/wrong_elements.h"
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
  double library_error = 0;
  double max_abs_error = 0;
  int64_t elements = 0;
  std::optional<Worst> worst;  ///< set if the output is wrong
};

/// How far an output may be from what is expected, in units that carry over to other inputs.
struct Tolerance {
  double relative = 0;       ///< of the 2-norm of the whole output
  double per_rms = 0;        ///< of each element, in units of the output's root mean square
  double per_value = 0;      ///< of each element, added in units of the expected element
  double library_error = 0;  ///< relative, for the report
};

/// What either of two allows; the library's error of the first.
Tolerance wider(const Tolerance& a, const Tolerance& b);

/// "y[3, 7] is 1.5 but must be 1.4 +- 1e-06; 12 of 96 elements are wrong, the first is y[0, 7],
/// only index 7 of dimension 1; relative error of the whole output ..." for an output that has a
/// worst element.
std::string describe_worst(const TensorSpec& spec, const Comparison& comparison);

/// The values that an output should have, in row-major order: at hand, or computed as they are
/// read.
class Expected {
 public:
  /// Elements [first, first + count).
  using Range = std::function<at::Tensor(int64_t first, int64_t count)>;

  Expected(const at::Tensor& whole);
  Expected(int64_t numel, Range range) : numel_(numel), range_(std::move(range)) {}

  int64_t numel() const { return numel_; }
  at::Tensor range(int64_t first, int64_t count) const { return range_(first, count); }

 private:
  int64_t numel_;
  Range range_;
};

/// The rule: relative error of the whole at most B = max(8 x the library's, 32 u); no element off
/// by more than max(8 x the library's worst, 12 B rms) + 4 B |expected|; u is the unit roundoff of
/// fp32 (6e-8), in which kernels for 16-bit types compute, too; for these B is at least 2 of their
/// own, for two roundings. 8 covers the spread between honest libraries, 32 u intrinsics of expf's
/// class; TF32 and bf16 operands are off by hundreds of u. Where all elements are as far off
/// as B allows, the worst of a billion is six to nine times farther, and one that a spike of the
/// inputs made large is off in proportion: right fp32 convolutions on an H200 had elements off by
/// 60 u of themselves at a third of B. Integers: equal.
/// @param library  the reference in the output's own precision
/// @param oracle   the reference in fp64
Tolerance tolerance_of(const TensorSpec& spec, const at::Tensor& library, const Expected& oracle);

/// The tolerance of outputs whose exact values are integers: half a unit in each element, or 8 x
/// the library's worst error if that is more; for 16-bit types half a unit and two roundings.
Tolerance exact_tolerance(const TensorSpec& spec, const at::Tensor& library,
                          const Expected& oracle);

/// Compares every element of `got`, which like the library's result may lie in the host's memory
/// while the oracle does not; NaN and infinity must stand exactly where `expected` has them. Where
/// `expected` is as near to the type's largest value as the tolerance reaches, infinity is right,
/// too.
Comparison compare_output(const TensorSpec& spec, const at::Tensor& got, const Expected& expected,
                          const Tolerance& tolerance);

/// For outputs that name a position (TensorSpec::argument_of): `got` is right where the input holds
/// the same value as at the oracle's position.
Comparison compare_argument(const TensorSpec& spec, const at::Tensor& got, const Expected& oracle,
                            const at::Tensor& input);

}  // namespace kb
