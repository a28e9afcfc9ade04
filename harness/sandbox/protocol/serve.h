// The runner's side of the page: what a runner can do, and the loop that does it.
#pragma once

#include <cxxabi.h>

#include <stdexcept>
#include <string>

#include "sandbox/protocol/isolation.h"
#include "sandbox/protocol/page.h"

namespace kb::protocol {

/// Ends a request with a status other than ok.
struct Failure : std::runtime_error {
  Failure(Status status, const std::string& message)
      : std::runtime_error(message), status(status) {}
  Status status;
};

/// Within a handler: what the exception says of itself, "" if it says nothing.
std::string thrown();

/// Calls code that may throw anything, a Failure of its own making among it: whatever leaves it
/// becomes a Failure that says so.
template <class Call>
void call_foreign(const Call& call) {
  try {
    call();
  } catch (abi::__forced_unwind&) {
    throw;  // the end of a thread
  } catch (...) {
    throw Failure(Status::exception, thrown());
  }
}

/// What a runner itself sees of a run or replay, in milliseconds.
struct OwnTimes {
  float event = 0;       ///< between two events on its stream
  float off_stream = 0;  ///< from the end of its stream to that of all others
};

/// What preparing for new weights has shown.
struct Prepared {
  bool own = false;         ///< there is something to call
  uint64_t held_bytes = 0;  ///< of device memory that are taken since
};

/// Carries out requests: kb_runner for candidates, the reference runner for baselines.
class Executor {
 public:
  virtual ~Executor() = default;
  /// The layers that hold; a runner of trusted code wants none.
  virtual Isolation isolation() const { return {}; }
  /// Brings in the code that the other requests call.
  virtual void load() {}
  virtual void bind(const Request& request) = 0;
  /// Does once what need not be done per call while the weights keep their values.
  virtual Prepared prepare() = 0;
  /// Calls launch() on the slots and waits.
  virtual OwnTimes run(uint32_t first_slot, uint32_t slots) = 0;
  virtual void capture(uint32_t first_slot, uint32_t slots) = 0;
  virtual OwnTimes replay() = 0;
  /// Gets ready for the unit that is about to be timed, without doing any of its work.
  virtual void wake() = 0;
  /// Brings back code that a unit on the stream will run and wake() has not touched.
  virtual void warm() {}
  /// The kernel launched last, or "".
  virtual std::string last_kernel() const { return ""; }
};

/// Maps the page that the judge left in descriptor page_fd.
Page& inherited_page();

/// Serves requests until the judge ends this process or is gone. A Failure becomes the answer.
[[noreturn]] void serve(Page& page, Executor& executor);

/// Writes a Failure into the answer to the first request, for a runner that cannot start.
void refuse(Page& page, const Failure& failure);

}  // namespace kb::protocol
