// The CUDA error codes that the CPU layer returns or that programs commonly test for.
#pragma once
#pragma GCC system_header

// name, value, message
#define KB_CUDA_ERRORS(X)                                                                          \
  X(Success, 0, "no error")                                                                        \
  X(ErrorInvalidValue, 1, "invalid argument")                                                      \
  X(ErrorMemoryAllocation, 2, "out of memory")                                                     \
  X(ErrorInitializationError, 3, "initialization error")                                           \
  X(ErrorCudartUnloading, 4, "driver shutting down")                                               \
  X(ErrorInvalidConfiguration, 9, "invalid configuration argument")                                \
  X(ErrorInvalidPitchValue, 12, "invalid pitch argument")                                          \
  X(ErrorInvalidSymbol, 13, "invalid device symbol")                                               \
  X(ErrorInvalidHostPointer, 16, "invalid host pointer")                                           \
  X(ErrorInvalidDevicePointer, 17, "invalid device pointer")                                       \
  X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                          \
  X(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")   \
  X(ErrorMissingConfiguration, 52, "__global__ function call is not configured")                   \
  X(ErrorInvalidDeviceFunction, 98, "invalid device function")                                     \
  X(ErrorNoDevice, 100, "no CUDA-capable device is detected")                                      \
  X(ErrorInvalidDevice, 101, "invalid device ordinal")                                             \
  X(ErrorInvalidKernelImage, 200, "device kernel image is invalid")                                \
  X(ErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")  \
  X(ErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")     \
  X(ErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")             \
  X(ErrorInvalidResourceHandle, 400, "invalid resource handle")                                    \
  X(ErrorIllegalState, 401, "the operation cannot be performed in the present state")              \
  X(ErrorSymbolNotFound, 500, "named symbol not found")                                            \
  X(ErrorNotReady, 600, "device not ready")                                                        \
  X(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                          \
  X(ErrorLaunchOutOfResources, 701, "too many resources requested for launch")                     \
  X(ErrorLaunchTimeout, 702, "the launch timed out and was terminated")                            \
  X(ErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                            \
  X(ErrorAssert, 710, "device-side assert triggered")                                              \
  X(ErrorHostMemoryAlreadyRegistered, 712,                                                         \
    "part or all of the requested memory range is already mapped")                                 \
  X(ErrorHostMemoryNotRegistered, 713,                                                             \
    "pointer does not correspond to a registered memory region")                                   \
  X(ErrorHardwareStackError, 714, "hardware stack error")                                          \
  X(ErrorIllegalInstruction, 715, "an illegal instruction was encountered")                        \
  X(ErrorMisalignedAddress, 716, "misaligned address")                                             \
  X(ErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")       \
  X(ErrorInvalidPc, 718, "invalid program counter")                                                \
  X(ErrorLaunchFailure, 719, "unspecified launch failure")                                         \
  X(ErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                  \
  X(ErrorNotPermitted, 800, "operation not permitted")                                             \
  X(ErrorNotSupported, 801, "operation not supported")                                             \
  X(ErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")        \
  X(ErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture") \
  X(ErrorStreamCaptureMerge, 902,                                                                  \
    "operation would result in a merge of separate capture sequences")                             \
  X(ErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")      \
  X(ErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                         \
  X(ErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")   \
  X(ErrorStreamCaptureImplicit, 906,                                                               \
    "operation would make the legacy stream depend on a capturing blocking stream")                \
  X(ErrorCapturedEvent, 907,                                                                       \
    "operation not permitted on an event last recorded in a capturing stream")                     \
  X(ErrorStreamCaptureWrongThread, 908,                                                            \
    "attempt to terminate a thread-local capture sequence from another thread")                    \
  X(ErrorGraphExecUpdateFailure, 910,                                                              \
    "the graph update was not performed because it included changes which violated constraints "   \
    "specific to instantiated graph update")                                                       \
  X(ErrorInvalidClusterSize, 912, "cluster misconfiguration")                                      \
  X(ErrorUnknown, 999, "unknown error")

enum cudaError {
#define KB_ENUMERATOR(name, value, message) cuda##name = value,
  KB_CUDA_ERRORS(KB_ENUMERATOR)
#undef KB_ENUMERATOR
};
typedef cudaError cudaError_t;
