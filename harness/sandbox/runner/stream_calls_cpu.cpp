// On the CPU the layer itself tells what is done on streams.
#include <cudacpu/observer.hpp>

#include "sandbox/runner/stream_order.h"

namespace kb::runner {
namespace {

class Observer final : public cpu::StreamObserver {
  bool watches(cudaStream_t stream) override { return stream_order().watches(stream); }
  void launched(const std::string& kernel, cudaStream_t stream) override {
    stream_order().launched(kernel, stream);
  }
  void recorded(cudaEvent_t event, cudaStream_t stream) override {
    stream_order().recorded(event, stream);
  }
  void waits(cudaStream_t stream, cudaEvent_t event) override {
    stream_order().waits(stream, event);
  }
  void host_waits(cudaStream_t stream) override { stream_order().host_waits(stream); }
  void host_waits(cudaEvent_t event) override { stream_order().host_waits(event); }
  void host_waits_for_all() override { stream_order().host_waits_for_all(); }
};

}  // namespace

void follow_streams() {
  static auto* observer = new Observer;
  cpu::observe_streams(*observer);
}

}  // namespace kb::runner
