// Which sizes of a task only say how many there are of something: samples, rows, columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kb/task.h"

namespace kb {

/// Where a number stands in a task's Sizes.
struct Place {
  std::string field;
  size_t element = 0;  ///< of a field that is an array

  bool operator==(const Place&) const = default;
};

/// A size to which some tensors are proportional along some of their dimensions, and on which
/// nothing else depends. kernel_size is none, nor is the height of an image that a kernel crosses,
/// nor anything that the shape of a weight depends on.
struct Extent : Place {
  int64_t value = 0;
  /// For each of the task's tensors() the dimensions that are proportional to this size.
  std::vector<std::vector<int64_t>> dims;
};

/// The extents of a task at these sizes, in the order of their declaration.
std::vector<Extent> extents(const Task& task, const SizeBytes& sizes);

/// An extent, and those that must change with it.
using ExtentGroup = std::vector<Extent>;

/// The extents that can change alone, or with all others of their value: level1/100_hinge_loss
/// multiplies [n, n] with [n]. Each group is there once. Tried at the task's smoke sizes.
std::vector<ExtentGroup> extent_groups(const Task& task, const SizeBytes& sizes);

/// The integer at a place.
int64_t value_at(const Task& task, const SizeBytes& sizes, const Place& place);

/// These sizes with another integer at a place.
SizeBytes with_value(const Task& task, const SizeBytes& sizes, const Place& place, int64_t value);

/// These sizes with another value at a place, as SizeFields::set() takes it.
SizeBytes with_text(const Task& task, const SizeBytes& sizes, const Place& place,
                    const std::string& value);

/// Does the task take these (small) sizes, and does its reference then return what is declared?
bool accepts(const Task& task, const SizeBytes& sizes);

}  // namespace kb
