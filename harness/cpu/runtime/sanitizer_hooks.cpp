// The sanitizers look for these functions in the executable, so they are compiled into each one.
#include <cstdint>

namespace kb::cpu {
void on_undefined_behaviour(const char* kind, const char* message, const char* file, int line);
void on_race(void* report);
}  // namespace kb::cpu

extern "C" {

#if defined(KB_SANITIZE_ADDRESS)
void __ubsan_get_current_report_data(const char** kind, const char** message, const char** file,
                                     unsigned* line, unsigned* column, char** address);

// Threads that a failed kernel leaves behind keep what they had allocated, so leaks mean nothing.
// Signals are left to the runtime, which ends the kernel instead of the process.
const char* __asan_default_options() {
  return "detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0:"
         "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
}

void __ubsan_on_report() {
  const char *kind = nullptr, *message = nullptr, *file = nullptr;
  unsigned line = 0, column = 0;
  char* address = nullptr;
  __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
  kb::cpu::on_undefined_behaviour(kind, message, file, static_cast<int>(line));
}
#elif defined(KB_SANITIZE_THREAD)
const char* __tsan_default_options() { return "report_thread_leaks=0:exitcode=0"; }

// The C library's lgamma writes a global that device code cannot see.
const char* __tsan_default_suppressions() { return "race:lgamma\nrace:lgammaf\n"; }

void __tsan_on_report(void* report) { kb::cpu::on_race(report); }
#endif
}
