// Sits between candidates and libcudart, as last_kernel_cuda.cpp does: this program's functions are
// found first when a module is loaded, tell what is done on streams, and pass the call on.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "sandbox/runner/last_kernel.h"
#include "sandbox/runner/launch_hook.h"
#include "sandbox/runner/stream_order.h"

#define KB_INTERPOSED __attribute__((visibility("default"))) cudaError_t

namespace {

using kb::runner::stream_order;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// What is captured into a graph does not run now.
bool is_capturing(cudaStream_t stream) {
  static const auto real = next<decltype(&cudaStreamIsCapturing)>("cudaStreamIsCapturing");
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return real(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

}  // namespace

namespace kb::runner {

void follow_streams() {}  // linked in, they do

void note_launch(const void* kernel, cudaStream_t stream) {
  note_kernel(kernel);
  if (!stream_order().watches(stream) || is_capturing(stream)) return;
  const std::string name = last_kernel();
  stream_order().launched(name.empty() ? "a kernel" : "kernel '" + name + "'", stream);
}

}  // namespace kb::runner

extern "C" {

KB_INTERPOSED cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                  void** args) {
  static const auto real = next<decltype(&cudaLaunchKernelExC)>("cudaLaunchKernelExC");
  if (config != nullptr) kb::runner::note_launch(function, config->stream);
  return real(config, function, args);
}

KB_INTERPOSED cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args,
                                          size_t shared, cudaStream_t stream) {
  static const auto real =
      next<decltype(&cudaLaunchCooperativeKernel)>("cudaLaunchCooperativeKernel");
  kb::runner::note_launch(function, stream);
  return real(function, grid, block, args, shared, stream);
}

KB_INTERPOSED cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  static const auto real = next<decltype(&cudaEventRecord)>("cudaEventRecord");
  stream_order().recorded(event, stream);
  return real(event, stream);
}

KB_INTERPOSED cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  static const auto real = next<decltype(&cudaEventRecordWithFlags)>("cudaEventRecordWithFlags");
  stream_order().recorded(event, stream);
  return real(event, stream, flags);
}

KB_INTERPOSED cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  static const auto real = next<decltype(&cudaStreamWaitEvent)>("cudaStreamWaitEvent");
  stream_order().waits(stream, event);
  return real(stream, event, flags);
}

KB_INTERPOSED cudaStreamSynchronize(cudaStream_t stream) {
  static const auto real = next<decltype(&cudaStreamSynchronize)>("cudaStreamSynchronize");
  stream_order().host_waits(stream);
  return real(stream);
}

KB_INTERPOSED cudaStreamQuery(cudaStream_t stream) {
  static const auto real = next<decltype(&cudaStreamQuery)>("cudaStreamQuery");
  const cudaError_t done = real(stream);
  if (done == cudaSuccess) stream_order().host_waits(stream);
  return done;
}

KB_INTERPOSED cudaEventQuery(cudaEvent_t event) {
  static const auto real = next<decltype(&cudaEventQuery)>("cudaEventQuery");
  const cudaError_t done = real(event);
  if (done == cudaSuccess) stream_order().host_waits(event);
  return done;
}

KB_INTERPOSED cudaEventSynchronize(cudaEvent_t event) {
  static const auto real = next<decltype(&cudaEventSynchronize)>("cudaEventSynchronize");
  stream_order().host_waits(event);
  return real(event);
}

KB_INTERPOSED cudaDeviceSynchronize() {
  static const auto real = next<decltype(&cudaDeviceSynchronize)>("cudaDeviceSynchronize");
  stream_order().host_waits_for_all();
  return real();
}

}  // extern "C"
