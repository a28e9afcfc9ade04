// CUDA C++ on the CPU: what a program sees as the CUDA runtime and the device built-ins.
#pragma once
#pragma GCC system_header

#include "cudacpu/qualifiers.hpp"

// nvcc's own header brings the C library in, and programs rely on it. In clang's syntax check it
// may be called from kernels; the C++ library, some of whose headers it includes, may not.
#include <cstddef>
#include <cstdint>
KB_DEVICE_CODE_BEGIN
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
KB_DEVICE_CODE_END
#if defined(__CUDA__)
#include <algorithm>
#include <memory>
#endif

#include <limits>
#include <new>
#include <type_traits>
#include <utility>

KB_DEVICE_CODE_BEGIN
#include <assert.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cudacpu/core.hpp"
KB_DEVICE_CODE_END
#include "cudacpu/api.hpp"  // not for kernels: there it would be a call of host code
KB_DEVICE_CODE_BEGIN
#include "cudacpu/atomics.hpp"
#include "cudacpu/math.hpp"
#include "cudacpu/warp.hpp"
KB_DEVICE_CODE_END
