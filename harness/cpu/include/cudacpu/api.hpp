// The part of the CUDA runtime API that runs on the CPU. Signatures, values and error codes are
// those of CUDA; streams are synchronous and in order. What needs state is a function of the
// library, everything else is written out here.
#pragma once
#pragma GCC system_header

#include "core.hpp"
#include "errors.hpp"

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxShared = 100,
  cudaSharedmemCarveoutMaxL1 = 0
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaMemAttachGlobal 0x01
#define cudaIpcMemLazyEnablePeerAccess 0x01
#define cudaOccupancyDefault 0x00
#define cudaOccupancyDisableCachingOverride 0x01
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaCpuDeviceId ((int)-1)

struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem;
  size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
  int major, minor, multiProcessorCount, warpSize;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
  int regsPerBlock, regsPerMultiprocessor;
  int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int integrated, canMapHostMemory, concurrentKernels, ECCEnabled, asyncEngineCount;
  int unifiedAddressing, managedMemory, cooperativeLaunch, memoryPoolsSupported, clusterLaunch;
  int pciBusID, pciDeviceID, pciDomainID;
  int clockRate;  // kHz, of core and memory; CUDA 13 has it as an attribute only
};

// name, value, where cudaDeviceGetAttribute finds it
#define KB_DEVICE_ATTRIBUTES(X)                                       \
  X(MaxThreadsPerBlock, 1, maxThreadsPerBlock)                        \
  X(MaxBlockDimX, 2, maxThreadsDim[0])                                \
  X(MaxBlockDimY, 3, maxThreadsDim[1])                                \
  X(MaxBlockDimZ, 4, maxThreadsDim[2])                                \
  X(MaxGridDimX, 5, maxGridSize[0])                                   \
  X(MaxGridDimY, 6, maxGridSize[1])                                   \
  X(MaxGridDimZ, 7, maxGridSize[2])                                   \
  X(MaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                    \
  X(TotalConstantMemory, 9, totalConstMem)                            \
  X(WarpSize, 10, warpSize)                                           \
  X(MaxRegistersPerBlock, 12, regsPerBlock)                           \
  X(ClockRate, 13, clockRate)                                         \
  X(MultiProcessorCount, 16, multiProcessorCount)                     \
  X(ConcurrentKernels, 31, concurrentKernels)                         \
  X(MemoryClockRate, 36, clockRate)                                   \
  X(GlobalMemoryBusWidth, 37, memoryBusWidth)                         \
  X(L2CacheSize, 38, l2CacheSize)                                     \
  X(MaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)     \
  X(UnifiedAddressing, 41, unifiedAddressing)                         \
  X(ComputeCapabilityMajor, 75, major)                                \
  X(ComputeCapabilityMinor, 76, minor)                                \
  X(MaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor) \
  X(MaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor)         \
  X(ManagedMemory, 83, managedMemory)                                 \
  X(CooperativeLaunch, 95, cooperativeLaunch)                         \
  X(MaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)         \
  X(MaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)      \
  X(MaxPersistingL2CacheSize, 108, persistingL2CacheMaxSize)          \
  X(ReservedSharedMemoryPerBlock, 111, reservedSharedMemPerBlock)     \
  X(MemoryPoolsSupported, 115, memoryPoolsSupported)                  \
  X(ClusterLaunch, 120, clusterLaunch)
enum cudaDeviceAttr {
#define KB_ENUMERATOR(name, value, field) cudaDevAttr##name = value,
  KB_DEVICE_ATTRIBUTES(KB_ENUMERATOR)
#undef KB_ENUMERATOR
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
struct cudaIpcMemHandle_t {
  char reserved[64];
};
enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed, priority;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef void (*cudaHostFn_t)(void* user_data);

enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic,
  cudaMemPoolReuseAllowInternalDependencies,
  cudaMemPoolAttrReleaseThreshold
};

#pragma GCC visibility push(default)
extern "C" {
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);

cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);
/// The handle carries a kb::cpu::IpcHandle (ipc.hpp).
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void* pointer);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count,
                                       cudaGraph_t child);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
}

