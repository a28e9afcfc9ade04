// Streams and graphs. A stream runs its work at once; a captured stream records it instead.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "launch.hpp"

/// Work in the order of its capture, which is a valid order of the graph.
struct CUgraphExec_st {
  std::vector<std::function<cudaError_t()>> work;
};

struct CUgraph_st : CUgraphExec_st {};

namespace kb::cpu {

/// Indices into the work of a capture.
using Dependencies = std::set<std::size_t>;

/// What streams record from the beginning of a capture to its end.
struct Capture : CUgraphExec_st {
  bool invalid = false, ended = false;
  Dependencies leaves;  ///< on these no other work depends
};

}  // namespace kb::cpu

struct CUstream_st {
  std::shared_ptr<kb::cpu::Capture> capture;
  kb::cpu::Dependencies dependencies;  ///< of the next work that is captured
  bool is_origin = false;
};

struct CUevent_st {
  std::chrono::steady_clock::time_point time{};
  bool recorded = false;
  bool timed = true;
  std::shared_ptr<kb::cpu::Capture> capture;
  kb::cpu::Dependencies dependencies;  ///< of what waits for it
};

namespace kb::cpu {

/// Does `work` now, or adds it to the graph that `stream` is being captured into.
cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work);
/// Tells the observer of streams of a launch that is done at once.
void tell_launch(cudaStream_t stream, const Kernel& kernel, Site site);
/// Fails, and invalidates the capture, when `stream` is being captured, or any stream if it is the
/// default one: for calls that would wait.
cudaError_t reject_capture(cudaStream_t stream);

}  // namespace kb::cpu
