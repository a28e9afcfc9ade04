// What each launch of a candidate on a GPU passes through.
#pragma once

#include <cuda_runtime_api.h>

namespace kb::runner {

/// Notes the kernel and, where it matters, its stream.
void note_launch(const void* kernel, cudaStream_t stream);

}  // namespace kb::runner
