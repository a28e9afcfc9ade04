// The part of the CUDA runtime API that runs on the CPU. Signatures, values and error codes are
// those of CUDA; streams are synchronous and in order.
#pragma once
#pragma GCC system_header

#include "core.hpp"
#include "errors.hpp"

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2
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
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrClusterLaunch = 120
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaHostRegisterReadOnly 0x08
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaIpcMemLazyEnablePeerAccess 0x01
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaOccupancyDefault 0x00
#define cudaCpuDeviceId ((int)-1)

struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  size_t reservedSharedMemPerBlock;
  int memoryPoolsSupported;
  int clusterLaunch;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
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
  int programmaticStreamSerializationAllowed;
  int priority;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
};

typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef void (*cudaHostFn_t)(void* user_data);
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void* user_data);

extern "C" {
KB_CPU_API const char* cudaGetErrorName(cudaError_t error);
KB_CPU_API const char* cudaGetErrorString(cudaError_t error);
KB_CPU_API cudaError_t cudaGetLastError();
KB_CPU_API cudaError_t cudaPeekAtLastError();

KB_CPU_API cudaError_t cudaGetDeviceCount(int* count);
KB_CPU_API cudaError_t cudaGetDevice(int* device);
KB_CPU_API cudaError_t cudaSetDevice(int device);
KB_CPU_API cudaError_t cudaSetDeviceFlags(unsigned flags);
KB_CPU_API cudaError_t cudaDeviceReset();
KB_CPU_API cudaError_t cudaDeviceSynchronize();
KB_CPU_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
KB_CPU_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
KB_CPU_API cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
KB_CPU_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
KB_CPU_API cudaError_t cudaCtxResetPersistingL2Cache();
KB_CPU_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
KB_CPU_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
KB_CPU_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
KB_CPU_API cudaError_t cudaDriverGetVersion(int* version);
KB_CPU_API cudaError_t cudaRuntimeGetVersion(int* version);
KB_CPU_API cudaError_t cudaProfilerStart();
KB_CPU_API cudaError_t cudaProfilerStop();

KB_CPU_API cudaError_t cudaMalloc(void** pointer, size_t bytes);
KB_CPU_API cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
KB_CPU_API cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
KB_CPU_API cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags = 1);
KB_CPU_API cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned flags = 0);
KB_CPU_API cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags);
KB_CPU_API cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags);
KB_CPU_API cudaError_t cudaHostUnregister(void* pointer);
KB_CPU_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
KB_CPU_API cudaError_t cudaFree(void* pointer);
KB_CPU_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
KB_CPU_API cudaError_t cudaFreeHost(void* pointer);
KB_CPU_API cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
KB_CPU_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                                const void* pointer);
KB_CPU_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
KB_CPU_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                       cudaMemcpyKind kind, cudaStream_t stream = nullptr);
KB_CPU_API cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                    size_t width, size_t height, cudaMemcpyKind kind);
KB_CPU_API cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                         size_t from_pitch, size_t width, size_t height,
                                         cudaMemcpyKind kind, cudaStream_t stream = nullptr);
KB_CPU_API cudaError_t cudaMemset(void* to, int value, size_t bytes);
KB_CPU_API cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                                       cudaStream_t stream = nullptr);
KB_CPU_API cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height);
KB_CPU_API cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width,
                                         size_t height, cudaStream_t stream = nullptr);
KB_CPU_API cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                            cudaStream_t stream = nullptr);
/// The handle carries a kb::cpu::IpcHandle (ipc.hpp).
KB_CPU_API cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle,
                                            unsigned flags);
KB_CPU_API cudaError_t cudaIpcCloseMemHandle(void* pointer);
KB_CPU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);

KB_CPU_API cudaError_t cudaStreamCreate(cudaStream_t* stream);
KB_CPU_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
KB_CPU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                    int priority);
KB_CPU_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
KB_CPU_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
KB_CPU_API cudaError_t cudaStreamQuery(cudaStream_t stream);
KB_CPU_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                           unsigned flags = 0);
KB_CPU_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                             void* user_data, unsigned flags);
KB_CPU_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                                          void* user_data);
KB_CPU_API cudaError_t cudaEventCreate(cudaEvent_t* event);
KB_CPU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
KB_CPU_API cudaError_t cudaEventDestroy(cudaEvent_t event);
KB_CPU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
KB_CPU_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
KB_CPU_API cudaError_t cudaEventQuery(cudaEvent_t event);
KB_CPU_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop);

KB_CPU_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
KB_CPU_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
KB_CPU_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
KB_CPU_API cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
KB_CPU_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                  const cudaGraphNode_t* dependencies, size_t count,
                                                  cudaGraph_t child);
KB_CPU_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                            unsigned long long flags = 0);
KB_CPU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
KB_CPU_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
KB_CPU_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
KB_CPU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
KB_CPU_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);
}

