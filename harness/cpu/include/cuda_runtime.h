// CUDA C++ on the CPU: what a program sees as the CUDA runtime and the device built-ins.
#pragma once
#pragma GCC system_header

#include "cudacpu/qualifiers.hpp"

#if defined(__CUDA__)
#pragma clang force_cuda_host_device begin
#endif

// nvcc's own header brings these in, and programs rely on it.
#include <assert.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cudacpu/api.hpp"
#include "cudacpu/atomics.hpp"
#include "cudacpu/math.hpp"
#include "cudacpu/warp.hpp"

#if defined(__CUDA__)
#pragma clang force_cuda_host_device end
#endif
