// CUDA C++ on the CPU: what a program sees as the CUDA runtime and the device built-ins.
#pragma once
#pragma GCC system_header

#include "cudacpu/qualifiers.hpp"

// nvcc's own header brings the C library in, and programs rely on it. In clang's syntax check it
// may be called from kernels; the C++ library, some of whose headers it includes, may not.
#include <cstddef>
#include <cstdint>
#if defined(__CUDA__)
#pragma clang force_cuda_host_device begin
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__CUDA__)
#pragma clang force_cuda_host_device end
#include <algorithm>
#include <memory>
#endif

#include <new>
#include <type_traits>
#include <utility>

#if defined(__CUDA__)
#pragma clang force_cuda_host_device begin
#endif

#include <assert.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cudacpu/core.hpp"

#if defined(__CUDA__)
#pragma clang force_cuda_host_device end
#endif
#include "cudacpu/api.hpp"  // not for kernels: there it would be a call of host code
#if defined(__CUDA__)
#pragma clang force_cuda_host_device begin
#endif

#include "cudacpu/atomics.hpp"
#include "cudacpu/math.hpp"
#include "cudacpu/warp.hpp"

#if defined(__CUDA__)
#pragma clang force_cuda_host_device end
#endif
