// For the runner: who wants to know in which order streams do their work.
#pragma once

#include <string>

#include "core.hpp"

#pragma GCC visibility push(default)
namespace kb::cpu {

/// Hears of what is done at once; what is captured into a graph is none of its business.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  virtual bool watches(cudaStream_t stream) = 0;
  /// @param kernel  "kernel 'k' at k.cu:12"; only for streams that it watches
  virtual void launched(const std::string& kernel, cudaStream_t stream) = 0;
  virtual void recorded(cudaEvent_t event, cudaStream_t stream) = 0;
  virtual void waits(cudaStream_t stream, cudaEvent_t event) = 0;
  virtual void host_waits(cudaStream_t stream) = 0;
  virtual void host_waits(cudaEvent_t event) = 0;
  virtual void host_waits_for_all() = 0;
};

/// Before anything is launched; it lives as long as the process.
void observe_streams(StreamObserver& observer);

}  // namespace kb::cpu
#pragma GCC visibility pop
