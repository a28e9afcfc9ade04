// What CUDA's keywords mean to each of the three readers of these headers: cu2cpp, clang's CUDA
// syntax check, and a plain C++ compiler (the runner and other host code).
#pragma once
#pragma GCC system_header

#if defined(__CUDA__)  // clang++ -x cuda: real attributes, so that clang can check the calls
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define KB_DEVICE_FUNCTION __attribute__((host)) __attribute__((device))
#define __noinline__  // also leaves the library's __attribute__((__noinline__)) valid
// nvcc takes alignas also behind __shared__, clang only where it takes GCC's attribute, too.
namespace kb::cpu {
template <class T>
constexpr unsigned long alignment() {
  return alignof(T);
}
template <unsigned long bytes>
constexpr unsigned long alignment() {
  return bytes;
}
}  // namespace kb::cpu
#define alignas(...) __attribute__((aligned(::kb::cpu::alignment<__VA_ARGS__>())))
/// Functions between these two may be called from host code and from kernels.
#define KB_DEVICE_CODE_BEGIN _Pragma("clang force_cuda_host_device begin")
#define KB_DEVICE_CODE_END _Pragma("clang force_cuda_host_device end")
#elif defined(KB_CU2CPP)  // the keywords reach the rewriter as tokens
#define KB_DEVICE_FUNCTION
#else
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __grid_constant__
#define KB_DEVICE_FUNCTION
#endif

#if !defined(__CUDA__)
#define KB_DEVICE_CODE_BEGIN
#define KB_DEVICE_CODE_END
#endif
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#define CUDART_CB

/// Defined whenever CUDA code is compiled for the CPU.
#define KB_CPU_BACKEND 1
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
