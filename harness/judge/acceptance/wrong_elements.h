// Which elements of an output are wrong, in words that help whoever wrote the kernel.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

#include "kb/tensors.h"

namespace kb {

/// An element at `index` of its output, as it is and as it must be.
struct WrongElement {
  std::vector<int64_t> index;
  double got = 0, expected = 0;
};

/// All wrong elements of one output.
struct WrongElements {
  int64_t count = 0;
  /// "all of them", or where they lie if that is simple: "only index 6 of dimension 0".
  std::string where;
  std::vector<WrongElement> first;  ///< at most five, in row-major order
};

/// The index of an element in row-major order.
std::vector<int64_t> unravel(int64_t flat, const Shape& shape);

/// Bool for each of the elements [first, first + count) in row-major order: whether it is wrong.
using WrongMarks = std::function<at::Tensor(int64_t first, int64_t count)>;

/// Counts and describes wrong elements, in slices on the device where the marks are made.
/// @param value  makes an element from its place in row-major order; `index` is filled in
WrongElements wrong_elements(const Shape& shape, const WrongMarks& wrong,
                             const std::function<WrongElement(int64_t flat)>& value);

}  // namespace kb