namespace kb::cpu {

enum class MemoryKind { device, managed, pinned, ipc };

/// Stores an error for cudaGetLastError and returns it; a sticky error takes precedence.
cudaError_t result(cudaError_t error = cudaSuccess);
cudaError_t allocate(void** pointer, size_t bytes, MemoryKind kind);
cudaError_t launch_stashed(dim3 grid, dim3 block, size_t dynamic_shared, cudaStream_t stream,
                           bool cooperative, Site site);
cudaError_t launch_with(const cudaLaunchConfig_t& config, Site site);
cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value);
cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* function);
cudaError_t max_active_blocks(int* blocks, const void* function, int threads, size_t shared_bytes);
cudaError_t copy_symbol(const volatile void* symbol, size_t symbol_bytes, size_t offset,
                        const void* other, size_t bytes, bool to_symbol, cudaMemcpyKind kind,
                        cudaStream_t stream);

/// Calls a kernel's function, which stashes its body and the arguments for the launch that follows.
/// Without arguments it is given zeros, to find out which kernel it is.
using Caller = void (*)(const void* function, void** arguments);
/// Tells how to call the function that an untyped pointer stands for.
void remember(const void* function, Caller caller);
/// @return  false if nobody has told about this function
bool call_kernel(const void* function, void** arguments);

template <class T>
T& argument(void** arguments, std::size_t i) {
  alignas(T) static char zeros[sizeof(T)] = {};
  return *static_cast<T*>(arguments ? arguments[i] : zeros);
}
template <class... P, std::size_t... I>
Caller caller_of(void (*)(P...), std::index_sequence<I...>) {
  return [](const void* function, void** arguments) {
    reinterpret_cast<void (*)(P...)>(const_cast<void*>(function))(
        argument<std::decay_t<P>>(arguments, I)...);
  };
}

/// A cast to an untyped pointer. That of a function remembers its type.
template <class Void, class... P>
Void untyped(void (*function)(P...)) {
  remember((const void*)function, caller_of(function, std::index_sequence_for<P...>()));
  return (Void)function;
}
template <class Void, class T>
Void untyped(T&& value) {
  return (Void)value;
}

}  // namespace kb::cpu
#pragma GCC visibility pop

inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, kb::cpu::result(); }
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, kb::cpu::result(); }
inline cudaError_t cudaSetDevice(int device) {
  return kb::cpu::result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
inline cudaError_t cudaSetDeviceFlags(unsigned) { return kb::cpu::result(); }
inline cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  *value = limit == cudaLimitStackSize               ? 128 * 1024
           : limit == cudaLimitMaxL2FetchGranularity ? 64
           : limit == cudaLimitPersistingL2CacheSize ? 0
                                                     : 8 << 20;
  return kb::cpu::result();
}
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return kb::cpu::result(); }
inline cudaError_t cudaCtxResetPersistingL2Cache() { return kb::cpu::result(); }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return kb::cpu::result(); }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = *greatest = 0, kb::cpu::result();
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  return *version = CUDART_VERSION, kb::cpu::result();
}
inline cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
// Memory goes back at once when it is freed: there is a pool in name only.
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!pool || device != 0) return kb::cpu::result(cudaErrorInvalidValue);
  *pool = nullptr;
  return kb::cpu::result();
}
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  return kb::cpu::result(value ? cudaSuccess : cudaErrorInvalidValue);
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return kb::cpu::result(); }
inline cudaError_t cudaProfilerStart() { return kb::cpu::result(); }
inline cudaError_t cudaProfilerStop() { return kb::cpu::result(); }

#define KB_ALLOCATION(name, kind, ...)                                                             \
  template <class T>                                                                               \
  cudaError_t name(T** pointer, size_t bytes __VA_OPT__(, ) __VA_ARGS__) {                         \
    return kb::cpu::allocate(reinterpret_cast<void**>(pointer), bytes, kb::cpu::MemoryKind::kind); \
  }