namespace kb::cpu {

// Kernel-specific calls find out which kernel a function pointer stands for by calling it: its
// body hands the kernel's record to the runtime instead of running anything.
KB_CPU_API void begin_identify();
KB_CPU_API Kernel* end_identify();
KB_CPU_API cudaError_t launch_stashed(dim3 grid, dim3 block, size_t dynamic_shared,
                                      cudaStream_t stream, bool cooperative, Site site);
KB_CPU_API cudaError_t launch_with(const cudaLaunchConfig_t& config, Site site);
KB_CPU_API cudaError_t set_attribute(Kernel* kernel, cudaFuncAttribute attribute, int value);
KB_CPU_API cudaError_t get_attributes(cudaFuncAttributes* attributes, Kernel* kernel);
KB_CPU_API cudaError_t max_active_blocks(int* blocks, int threads, size_t shared_bytes);
KB_CPU_API cudaError_t unknown_function(const char* call);
KB_CPU_API cudaError_t copy_symbol(void* symbol, size_t symbol_bytes, size_t offset, void* other,
                                   size_t bytes, bool to_symbol, cudaMemcpyKind kind,
                                   cudaStream_t stream);

template <class T>
T& zero_argument() {
  alignas(T) static char zeros[sizeof(T)] = {};
  return *reinterpret_cast<T*>(zeros);
}

template <class... P>
Kernel* identify(void (*kernel)(P...)) {
  begin_identify();
  kernel(zero_argument<std::decay_t<P>>()...);
  return end_identify();
}

template <class... P, std::size_t... I>
void call_packed(void (*kernel)(P...), void** arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::decay_t<P>*>(arguments[I])...);
}

}  // namespace kb::cpu

template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned flags = 1) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned flags = 0) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return kb::cpu::copy_symbol((void*)&symbol, sizeof symbol, offset, (void*)from, bytes, true, kind,
                              nullptr);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                    size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
  return kb::cpu::copy_symbol((void*)&symbol, sizeof symbol, offset, (void*)from, bytes, true, kind,
                              stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return kb::cpu::copy_symbol((void*)&symbol, sizeof symbol, offset, to, bytes, false, kind,
                              nullptr);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
  return kb::cpu::copy_symbol((void*)&symbol, sizeof symbol, offset, to, bytes, false, kind,
                              stream);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  *pointer = (void*)&symbol;
  return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  *bytes = sizeof symbol;
  return cudaSuccess;
}

template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_shared = 0, cudaStream_t stream = nullptr,
                             kb::cpu::Site site = kb::cpu::here()) {
  kb::cpu::call_packed(kernel, arguments, std::index_sequence_for<P...>());
  return kb::cpu::launch_stashed(grid, block, dynamic_shared, stream, false, site);
}
template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                        void** arguments, size_t dynamic_shared = 0,
                                        cudaStream_t stream = nullptr,
                                        kb::cpu::Site site = kb::cpu::here()) {
  kb::cpu::call_packed(kernel, arguments, std::index_sequence_for<P...>());
  return kb::cpu::launch_stashed(grid, block, dynamic_shared, stream, true, site);
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...),
                               A&&... arguments) {
  kernel(std::forward<A>(arguments)...);
  return kb::cpu::launch_with(*config, {"cudaLaunchKernelEx", 0});
}
template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value) {
  return kb::cpu::set_attribute(kb::cpu::identify(kernel), attribute, value);
}
template <class... P>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(P...)) {
  return kb::cpu::get_attributes(attributes, kb::cpu::identify(kernel));
}
template <class... P>
cudaError_t cudaFuncSetCacheConfig(void (*)(P...), cudaFuncCache) {
  return cudaSuccess;
}
template <class... P>
cudaError_t cudaFuncSetSharedMemConfig(void (*)(P...), cudaSharedMemConfig) {
  return cudaSuccess;
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*)(P...), int threads,
                                                          size_t dynamic_shared) {
  return kb::cpu::max_active_blocks(blocks, threads, dynamic_shared);
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void (*)(P...),
                                                                   int threads,
                                                                   size_t dynamic_shared,
                                                                   unsigned) {
  return kb::cpu::max_active_blocks(blocks, threads, dynamic_shared);
}
template <class... P>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, void (*)(P...),
                                               size_t dynamic_shared = 0, int limit = 0) {
  *block = limit > 0 && limit < 1024 ? limit : 1024;
  int resident = 0, multiprocessors = 0;
  kb::cpu::max_active_blocks(&resident, *block, dynamic_shared);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  *grid = resident * multiprocessors;
  return cudaSuccess;
}

// The same calls with an untyped pointer: which kernel it stands for cannot be known here.
inline cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t = 0,
                                    cudaStream_t = nullptr) {
  return kb::cpu::unknown_function("cudaLaunchKernel");
}
inline cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t = 0,
                                               cudaStream_t = nullptr) {
  return kb::cpu::unknown_function("cudaLaunchCooperativeKernel");
}
inline cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return kb::cpu::unknown_function("cudaFuncSetAttribute");
}
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*) {
  return kb::cpu::unknown_function("cudaFuncGetAttributes");
}
