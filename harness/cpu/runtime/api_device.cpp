// The device's properties, and error reporting.
#include <cstdio>

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

#define KB_NAME(name, value, message) \
  case value:                         \
    return "cuda" #name;
#define KB_MESSAGE(name, value, message) \
  case value:                            \
    return message;
#define KB_ATTRIBUTE(name, number, field) \
  case cudaDevAttr##name:                 \
    *value = static_cast<int>(p.field);   \
    return result();

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) { KB_CUDA_ERRORS(KB_NAME) }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) { KB_CUDA_ERRORS(KB_MESSAGE) }
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

cudaError_t cudaDeviceReset() {
  set_sticky_error(cudaSuccess);
  return last_error = cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!properties) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  auto& p = *properties = {};
  std::snprintf(p.name, sizeof p.name, "KernelBench Native CPU backend");
  cudaMemGetInfo(nullptr, &p.totalGlobalMem);
  p.sharedMemPerBlock = limits::shared_per_block;
  p.sharedMemPerBlockOptin = limits::shared_per_block_optin;
  p.sharedMemPerMultiprocessor = limits::shared_per_multiprocessor;
  p.reservedSharedMemPerBlock = limits::shared_reserved;
  p.regsPerBlock = p.regsPerMultiprocessor = limits::registers;
  p.warpSize = 32;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = limits::threads_per_block;
  p.maxThreadsDim[2] = limits::block_z;
  p.maxGridSize[0] = limits::grid_x;
  p.maxGridSize[1] = p.maxGridSize[2] = limits::grid_yz;
  p.totalConstMem = limits::constant_memory;
  p.major = limits::capability_major;
  p.minor = limits::capability_minor;
  p.multiProcessorCount = limits::multiprocessors;
  p.maxThreadsPerMultiProcessor = limits::threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = limits::blocks_per_multiprocessor;
  p.concurrentKernels = p.unifiedAddressing = p.managedMemory = p.canMapHostMemory = 1;
  p.cooperativeLaunch = p.memoryPoolsSupported = p.asyncEngineCount = 1;
  p.memoryBusWidth = 64;
  p.l2CacheSize = 4 << 20;
  p.clockRate = 1000000;  // programs print it or divide by it
  return result();
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (!value) return result(cudaErrorInvalidValue);
  if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  switch (attribute) { KB_DEVICE_ATTRIBUTES(KB_ATTRIBUTE) }
  return result(cudaErrorInvalidValue);
}

}  // extern "C"
