// IEEE half precision on the CPU.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
#include "cudacpu/narrow_float.hpp"

using __half = kb::cpu::Narrow<kb::cpu::Binary16>;
using __half2 = kb::cpu::Narrow2<kb::cpu::Binary16>;
using half = __half;
using half2 = __half2;
KB_DEVICE_CODE_BEGIN
KB_NARROW_CONVERSIONS(__half, __half2, half, half2)
KB_DEVICE_CODE_END
