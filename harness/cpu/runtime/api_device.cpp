// Devices, their properties, and error reporting.
#include <cstdio>
#include <cstring>

#include "device_limits.hpp"
#include "diagnostics.hpp"
#include "stream.hpp"

namespace kb::cpu {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

cudaError_t result(cudaError_t error) {
  if (sticky_error() != cudaSuccess) error = sticky_error();
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace kb::cpu

using namespace kb::cpu;

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define KB_CASE(name, value, message) \
  case value:                         \
    return "cuda" #name;
    KB_CUDA_ERRORS(KB_CASE)
#undef KB_CASE
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define KB_CASE(name, value, message) \
  case value:                         \
    return message;
    KB_CUDA_ERRORS(KB_CASE)
#undef KB_CASE
  }
  return "unrecognized error code";
}

cudaError_t cudaPeekAtLastError() {
  return sticky_error() != cudaSuccess ? sticky_error() : last_error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return result(cudaSuccess);
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return result(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaSetDeviceFlags(unsigned) { return result(cudaSuccess); }

cudaError_t cudaDeviceReset() {
  set_sticky_error(cudaSuccess);
  last_error = cudaSuccess;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() { return result(reject_any_capture()); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!properties) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  *properties = {};
  auto& p = *properties;
  std::snprintf(p.name, sizeof p.name, "KernelBench Native CPU backend");
  cudaMemGetInfo(nullptr, &p.totalGlobalMem);
  p.sharedMemPerBlock = limits::shared_per_block;
  p.sharedMemPerBlockOptin = limits::shared_per_block_optin;
  p.sharedMemPerMultiprocessor = limits::shared_per_multiprocessor;
  p.reservedSharedMemPerBlock = limits::shared_reserved;
  p.regsPerBlock = p.regsPerMultiprocessor = limits::registers;
  p.warpSize = 32;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = limits::threads_per_block;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = limits::threads_per_block;
  p.maxThreadsDim[2] = limits::block_z;
  p.maxGridSize[0] = limits::grid_x;
  p.maxGridSize[1] = p.maxGridSize[2] = limits::grid_yz;
  p.totalConstMem = 64 * 1024;
  p.major = limits::capability_major;
  p.minor = limits::capability_minor;
  p.multiProcessorCount = limits::multiprocessors;
  p.maxThreadsPerMultiProcessor = limits::threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = limits::blocks_per_multiprocessor;
  p.concurrentKernels = p.unifiedAddressing = p.managedMemory = p.canMapHostMemory = 1;
  p.cooperativeLaunch = p.memoryPoolsSupported = 1;
  p.asyncEngineCount = 1;
  p.memoryBusWidth = 64;
  p.l2CacheSize = 4 << 20;
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (!value) return result(cudaErrorInvalidValue);
  if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  switch (attribute) {
#define KB_ATTRIBUTE(name, field)       \
  case cudaDevAttr##name:               \
    *value = static_cast<int>(p.field); \
    return result(cudaSuccess);
    KB_ATTRIBUTE(MaxThreadsPerBlock, maxThreadsPerBlock)
    KB_ATTRIBUTE(MaxBlockDimX, maxThreadsDim[0])
    KB_ATTRIBUTE(MaxBlockDimY, maxThreadsDim[1])
    KB_ATTRIBUTE(MaxBlockDimZ, maxThreadsDim[2])
    KB_ATTRIBUTE(MaxGridDimX, maxGridSize[0])
    KB_ATTRIBUTE(MaxGridDimY, maxGridSize[1])
    KB_ATTRIBUTE(MaxGridDimZ, maxGridSize[2])
    KB_ATTRIBUTE(MaxSharedMemoryPerBlock, sharedMemPerBlock)
    KB_ATTRIBUTE(TotalConstantMemory, totalConstMem)
    KB_ATTRIBUTE(WarpSize, warpSize)
    KB_ATTRIBUTE(MaxRegistersPerBlock, regsPerBlock)
    KB_ATTRIBUTE(MultiProcessorCount, multiProcessorCount)
    KB_ATTRIBUTE(ConcurrentKernels, concurrentKernels)
    KB_ATTRIBUTE(GlobalMemoryBusWidth, memoryBusWidth)
    KB_ATTRIBUTE(L2CacheSize, l2CacheSize)
    KB_ATTRIBUTE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
    KB_ATTRIBUTE(UnifiedAddressing, unifiedAddressing)
    KB_ATTRIBUTE(ComputeCapabilityMajor, major)
    KB_ATTRIBUTE(ComputeCapabilityMinor, minor)
    KB_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor)
    KB_ATTRIBUTE(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)
    KB_ATTRIBUTE(ManagedMemory, managedMemory)
    KB_ATTRIBUTE(CooperativeLaunch, cooperativeLaunch)
    KB_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
    KB_ATTRIBUTE(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)
    KB_ATTRIBUTE(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock)
    KB_ATTRIBUTE(MemoryPoolsSupported, memoryPoolsSupported)
    KB_ATTRIBUTE(ClusterLaunch, clusterLaunch)
#undef KB_ATTRIBUTE
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      *value = 1000000;  // kHz; programs print it or divide by it
      return result(cudaSuccess);
  }
  return result(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  *value = limit == cudaLimitStackSize               ? 128 * 1024
           : limit == cudaLimitPersistingL2CacheSize ? 0
                                                     : 8 << 20;
  return result(cudaSuccess);
}

cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return result(cudaSuccess); }
cudaError_t cudaCtxResetPersistingL2Cache() { return result(cudaSuccess); }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return result(cudaSuccess); }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return result(cudaSuccess); }

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = 0;
  return result(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return result(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaProfilerStart() { return result(cudaSuccess); }
cudaError_t cudaProfilerStop() { return result(cudaSuccess); }

}  // extern "C"
