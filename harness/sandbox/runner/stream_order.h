// What a call of launch() starts on other streams than the given one, and whether that one waits.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace kb::runner {

/// Follows one call. What it starts on a stream of its own is joined when the given stream waits
/// for an event recorded behind it, or the host has waited. The default stream starts before the
/// given one has done what comes before, so there the host's waiting does not help. For diagnosis:
/// a candidate could go around it.
class StreamOrder {
 public:
  void begin(cudaStream_t given);
  /// What is not joined, for the evidence: "starts kernel 'k' on ...", with the remedy. Or "".
  std::string end();

  /// Whether work on this stream is to be told. Asked at each launch, so it takes no lock.
  bool watches(cudaStream_t stream) const { return on_ && stream != given_; }

  // What the call does; does nothing between end() and begin().
  void launched(const std::string& kernel, cudaStream_t stream);
  void recorded(cudaEvent_t event, cudaStream_t stream);
  void waits(cudaStream_t stream, cudaEvent_t event);
  void host_waits(cudaStream_t stream);
  void host_waits(cudaEvent_t event);
  void host_waits_for_all();

 private:
  struct Work {
    std::string kernel;
    bool on_default;
  };
  using Set = std::set<std::size_t>;  ///< indices into work_
  void add(Set& to, const Set& from) { to.insert(from.begin(), from.end()); }

  std::mutex mutex_;
  std::atomic<bool> on_{false};
  std::atomic<cudaStream_t> given_{nullptr};
  std::vector<Work> work_;
  std::map<cudaStream_t, Set> before_;  ///< what comes before the stream's next work
  std::map<cudaEvent_t, Set> behind_;   ///< what an event was recorded behind
  Set host_;                            ///< what the host has waited for
};

/// The one that the functions which candidates call tell.
StreamOrder& stream_order();

/// Has these functions tell it, where they do not do so by themselves.
void follow_streams();

}  // namespace kb::runner
