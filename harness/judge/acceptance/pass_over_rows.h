// The passes over the rows of tensors.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "judge/acceptance/compare.h"
#include "judge/acceptance/row_passes.h"

namespace kb {

/// An output and what it should be, all of as many elements.
struct ComparedOutput {
  at::Tensor got;    ///< float or a 16-bit type
  at::Tensor torch;  ///< of the same type
  Oracle oracle;
  int64_t columns;    ///< elements of a row
  at::Device device;  ///< of the expected values: passes run there, wherever the others lie
};

/// The sums of each row.
std::vector<RowSums> pass_over_rows(const ComparedOutput& output, const MeasureRows& pass);

/// @param limits  of each row; takes the place of pass.rows
std::vector<RowExcess> pass_over_rows(const ComparedOutput& output, JudgeRows pass,
                                      const std::vector<RowLimit>& limits);

}  // namespace kb
