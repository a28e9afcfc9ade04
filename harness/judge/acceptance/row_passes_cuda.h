// The passes over rows on a GPU.
#pragma once

#include "judge/acceptance/row_passes.h"

typedef struct CUstream_st* cudaStream_t;

namespace kb {

/// Adds up the rows that elements lie in. T is float, __half or __nv_bfloat16; Pass is MeasureRows
/// or JudgeRows.
/// @param e     pointers to device memory
/// @param rows  device pointer to the sums of all rows of the output
/// @throws std::runtime_error on a CUDA error
template <class T, class Pass>
void pass_over_device_rows(const Elements<T>& e, const Pass& pass, typename Pass::Sums* rows,
                           cudaStream_t stream);

}  // namespace kb
