// bfloat16 on the CPU.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
#include "cudacpu/narrow_float.hpp"

using __nv_bfloat16 = kb::cpu::Narrow<kb::cpu::Brain16>;
using __nv_bfloat162 = kb::cpu::Narrow2<kb::cpu::Brain16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
KB_DEVICE_CODE_BEGIN
KB_NARROW_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
KB_DEVICE_CODE_END
