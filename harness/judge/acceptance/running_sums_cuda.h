// The running sums of rows on a GPU.
#pragma once

#include <cstdint>

typedef struct CUstream_st* cudaStream_t;

namespace kb {

/// Adds to each row's element of `losses` what the running sums of its parts lose.
/// @param terms   device pointer to rows x columns, row-major
/// @param losses  device pointer to a number for each row
/// @throws std::runtime_error on a CUDA error
void add_losses_of_device_rows(const double* terms, int64_t rows, int64_t columns, double* losses,
                               cudaStream_t stream);

}  // namespace kb