KB_ALLOCATION(cudaMalloc, device)
// A captured allocation is made at once and lives until its captured free would run: the address
// must be known while the graph is being built.
KB_ALLOCATION(cudaMallocAsync, device, cudaStream_t)
KB_ALLOCATION(cudaMallocManaged, managed, unsigned = cudaMemAttachGlobal)
KB_ALLOCATION(cudaMallocHost, pinned, unsigned = 0)
KB_ALLOCATION(cudaHostAlloc, pinned, unsigned)
template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return *pitch = (width + 511) / 512 * 512, cudaMalloc(pointer, *pitch * height);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  return *device = static_cast<T*>(host), kb::cpu::result();
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind);
}
inline cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                                   cudaStream_t stream = nullptr) {
  return cudaMemset2DAsync(to, bytes, value, bytes, 1, stream);
}
inline cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return cudaMemsetAsync(to, value, bytes);
}
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) {
  return kb::cpu::result();
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags = cudaEventDefault) {
  return cudaEventCreateWithFlags(event, flags);
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                    size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
  return kb::cpu::copy_symbol(&symbol, sizeof symbol, offset, from, bytes, true, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
  return kb::cpu::copy_symbol(&symbol, sizeof symbol, offset, to, bytes, false, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return *pointer = (void*)&symbol, cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  return *bytes = sizeof symbol, cudaSuccess;
}

// Calls that name a kernel, by its function or by an untyped pointer to it.
#define KB_LAUNCH_CALL(name, cooperative)                                                 \
  template <class F>                                                                      \
  cudaError_t name(F* kernel, dim3 grid, dim3 block, void** arguments, size_t shared = 0, \
                   cudaStream_t stream = nullptr, KB_AT) {                                \
    kb::cpu::call_kernel(kb::cpu::untyped<const void*>(kernel), arguments);               \
    return kb::cpu::launch_stashed(grid, block, shared, stream, cooperative, site);       \
  }
KB_LAUNCH_CALL(cudaLaunchKernel, false)
KB_LAUNCH_CALL(cudaLaunchCooperativeKernel, true)
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...),
                               A&&... arguments) {
  kernel(std::forward<A>(arguments)...);
  return kb::cpu::launch_with(*config, {"cudaLaunchKernelEx", 0});
}
template <class F>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, F* kernel, void** arguments) {
  kb::cpu::call_kernel(kb::cpu::untyped<const void*>(kernel), arguments);
  return kb::cpu::launch_with(*config, {"cudaLaunchKernelExC", 0});
}
template <class F>
cudaError_t cudaFuncSetAttribute(F* kernel, cudaFuncAttribute attribute, int value) {
  return kb::cpu::set_attribute(kb::cpu::untyped<const void*>(kernel), attribute, value);
}
template <class F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, F* kernel) {
  return kb::cpu::get_attributes(attributes, kb::cpu::untyped<const void*>(kernel));
}
template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel*, cudaFuncCache) {
  return kb::cpu::result();
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F* kernel, int threads,
                                                          size_t dynamic_shared) {
  return kb::cpu::max_active_blocks(blocks, kb::cpu::untyped<const void*>(kernel), threads,
                                    dynamic_shared);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F* kernel,
                                                                   int threads,
                                                                   size_t dynamic_shared,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, dynamic_shared);
}
template <class F, class BytesOfBlock>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, F* kernel,
                                                           BytesOfBlock dynamic_shared,
                                                           int limit = 0) {
  cudaFuncAttributes attributes;
  if (cudaError_t error = cudaFuncGetAttributes(&attributes, kernel)) return error;
  const int most = attributes.maxThreadsPerBlock;
  *block = limit > 0 && limit < most ? limit : most;
  int resident = 0, multiprocessors = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, *block, dynamic_shared(*block));
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  return *grid = resident * multiprocessors, kb::cpu::result();
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel* kernel,
                                               size_t dynamic_shared = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [=](int) { return dynamic_shared; }, limit);
}
