// Outputs of gigabytes are worked through in slices, on the device where they lie.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>

namespace kb {

/// So many elements take a hundred megabytes of fp64 at a time.
inline constexpr int64_t slice_elements = int64_t{1} << 24;

/// Calls work(first, count) on one slice after another of so many elements.
template <class Work>
void for_slices(int64_t elements, Work work, int64_t at_a_time = slice_elements) {
  for (int64_t first = 0; first < elements; first += at_a_time) {
    work(first, std::min(at_a_time, elements - first));
  }
}

/// Elements [first, first + count) in row-major order.
inline at::Tensor flat_slice(const at::Tensor& t, int64_t first, int64_t count) {
  return t.reshape(-1).narrow(0, first, count);
}

}  // namespace kb
