// Streams, events, stream capture and graphs.
#include <algorithm>
#include <atomic>
#include <cudacpu/observer.hpp>
#include <mutex>
#include <set>
#include <utility>

#include "diagnostics.hpp"
#include "stream.hpp"

namespace kb::cpu {
namespace {

std::mutex mutex;  // guards the sets and all capture pointers
std::atomic<StreamObserver*> watcher{nullptr};
std::set<cudaStream_t>& streams() {
  static auto* set = new std::set<cudaStream_t>;
  return *set;
}

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

bool is_valid(cudaStream_t stream) { return is_default(stream) || streams().count(stream); }

/// The capture that runs in any stream, or null.
std::shared_ptr<Capture> any_capture() {
  for (cudaStream_t stream : streams())
    if (stream->capture) return stream->capture;
  return nullptr;
}

/// Adds to the capture of `stream`.
void record(CUstream_st& stream, std::function<cudaError_t()> work) {
  Capture& capture = *stream.capture;
  for (const std::size_t each : stream.dependencies) capture.leaves.erase(each);
  stream.dependencies = {capture.work.size()};
  capture.leaves.insert(capture.work.size());
  capture.work.push_back(std::move(work));
}

}  // namespace

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  {
    std::lock_guard lock(mutex);
    if (!is_valid(stream)) return cudaErrorInvalidResourceHandle;
    if (is_default(stream)) {
      if (auto graph = any_capture()) {
        graph->invalid = true;
        report(
            "cudaErrorStreamCaptureImplicit: work was put into the default stream while another "
            "stream is being captured");
        return cudaErrorStreamCaptureImplicit;
      }
    } else if (stream->capture) {
      if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
      record(*stream, std::move(work));
      return cudaSuccess;
    }
  }
  return work();
}

void observe_streams(StreamObserver& observer) { watcher = &observer; }

void tell_launch(cudaStream_t stream, const Kernel& kernel, Site site) {
  StreamObserver* const observer = watcher;
  if (!observer || !observer->watches(stream)) return;
  {
    const std::lock_guard lock(mutex);
    if (!is_valid(stream) || (!is_default(stream) && stream->capture)) return;
  }
  observer->launched(std::string("kernel '") + kernel.name + "' at " + place(site), stream);
}

cudaError_t reject_capture(cudaStream_t stream) {
  std::lock_guard lock(mutex);
  if (!is_valid(stream)) return cudaErrorInvalidResourceHandle;
  auto graph = is_default(stream) ? any_capture() : stream->capture;
  if (!graph) return cudaSuccess;
  graph->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

}  // namespace kb::cpu

using namespace kb::cpu;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  if (!stream) return result(cudaErrorInvalidValue);
  *stream = new CUstream_st;
  std::lock_guard lock(mutex);
  streams().insert(*stream);
  return result();
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::lock_guard lock(mutex);
  if (is_default(stream) || !streams().erase(stream)) return result(cudaErrorInvalidResourceHandle);
  delete stream;
  return result();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (StreamObserver* observer = watcher) observer->host_waits(stream);
  return result(reject_capture(stream));
}

