// The judge believes nothing in the answer but that it came: text is bounded, numbers are checked.
#include "judge/session/runner_session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/printable.h"
#include "judge/session/module_copy.h"
#include "sandbox/build/module_audit.h"
#include "sandbox/protocol/descriptor.h"
#include "sandbox/protocol/futex.h"
#include "sandbox/protocol/isolation.h"

namespace kb {

using namespace std::chrono_literals;
using protocol::Op;
using protocol::Status;

struct RunnerSession::PageMemory {
  PageMemory() : fd(memfd_create("kb-page", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    void* memory = MAP_FAILED;
    // A runner that could shrink it would make this process fault.
    constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (ftruncate(fd.get(), sizeof(protocol::Page)) == 0 &&
        fcntl(fd.get(), F_ADD_SEALS, seals) == 0) {
      memory =
          mmap(nullptr, sizeof(protocol::Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    }
    if (memory == MAP_FAILED) {
      throw std::runtime_error(std::string("cannot create shared memory: ") + std::strerror(errno));
    }
    page = new (memory) protocol::Page();
    page->version = protocol::version;
  }
  ~PageMemory() { munmap(page, sizeof(protocol::Page)); }

  Descriptor fd;
  protocol::Page* page;
};

namespace {

std::string_view bounded(const char* text, size_t size) { return {text, strnlen(text, size)}; }

const char* words(Op op) {
  switch (op) {
    case Op::bind:
      return "while its buffers were opened";
    case Op::prepare:
      return "in prepare()";
    case Op::run:
    case Op::replay:
      return "in launch()";
    case Op::capture:
      return "in launch() under stream capture";
    case Op::wake:
    case Op::warm:
      return "between two units";
    default:
      return "while its module was loaded";
  }
}

}  // namespace

std::string CallBudget::allowed() const {
  std::ostringstream text;
  text.precision(3);
  text << own_s_ << " s and ten times the " << reference_s_ << " s of the reference's";
  return text.str();
}

RunnerSession::RunnerSession(const RunnerOptions& options, SharedMemory& memory)
    : options_(options), memory_(std::make_unique<PageMemory>()), page_(*memory_->page) {
  const Descriptor module = options.module.empty() ? Descriptor() : sealed_copy(options.module);
  ChildProcess::Options child;
  child.command = options.command;
  child.environment = options.environment;
  child.descriptors = {memory_->fd.get(), memory.descriptor()};
  if (module.get() >= 0) child.descriptors.push_back(module.get());
  child.directory = "/";
  child.cpu = options.cpu;
  process_ = std::make_unique<ChildProcess>(child);
}

RunnerSession::~RunnerSession() = default;

// The runner is trusted until it has loaded the module, so its word on its walls counts now or
// never.
void RunnerSession::load() {
  if (std::exchange(loaded_, true)) return;
  try {
    const protocol::Answer answer = call(Op::report, options_.start_timeout);
    isolation_ = protocol::to_string(protocol::Isolation{answer.layers_wanted, answer.layers_held});
  } catch (const Decided& failure) {
    throw std::runtime_error(std::string("a runner cannot start: ") + failure.what());
  }
  if (options_.required_isolation == "full" && isolation_ != "full") {
    throw std::runtime_error("full isolation is required, but this machine allows only " +
                             isolation_ + "; nothing untrusted was run");
  }
  trusted_code_ = process_->code_files();
  call(Op::load, options_.call_timeout);
  inspect();
}

void RunnerSession::inspect() const {
  if (options_.module.empty()) return;
  for (const std::string& file : process_->code_files()) {
    if (std::find(trusted_code_.begin(), trusted_code_.end(), file) != trusted_code_.end())
      continue;
    const std::string name = file.substr(file.rfind('/') + 1);
    // The CUDA driver loads parts of itself when they are needed.
    const bool driver = name.starts_with("libcuda.so") || name.starts_with("libnvidia-");
    if (driver || name.starts_with(module_copy_name) || may_need(name, ModulePolicy{})) continue;
    throw Decided(Verdict::policy_violation,
                  options_.who + " loaded a library at run time (" + name + ")");
  }
}

void RunnerSession::bind(const Task& task, const SizeBytes& sizes,
                         const std::vector<protocol::Tensor>& tensors) {
  load();
  protocol::Request& request = page_.request;
  TORCH_CHECK(tensors.size() <= protocol::max_tensors, task.name, " has too many tensors");
  TORCH_CHECK(sizes.size() <= sizeof request.sizes, task.name, " has too large a Sizes");
  request.weight_table = task.weight_table;
  request.sizes_bytes = static_cast<uint32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), request.sizes);
  request.tensor_count = static_cast<uint32_t>(tensors.size());
  std::copy(tensors.begin(), tensors.end(), request.tensors);
  call(Op::bind, options_.call_timeout);
}

std::optional<Preparing> RunnerSession::call_prepare() {
  const protocol::Answer answer = call(Op::prepare, options_.call_timeout);
  if (answer.prepared == 0) return std::nullopt;
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  return Preparing{seconds(), static_cast<int64_t>(std::min(answer.held_bytes, most))};
}

protocol::Answer RunnerSession::run(uint32_t first_slot, uint32_t slots) {
  page_.request.first_slot = first_slot;
  page_.request.slots = slots;
  return call(Op::run, options_.call_timeout);
}

std::string RunnerSession::capture(uint32_t first_slot, uint32_t slots) {
  page_.request.first_slot = first_slot;
  page_.request.slots = slots;
  has_replayed_ = false;
  std::string why;
  try {
    const protocol::Answer answer = call(Op::capture, options_.call_timeout);
    if (answer.status == Status::ok) return "";
    why = in_quotes(bounded(answer.message, sizeof answer.message));
  } catch (const Decided& ended) {
    if (ended.verdict != Verdict::runtime_error) throw;
    why = ended.what();
  }
  return options_.who + " cannot be captured as a graph: " + why;
}

void RunnerSession::wake(const std::function<void()>& meanwhile) {
  call(Op::wake, options_.call_timeout, meanwhile);
}

void RunnerSession::warm() { call(Op::warm, options_.call_timeout); }

protocol::Answer RunnerSession::replay() {
  const protocol::Answer answer = call(Op::replay, options_.call_timeout);
  has_replayed_ = true;
  return answer;
}

protocol::Answer RunnerSession::call(Op op, std::chrono::milliseconds timeout,
                                     const std::function<void()>& meanwhile) {
  doing_ = words(op);
  if (page_.done.load() != number_) {
    if (process_->ended()) gone();
    forged();
  }
  page_.request.op = op;
  asked_ = std::chrono::steady_clock::now();
  protocol::publish(page_.go, ++number_);
  if (meanwhile) meanwhile();
  // A runner that starts is not the candidate's yet.
  CallBudget* const budget = op == Op::report ? nullptr : options_.budget.get();
  await(number_, timeout, budget);
  answered_ = std::chrono::steady_clock::now();
  if (budget != nullptr) budget->add_call(seconds());
  const protocol::Answer answer = page_.answer;
  const std::string message = in_quotes(bounded(answer.message, sizeof answer.message));
  const std::string kernel = in_quotes(bounded(answer.kernel, sizeof answer.kernel));
  const std::string last_kernel =
      answer.kernel[0] == '\0' ? "" : "; last kernel launched: " + kernel;
  // A runner that counts backwards, or in NaN, tells no times.
  const bool times = answer.event_ms >= 0 && answer.off_stream_ms >= 0 &&
                     std::isfinite(answer.event_ms) && std::isfinite(answer.off_stream_ms);
  switch (answer.status) {
    case Status::ok:
      if (times) return answer;
      break;
    case Status::cannot_capture:
      if (op == Op::capture) return answer;
      break;
    case Status::load_failed:
      // A runner that could not start says so in its first answer, when nothing is loaded yet.
      if (op != Op::load && op != Op::report) break;
      fail(Verdict::compile_error, "the module cannot be loaded: " + message);
    case Status::cuda_error:
      end();  // what it printed last may still be on its way
      fail(Verdict::runtime_error,
           options_.who + " failed " + doing_ + " with " + message + last_kernel + last_words());
    case Status::off_stream:
      fail(Verdict::incorrect, options_.who + " " + message);
    case Status::exception:
      end();
      fail(Verdict::runtime_error, options_.who + " let an exception out " + doing_ +
                                       (answer.message[0] == '\0' ? "" : ": " + message) +
                                       last_kernel + last_words());
    case Status::protocol_error:
      break;
  }
  fail(Verdict::runtime_error, options_.who + " broke the protocol " + doing_);
}

void RunnerSession::fail(Verdict verdict, const std::string& evidence) const {
  if (options_.trusted) throw ReferenceFailed(evidence);
  throw Decided(verdict, evidence);
}

void RunnerSession::gone() {
  end();
  fail(Verdict::runtime_error, options_.who + " " + process_->how() + " " + doing_ + last_words());
}

void RunnerSession::forged() {
  end();
  fail(Verdict::cheat, options_.who + " forged a sequence number " + doing_);
}

void RunnerSession::await(uint32_t number, std::chrono::milliseconds timeout,
                          const CallBudget* budget) {
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + timeout;
  if (budget != nullptr) {
    const std::chrono::duration<double> left(budget->left_s());
    deadline = std::min(deadline, asked_ + std::chrono::duration_cast<Clock::duration>(left));
  }
  while (true) {
    const uint32_t done = protocol::wait_change(page_.done, number - 1, 20ms);
    if (done == number) return;
    if (done != number - 1) forged();
    if (process_->ended()) gone();
    if (std::chrono::steady_clock::now() >= deadline) too_slow(timeout);
  }
}

void RunnerSession::too_slow(std::chrono::milliseconds timeout) {
  end();
  const auto now = std::chrono::steady_clock::now();
  std::ostringstream text;
  if (now - asked_ >= timeout) {
    text << options_.who << " did not return within " << timeout.count() / 1000.0 << " s "
         << doing_;
  } else {
    options_.budget->add_call(std::chrono::duration<double>(now - asked_).count());
    text << "all calls of " << options_.who << " together took longer than "
         << options_.budget->allowed() << ", the last one " << doing_;
  }
  fail(Verdict::timeout, text.str() + last_words());
}

// The last line that the CPU layer reported a fault in, else the last line printed at all.
std::string RunnerSession::last_words() const {
  const std::string text = process_->output();
  std::string last, fault;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    last = line;
    if (line.starts_with("[kb-cpu] ") && !line.starts_with(cpu_warning)) fault = line;
  }
  if (!fault.empty()) last = fault;
  constexpr size_t enough = 600;
  if (last.size() > enough) last = last.substr(0, enough) + " ...";
  return last.empty() ? "" : ". It last printed: " + in_quotes(last);
}

void RunnerSession::end() { process_->kill(); }

}  // namespace kb
