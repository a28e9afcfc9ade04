// Other sizes of a task that it takes: changes tried together, and those left out that it refuses.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "judge/acceptance/extents.h"
#include "kb/task.h"

namespace kb {

/// A value for some places of a task's Sizes at once, as SizeFields::set() takes it.
struct SizeChange {
  std::vector<Place> places;
  std::string value;
};

/// What other sizes may cost.
struct SizeLimits {
  int64_t elements = 0;  ///< of all tensors together
  double flops = 0;      ///< of the operators that are counted (operators.h)

  SizeLimits operator*(int64_t factor) const {
    return {elements * factor, flops * static_cast<double>(factor)};
  }
};

/// Elements and FLOPs of one call of a task at these sizes.
SizeLimits cost(const Task& task, const SizeBytes& sizes);

/// A number from `from` to `to`.
int64_t draw_between(int64_t from, int64_t to, at::Generator& rng);

/// The places of integers, or of real numbers. Flags are neither.
std::vector<Place> integer_places(const Task& task);
std::vector<Place> real_places(const Task& task);

class SizeSearch {
 public:
  SizeSearch(const Task& task, SizeLimits limits) : task_(task), limits_(limits) {}

  SizeBytes apply(const SizeBytes& sizes, const SizeChange& change) const;
  SizeBytes apply(SizeBytes sizes, std::span<const SizeChange> changes) const;

  /// Whether tensors() takes these sizes within the limit of elements, with as many weights as the
  /// kernel has parameters for. Cheap: the reference is not called.
  bool declares(const SizeBytes& sizes) const;
  /// Whether the reference takes them, too, within the limit of FLOPs.
  bool accepts(const SizeBytes& sizes) const;

  /// Other changes in the place of one that is refused at these sizes, the best ones first.
  using Others = std::function<std::vector<std::vector<SizeChange>>(const SizeBytes& sizes,
                                                                    const SizeChange& refused)>;
  /// `sizes`, which must be accepted, with as many of the changes as are accepted together.
  SizeBytes settle(const SizeBytes& sizes, std::span<const SizeChange> changes,
                   const Others& others) const;

 private:
  const Task& task_;
  SizeLimits limits_;
};

}  // namespace kb