cudaError_t cudaDeviceSynchronize() {
  if (StreamObserver* observer = watcher) observer->host_waits_for_all();
  return result(reject_capture(nullptr));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!event) return result(cudaErrorInvalidResourceHandle);
  if (StreamObserver* observer = watcher) observer->waits(stream, event);
  std::lock_guard lock(mutex);
  if (!is_valid(stream)) return result(cudaErrorInvalidResourceHandle);
  if (event->capture && event->capture->ended) return result(cudaErrorCapturedEvent);
  if (event->capture && !is_default(stream)) {
    if (stream->capture && stream->capture != event->capture)
      return result(cudaErrorStreamCaptureMerge);
    stream->capture = event->capture;
    stream->dependencies.insert(event->dependencies.begin(), event->dependencies.end());
  }
  return result();
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return result(enqueue(stream, [=] {
    function(user_data);
    return cudaSuccess;
  }));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (!event) return result(cudaErrorInvalidValue);
  *event = new CUevent_st;
  (*event)->timed = !(flags & cudaEventDisableTiming);
  return result();
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!event) return result(cudaErrorInvalidResourceHandle);
  delete event;
  return result();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (!event) return result(cudaErrorInvalidResourceHandle);
  if (StreamObserver* observer = watcher) observer->recorded(event, stream);
  std::lock_guard lock(mutex);
  if (!is_valid(stream)) return result(cudaErrorInvalidResourceHandle);
  event->capture = is_default(stream) ? nullptr : stream->capture;
  event->dependencies = event->capture ? stream->dependencies : Dependencies();
  event->recorded = !event->capture;
  event->time = std::chrono::steady_clock::now();
  return result();
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (!event) return result(cudaErrorInvalidResourceHandle);
  if (StreamObserver* observer = watcher) observer->host_waits(event);
  return result(event->capture ? cudaErrorCapturedEvent : cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t stop) {
  if (!ms) return result(cudaErrorInvalidValue);
  if (!start || !stop || !start->recorded || !stop->recorded || !start->timed || !stop->timed)
    return result(cudaErrorInvalidResourceHandle);
  *ms = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return result();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  std::lock_guard lock(mutex);
  if (stream == nullptr || stream == cudaStreamLegacy)
    return result(cudaErrorStreamCaptureUnsupported);
  if (!is_valid(stream) || is_default(stream)) return result(cudaErrorInvalidResourceHandle);
  if (stream->capture) return result(cudaErrorIllegalState);
  stream->capture = std::make_shared<Capture>();
  stream->is_origin = true;
  return result();
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  std::lock_guard lock(mutex);
  if (!graph || is_default(stream) || !is_valid(stream)) return result(cudaErrorInvalidValue);
  auto captured = stream->capture;
  if (!captured) return result(cudaErrorIllegalState);
  if (!stream->is_origin) return result(cudaErrorStreamCaptureUnmatched);
  const Dependencies& joined = stream->dependencies;
  const bool all_joined =
      std::includes(joined.begin(), joined.end(), captured->leaves.begin(), captured->leaves.end());
  for (cudaStream_t each : streams()) {
    if (each->capture != captured) continue;
    each->capture = nullptr;
    each->dependencies.clear();
  }
  stream->is_origin = false;
  captured->ended = true;
  *graph = nullptr;
  if (captured->invalid) return result(cudaErrorStreamCaptureInvalidated);
  if (!all_joined) return result(cudaErrorStreamCaptureUnjoined);
  *graph = new CUgraph_st{{std::move(captured->work)}};
  return result();
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  std::lock_guard lock(mutex);
  if (!status || !is_valid(stream)) return result(cudaErrorInvalidValue);
  auto graph = is_default(stream) ? nullptr : stream->capture;
  *status = !graph           ? cudaStreamCaptureStatusNone
            : graph->invalid ? cudaStreamCaptureStatusInvalidated
                             : cudaStreamCaptureStatusActive;
  return result();
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  if (!graph) return result(cudaErrorInvalidValue);
  *graph = new CUgraph_st;
  return result();
}

// Work is done in the order in which it was added, which dependencies may only allow more of.
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t*, size_t, cudaGraph_t child) {
  if (!node || !graph || !child) return result(cudaErrorInvalidValue);
  graph->work.insert(graph->work.end(), child->work.begin(), child->work.end());
  *node = reinterpret_cast<cudaGraphNode_t>(graph);
  return result();
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (!exec || !graph) return result(cudaErrorInvalidValue);
  *exec = new CUgraphExec_st(*graph);
  return result();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!exec) return result(cudaErrorInvalidValue);
  return result(enqueue(stream, [work = exec->work] {
    for (const auto& each : work)
      if (cudaError_t error = each()) return error;
    return cudaSuccess;
  }));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!graph || !count) return result(cudaErrorInvalidValue);
  // Nodes have no handles of their own here; their number is what programs ask for.
  if (nodes) return result(cudaErrorNotSupported);
  *count = graph->work.size();
  return result();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return result();
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return result();
}

}  // extern "C"
