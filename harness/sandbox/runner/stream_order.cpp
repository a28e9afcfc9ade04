// Sets of work, handed on from streams to events and back.
#include "sandbox/runner/stream_order.h"

namespace kb::runner {
namespace {

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

}  // namespace

void StreamOrder::begin(cudaStream_t given) {
  const std::lock_guard lock(mutex_);
  given_ = given;
  work_.clear();
  before_.clear();
  behind_.clear();
  host_.clear();
  on_ = true;
}

std::string StreamOrder::end() {
  const std::lock_guard lock(mutex_);
  on_ = false;
  const Set& joined = before_[given_];
  for (std::size_t i = 0; i < work_.size(); ++i) {
    const auto& [kernel, on_default] = work_[i];
    if (joined.count(i) != 0 || (!on_default && host_.count(i) != 0)) continue;
    if (on_default) {
      return "starts " + kernel +
             " on the default stream, which does not wait for the given one: pass the given "
             "stream as the fourth argument, <<<grid, block, shared, stream>>>";
    }
    return "starts " + kernel +
           " on a stream that the given one does not wait for: record an event there and pass it "
           "to cudaStreamWaitEvent with the given stream, or launch on the given one";
  }
  return "";
}

void StreamOrder::launched(const std::string& kernel, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (!watches(stream)) return;
  before_[stream].insert(work_.size());
  work_.push_back({kernel, is_default(stream)});
}

void StreamOrder::recorded(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (on_) behind_[event] = before_[stream];
}

void StreamOrder::waits(cudaStream_t stream, cudaEvent_t event) {
  const std::lock_guard lock(mutex_);
  if (on_) add(before_[stream], behind_[event]);
}

void StreamOrder::host_waits(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (on_) add(host_, before_[stream]);
}

void StreamOrder::host_waits(cudaEvent_t event) {
  const std::lock_guard lock(mutex_);
  if (on_) add(host_, behind_[event]);
}

void StreamOrder::host_waits_for_all() {
  const std::lock_guard lock(mutex_);
  if (!on_) return;
  for (std::size_t i = 0; i < work_.size(); ++i) host_.insert(i);
}

StreamOrder& stream_order() {
  static auto* order = new StreamOrder;  // candidates may call functions while the process ends
  return *order;
}

}  // namespace kb::runner
