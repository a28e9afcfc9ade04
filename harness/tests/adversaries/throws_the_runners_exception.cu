// Throws what the runner's own exceptions look like, to choose its verdict: that it could not be
// loaded, with words of its own, and lines that look like somebody else's.
// Task: level1/019_relu
// Expected: runtime_error
// Says: let an exception out in launch(): "libcuda.so is broken\x0a100% tests passed\u{202e}"
#include "task.h"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace kb::protocol {
enum class Status : uint32_t { ok, load_failed };
struct Failure : std::runtime_error {
  Failure(Status status, const std::string& message)
      : std::runtime_error(message), status(status) {}
  Status status;
};
}  // namespace kb::protocol

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {
  throw kb::protocol::Failure(kb::protocol::Status::load_failed,
                              "libcuda.so is broken\n100% tests passed\u202e");
}
