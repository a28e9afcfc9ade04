// What a runner does around its unit. Candidate's and reference's do the same: the judge takes off
// what an empty unit costs, and a call that only one side makes would speak for the other.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <string>

#include "sandbox/protocol/serve.h"

namespace kb::protocol {

/// @throws Failure with CUDA's words and what was being done
inline void check_cuda(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  throw Failure(Status::cuda_error, std::string(cudaGetErrorName(error)) + ": " +
                                        cudaGetErrorString(error) + " (" + doing + ")");
}

#ifdef KB_CUDA
void launch_empty_kernel(cudaStream_t stream);
#else
inline void launch_empty_kernel(cudaStream_t) {}  // on the CPU nothing has to be woken
#endif

class UnitClock {
 public:
  UnitClock() {
    check_cuda(cudaFree(nullptr), "initialising the device");
    check_cuda(cudaEventCreate(&start_), "creating an event");
    check_cuda(cudaEventCreate(&stop_), "creating an event");
    capture_empty_graph();
    int device = 0, kept_at_most = 0;
    check_cuda(cudaGetDevice(&device), "finding the device");
    check_cuda(cudaDeviceGetAttribute(&kept_at_most, cudaDevAttrMaxPersistingL2CacheSize, device),
               "asking for the cache");
    keeps_lines_ = kept_at_most > 0;
    check_cuda(cudaDeviceGetLimit(&fetch_bytes_, cudaLimitMaxL2FetchGranularity),
               "reading a limit");
  }
  ~UnitClock() {
    cudaGraphExecDestroy(empty_graph_);
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  UnitClock(const UnitClock&) = delete;  // one owner ends the events
  UnitClock& operator=(const UnitClock&) = delete;

  /// Goes the way of a unit with next to nothing in it, on a stream and as a graph. While a runner
  /// waits, the device goes to other processes and the driver's code leaves the caches; without
  /// this a unit would start tens of microseconds late, differently in each process. Before that
  /// the cache forgets what a unit of another process has asked it to keep, or how to fetch.
  void warm_up(cudaStream_t stream) {
    forget_cache_policies();
    for (int i = 0; i < warm_ups; ++i) {
      measure(stream, [&] {
        launch_empty_kernel(stream);
        check_cuda(cudaGraphLaunch(empty_graph_, stream), "waking the device");
      });
    }
  }

  /// Does the work, which queues kernels on the stream, and waits for the whole device.
  /// @throws Failure if a kernel could not start or did not end well
  template <class Work>
  OwnTimes time(cudaStream_t stream, Work work) {
    reset_cache_policy();
    return measure(stream, work);
  }

 private:
  static constexpr int warm_ups = 3;  // the first is the late one, what follows settles

  template <class Work>
  OwnTimes measure(cudaStream_t stream, Work work) {
    check_cuda(cudaEventRecord(start_, stream), "before launch()");
    work();
    check_cuda(cudaGetLastError(), "after launch()");
    check_cuda(cudaEventRecord(stop_, stream), "after launch()");
    // The stream first: a memory pool that shrinks at the end of its work is no work off it.
    check_cuda(cudaStreamSynchronize(stream), "while its kernels ran");
    const auto stream_done = std::chrono::steady_clock::now();
    check_cuda(cudaDeviceSynchronize(), "while its kernels ran");
    OwnTimes times;
    times.off_stream =
        std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - stream_done)
            .count();
    check_cuda(cudaEventElapsedTime(&times.event, start_, stop_), "reading an event");
    return times;
  }

  void capture_empty_graph() {
    cudaStream_t stream = nullptr;  // a default stream cannot be captured
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing");
    launch_empty_kernel(stream);
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(stream, &graph), "capturing");
    check_cuda(cudaGraphInstantiate(&empty_graph_, graph, 0), "capturing");
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  }

  void forget_cache_policies() const {
    if (keeps_lines_) check_cuda(cudaCtxResetPersistingL2Cache(), "resetting the cache");
    check_cuda(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, fetch_bytes_), "setting a limit");
  }

  // Lines that a unit asked the cache to keep would be warm for the next.
  static void reset_cache_policy() {
    size_t kept = 0;
    check_cuda(cudaDeviceGetLimit(&kept, cudaLimitPersistingL2CacheSize), "reading a limit");
    if (kept > 0) check_cuda(cudaCtxResetPersistingL2Cache(), "resetting the cache");
  }

  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  cudaGraphExec_t empty_graph_ = nullptr;
  bool keeps_lines_ = false;  ///< whether the device's cache can be asked to
  size_t fetch_bytes_ = 0;    ///< as the cache fetches before anybody has asked for something else
};

}  // namespace kb::protocol
