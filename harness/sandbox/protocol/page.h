// The page of memory through which a judge and a runner talk. Fixed size, no pointers, no text that
// anybody parses: a runner that has loaded a candidate is not trusted, and the judge reads nothing
// here that it does not range-check.
//
// The judge writes a request, then raises `go`. The runner acts, writes an answer, then raises
// `done` to the same number. A runner knows shapes, buffers and sequence numbers; no seeds, no
// paths, no counts of what is still to come, and is not told whether a call is checked, timed or
// both.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kb::protocol {

inline constexpr uint32_t version = 8;
inline constexpr int max_rank = 8;
inline constexpr int max_tensors = 1024;
inline constexpr int max_sizes_bytes = 512;
inline constexpr int max_name = 120;
inline constexpr int max_message = 512;

// Descriptors that a runner inherits; all others are closed.
inline constexpr int page_fd = 3;
inline constexpr int data_fd = 4;
inline constexpr int module_fd = 5;  ///< a sealed copy of the candidate's module

enum class Op : uint32_t {
  none,
  report,   ///< say which layers of isolation hold; asked while nothing untrusted is loaded
  load,     ///< load the candidate; from here on the runner is not trusted
  bind,     ///< open the buffers of `tensors`, forget the earlier ones
  prepare,  ///< the weights have new values: call prepare(), if the candidate has one
  run,      ///< call launch() on slots [first_slot, first_slot + slots), in order, and wait
  capture,  ///< capture the same calls as one graph
  replay,   ///< launch the captured graph and wait
  wake,     ///< get ready for a unit: go its way with nothing in it
  warm,     ///< the reference: call the operators on something small
};

enum class Status : uint32_t {
  ok,
  load_failed,     ///< the module could not be loaded; `message` is the loader's. To `load` alone
  cuda_error,      ///< `message` names it
  cannot_capture,  ///< launch() did something that cannot be captured
  off_stream,      ///< launch() started what its stream does not wait for; `message` says what
  protocol_error,  ///< the request made no sense to the runner
  exception,       ///< one left the code that was called; `message` is what it says of itself
};

enum class TensorRole : uint32_t { input, weight, output };

/// One tensor and the memory that holds it, one copy per slot (weights: one copy for all slots).
struct Tensor {
  char name[max_name];
  TensorRole role;
  uint32_t dtype;  ///< c10::ScalarType's number; the runner hands it on without reading it
  int32_t rank;
  int32_t slots;
  int64_t shape[max_rank];
  uint64_t bytes;        ///< of one copy
  uint64_t data_offset;  ///< of the first copy in the mapping
  uint64_t slot_stride;
  unsigned char handle[64];  ///< cudaIpcMemHandle_t
};

struct Request {
  Op op;
  uint32_t first_slot;
  uint32_t slots;
  uint32_t tensor_count;
  uint32_t weight_table;  ///< 1 if launch() takes the weights as one kb::Weights
  uint32_t sizes_bytes;
  alignas(16) unsigned char sizes[max_sizes_bytes];
  Tensor tensors[max_tensors];
};

struct Answer {
  Status status;
  uint32_t layers_wanted;  ///< protocol::Layer bits; answer to `report`
  uint32_t layers_held;
  float event_ms;       ///< a run or replay by events on the runner's stream; for diagnosis only
  float off_stream_ms;  ///< how long the device went on after the runner's stream was done
  uint32_t prepared;    ///< 1 if the candidate has a prepare(); answer to `prepare`
  uint64_t held_bytes;  ///< of device memory that are taken since it was called; for diagnosis only
  char message[max_message];
  char kernel[max_message];  ///< the last kernel launched before something failed, if known
};

struct Page {
  uint32_t version;
  alignas(64) std::atomic<uint32_t> go;
  Request request;
  alignas(64) std::atomic<uint32_t> done;
  Answer answer;
};

static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace kb::protocol
