// A conversation with one runner: start it, send requests with deadlines, turn its end into a
// verdict.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/result/verdict.h"
#include "judge/session/buffers.h"
#include "judge/session/process.h"
#include "kb/task.h"
#include "sandbox/protocol/page.h"

namespace kb {

/// How the CPU layer begins a line that warns.
inline constexpr std::string_view cpu_warning = "[kb-cpu] warning: ";

/// The time that all calls of one kernel may take together, whichever runners make them: some of
/// its own, and a multiple of what the judge's calls of the reference have taken so far.
class CallBudget {
 public:
  explicit CallBudget(double own_s) : own_s_(own_s) {}

  void add_call(double seconds) { spent_s_ += seconds; }
  void add_reference(double seconds) { reference_s_ += seconds; }
  double spent_s() const { return spent_s_; }
  double left_s() const { return own_s_ + times_reference * reference_s_ - spent_s_; }
  /// "60 s and ten times the 0.5 s of the reference's".
  std::string allowed() const;

 private:
  static constexpr int times_reference = 10;
  double own_s_, spent_s_ = 0, reference_s_ = 0;
};

/// How a runner is started and how long it may take.
struct RunnerOptions {
  std::vector<std::string> command;      ///< program and arguments
  std::vector<std::string> environment;  ///< "NAME=value"; a runner gets nothing else
  std::filesystem::path module;          ///< the runner gets a copy, as a descriptor
  std::string who = "the candidate";     ///< subject of the evidence
  bool trusted = false;                  ///< the project's own code: ReferenceFailed, not Decided
  std::string required_isolation;        ///< "full": less is an error before anything is loaded
  std::optional<int> cpu;                ///< the one core it may use; none: all
  std::chrono::milliseconds start_timeout{120'000};
  std::chrono::milliseconds call_timeout{10'000};
  std::shared_ptr<CallBudget> budget;  ///< of all calls together; none: no limit
};

/// What went wrong in the project's own code, with a candidate or without, decides nothing about
/// one.
struct ReferenceFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a candidate's prepare() took. Nothing is decided by it.
struct Preparing {
  double seconds = 0;      ///< by the judge's clock
  int64_t held_bytes = 0;  ///< of device memory, by the word of the candidate's own process
};

/// What goes wrong is Decided, or ReferenceFailed where the runner is trusted.
class RunnerSession {
 public:
  /// Starts the runner. @throws std::runtime_error if that fails on the judge's side
  RunnerSession(const RunnerOptions& options, SharedMemory& memory);
  ~RunnerSession();

  /// "full", "partial(<missing layers>)" or "basic", as the runner said before it loaded anything;
  /// empty before the first request.
  const std::string& isolation() const { return isolation_; }

  /// Waits until the runner is up, sees that its walls hold, and has it load the module, if that
  /// has not been done. @throws Decided
  void load();
  /// Hands over sizes and tensors. @throws Decided
  void bind(const Task& task, const SizeBytes& sizes, const std::vector<protocol::Tensor>& tensors);
  /// The weights have new values: has the candidate's prepare() called, if there is one, or the
  /// reference settle its weights. @return what prepare() took, where there is one
  /// @throws Decided
  std::optional<Preparing> call_prepare();
  /// launch() on slots [first, first + count) and wait. @return the answer. @throws Decided
  protocol::Answer run(uint32_t first_slot, uint32_t slots);
  /// Captures the same calls as a graph. @return "", or why they cannot be captured; a candidate
  /// may have ended over it, as one does that holds every error to be its last. @throws Decided
  std::string capture(uint32_t first_slot, uint32_t slots);
  protocol::Answer replay();
  /// Whether the graph that was captured last has run. Its first launch also brings it to the
  /// device, so that one is not to be timed.
  bool has_replayed() const { return has_replayed_; }
  /// Has the runner go the way of a unit with nothing in it, so that the device has turned to its
  /// process and code is in the caches when the clock starts.
  /// @param meanwhile what the judge does when the runner has been told, before it waits
  void wake(const std::function<void()>& meanwhile = {});
  /// Has the reference call its operators on something small: in a user's loop ATen's code is in
  /// the caches, too.
  void warm();

  /// Seconds from the last request to its answer, without what the judge does before and after.
  double seconds() const { return std::chrono::duration<double>(answered_ - asked_).count(); }

  /// Looks at what code the runner has in memory. Between two calls, outside of any timing.
  /// @throws Decided if there is a library that the candidate may not use
  void inspect() const;

  /// Says what went wrong, if it was this runner's doing. @throws Decided, or ReferenceFailed where
  /// it is trusted
  [[noreturn]] void fail(Verdict verdict, const std::string& evidence) const;

  /// Ends the runner; output() is complete afterwards.
  void end();
  std::string output() const { return process_->output(); }

 private:
  struct PageMemory;
  protocol::Answer call(protocol::Op op, std::chrono::milliseconds timeout,
                        const std::function<void()>& meanwhile = {});
  [[noreturn]] void gone();
  [[noreturn]] void forged();
  void await(uint32_t number, std::chrono::milliseconds timeout, const CallBudget* budget);
  [[noreturn]] void too_slow(std::chrono::milliseconds timeout);
  std::string last_words() const;

  RunnerOptions options_;
  std::unique_ptr<PageMemory> memory_;
  protocol::Page& page_;
  std::unique_ptr<ChildProcess> process_;
  uint32_t number_ = 0;
  std::chrono::steady_clock::time_point asked_, answered_;
  bool loaded_ = false;
  bool has_replayed_ = false;
  std::string isolation_;
  std::vector<std::string> trusted_code_;  ///< files mapped before the candidate was loaded
  std::string doing_;
};

}  // namespace kb
