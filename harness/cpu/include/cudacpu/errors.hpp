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
  X(ErrorInvalidDevicePointer, 17, "invalid device pointer")                                       \
  X(ErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                          \
  X(ErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")   \
  X(ErrorMissingConfiguration, 52, "__global__ function call is not configured")                   \
  X(ErrorInvalidDeviceFunction, 98, "invalid device function")                                     \
  X(ErrorNoDevice, 100, "no CUDA-capable device is detected")                                      \
  X(ErrorInvalidDevice, 101, "invalid device ordinal")                                             \
  X(ErrorInvalidKernelImage, 200, "device kernel image is invalid")                                \
  X(ErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")  \
  X(ErrorInvalidResourceHandle, 400, "invalid resource handle")                                    \
  X(ErrorIllegalState, 401, "the operation cannot be performed in the present state")              \
  X(ErrorNotReady, 600, "device not ready")                                                        \
  X(ErrorIllegalAddress, 700, "an illegal memory access was encountered")                          \
  X(ErrorLaunchOutOfResources, 701, "too many resources requested for launch")                     \
  X(ErrorLaunchTimeout, 702, "the launch timed out and was terminated")                            \
  X(ErrorAssert, 710, "device-side assert triggered")                                              \
  X(ErrorHardwareStackError, 714, "hardware stack error")                                          \
  X(ErrorIllegalInstruction, 715, "an illegal instruction was encountered")                        \
  X(ErrorMisalignedAddress, 716, "misaligned address")                                             \
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
  X(ErrorStreamCaptureImplicit, 906,                                                               \
    "operation would make the legacy stream depend on a capturing blocking stream")                \
  X(ErrorCapturedEvent, 907,                                                                       \
    "operation not permitted on an event last recorded in a capturing stream")                     \
  X(ErrorUnknown, 999, "unknown error")

enum cudaError {
#define KB_ENUMERATOR(name, value, message) cuda##name = value,
  KB_CUDA_ERRORS(KB_ENUMERATOR)
#undef KB_ENUMERATOR
};
typedef cudaError cudaError_t;
