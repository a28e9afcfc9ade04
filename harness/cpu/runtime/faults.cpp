// Hardware faults: tells what the address was, and ends the kernel instead of the process.
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction() is POSIX
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <sstream>

#include "device_memory.hpp"
#include "diagnostics.hpp"
#include "held_writes.hpp"
#include "sanitizer.hpp"
#include "worker.hpp"

#if defined(KB_HAVE_BACKTRACE) && \
    __has_include(<backtrace.h>)  // clang does not look where GCC does
#include <backtrace.h>
#else
#undef KB_HAVE_BACKTRACE
#endif

namespace kb::cpu {
namespace {

struct Fault {
  int signal;
  bool has_address;
  const void* address;
  const void* pc;
  bool write;
};
thread_local Fault current_fault;

std::string describe_address(const Fault& fault, const Fiber& fiber, cudaError_t& error) {
  error = cudaErrorIllegalAddress;
  const std::string access = fault.write ? "write" : "read";
  if (fiber.overflows_at(fault.address)) {
    error = cudaErrorHardwareStackError;
    return "stack overflow: local variables and calls of one thread need more than its stack";
  }
  if (!fault.has_address)
    return "access through an invalid pointer or a vector access to a misaligned address";
  if (reinterpret_cast<std::uintptr_t>(fault.address) < 4096)
    return access + " through a null pointer";
  std::string memory = Worker::active()->shared().describe(fault.address);
  if (memory.empty()) memory = DeviceMemory::instance().describe(fault.address);
  if (!memory.empty()) return access + " " + memory;
  std::ostringstream text;
  text << access << " of address " << fault.address << ", which is no memory of the device";
  return text.str();
}

/// " at file.cu:12" for a code address, or "" when the line is not known.
std::string at_line([[maybe_unused]] const void* pc) {
  std::string line;
#if defined(KB_HAVE_BACKTRACE)
  auto ignore = [](void*, const char*, int) {};
  static backtrace_state* state = backtrace_create_state(nullptr, 1, ignore, nullptr);
  backtrace_pcinfo(
      state, reinterpret_cast<std::uintptr_t>(pc),
      [](void* data, std::uintptr_t, const char* file, int number, const char*) {
        if (!file || std::strstr(file, "/cudacpu/")) return 0;  // inlined: the caller's line counts
        *static_cast<std::string*>(data) = " at " + place({file, number});
        return 1;
      },
      ignore, &line);
#endif
  return line;
}

// Continues on the stack of the CUDA thread that faulted, outside the signal handler.
void end_lane() {
  const Fault fault = current_fault;
  cudaError_t error = cudaErrorLaunchFailure;
  std::string sentence = "trap";
  if (fault.signal == SIGFPE) sentence = "integer division by zero";
  if (fault.signal == SIGSEGV || fault.signal == SIGBUS)
    sentence = describe_address(fault, Worker::active()->fiber(), error);
  kb::cpu::fault(error, sentence + at_line(fault.pc));
}

void on_fault(int signal, siginfo_t* info, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  Fault fault{signal, info->si_code > 0 && info->si_code != SI_KERNEL, info->si_addr, nullptr,
              false};
#if defined(__x86_64__)
  fault.pc =
      reinterpret_cast<const void*>(machine.gregs[REG_RIP]);  // NOLINT(performance-no-int-to-ptr)
  fault.write = machine.gregs[REG_ERR] & 2;
#elif defined(__aarch64__)
  fault.pc = reinterpret_cast<const void*>(machine.pc);
#endif
  Worker* worker = Worker::active();
  if (worker && worker->in_lane()) {
    if (worker->fiber().grow_to(fault.address)) return;
    if (HeldWrites::instance().open(fault.address)) return;
    current_fault = fault;
    const Fiber& fiber = worker->fiber();
    unpoison(fiber.stack, fiber.stack_bytes);
    // Nothing on the thread's stack is needed any more, so it starts over from the top: after a
    // stack overflow there is no room below.
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(fiber.stack) + fiber.stack_bytes;
    const std::uintptr_t top = end / 64 * 64 - 256;
#if defined(__x86_64__)
    machine.gregs[REG_RSP] = static_cast<greg_t>(top - 8);  // as if by a call
    machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(&end_lane);
#elif defined(__aarch64__)
    machine.sp = top;
    machine.pc = reinterpret_cast<std::uintptr_t>(&end_lane);
#endif
    return;
  }
  if (DeviceMemory::instance().owns(fault.address))
    report("device memory dereferenced on the host" + at_line(fault.pc) + ": " +
           (fault.write ? "write " : "read ") + DeviceMemory::instance().describe(fault.address));
  if (info->si_code <= 0) _exit(128 + signal);  // raise(): nothing would run again
  // The instruction runs again, and a fault that is blocked ends the process in the usual way. A
  // sandbox may let nobody change handlers any more.
  sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, signal);
}

void install() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigaction(signal, &action, nullptr);
}

}  // namespace

void watch_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    install();
    watch_sanitizer();
  });
  static thread_local bool prepared = false;
  if (prepared) return;
  prepared = true;
  constexpr std::size_t bytes = 65536;
  stack_t stack{};
  stack.ss_sp = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = bytes;
  if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, nullptr);
}

}  // namespace kb::cpu
