// Entry points that the sanitizers call when they find something.
#include "sanitizer.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "diagnostics.hpp"
#include "worker.hpp"

namespace kb::cpu {
namespace {

[[maybe_unused]] std::string first_user_line(const char* frames, const char* end) {
  // One frame after the other, innermost first; those in the layer's own headers do not count.
  for (const char* frame = frames; frame < end && *frame; frame += std::strlen(frame) + 1)
    if (!std::strstr(frame, "/cudacpu/") && !std::strstr(frame, "/cub/")) {
      const char* slash = std::strrchr(frame, '/');
      return slash ? slash + 1 : frame;
    }
  return "an unknown place";
}

#if defined(KB_SANITIZE_ADDRESS) || defined(KB_SANITIZE_THREAD)
extern "C" void __sanitizer_symbolize_pc(void* pc, const char* format, char* out,
                                         std::size_t bytes);

std::string line_of(void* pc) {
  char frames[4096] = {};
  __sanitizer_symbolize_pc(pc, "%S", frames, sizeof frames - 2);
  return first_user_line(frames, frames + sizeof frames);
}
#endif

#if defined(KB_SANITIZE_THREAD)
struct Race {
  bool found = false;
  bool write[2];
  void* pc[2];
} race;
#endif

}  // namespace

#if defined(KB_SANITIZE_ADDRESS)

void watch_sanitizer() {
  __sanitizer_set_death_callback([] {
    Worker* worker = Worker::active();
    if (!worker || !__asan_report_present()) return;
    const std::string access = __asan_get_report_access_type() ? "write" : "read";
    report(std::string(__asan_get_report_description()) + " in " + worker->where() + ": " + access +
           " of " + std::to_string(__asan_get_report_access_size()) + " bytes at " +
           line_of(__asan_get_report_pc()));
  });
}

void on_undefined_behaviour(const char* kind, const char* message, const char* file, int line) {
  Worker* worker = Worker::active();
  if (!worker || !worker->in_lane()) return;
  const bool misaligned = kind && !std::strcmp(kind, "misaligned-pointer-use");
  fail(misaligned ? cudaErrorMisalignedAddress : cudaErrorIllegalAddress,
       std::string(message ? message : "undefined behaviour") + " at " +
           place({file ? file : "", line}));
}

#else

void watch_sanitizer() {}

#endif

#if defined(KB_SANITIZE_THREAD)

extern "C" {
int __tsan_get_report_data(void* report, const char** description, int* count, int* stacks,
                           int* accesses, int* locations, int* mutexes, int* threads, int* tids,
                           void** sleep, std::size_t sleep_size);
int __tsan_get_report_mop(void* report, std::size_t index, int* tid, void** address, int* size,
                          int* write, int* atomic, void** trace, std::size_t trace_size);
}

// Runs with TSan's locks held: remembers the addresses, the launch tells at its end.
void on_race(void* report) {
  if (race.found || !Worker::active()) return;
  const char* description = nullptr;
  int count, stacks, accesses = 0, locations, mutexes, threads, tids;
  void* sleep[1];
  __tsan_get_report_data(report, &description, &count, &stacks, &accesses, &locations, &mutexes,
                         &threads, &tids, sleep, 1);
  if (accesses < 2) return;
  bool atomic_partner = false, plain_read = false;
  for (int i = 0; i < 2; ++i) {
    int tid, size, write = 0, atomic = 0;
    void *address, *trace[2] = {};
    __tsan_get_report_mop(report, i, &tid, &address, &size, &write, &atomic, trace, 2);
    race.write[i] = write;
    race.pc[i] = trace[0];
    atomic_partner |= atomic != 0;
    plain_read |= !atomic && !write;
  }
  // A plain first read in front of a compare-and-swap loop is how CUDA programs start one.
  race.found = !(atomic_partner && plain_read);
}

std::string take_race() {
  if (!std::exchange(race.found, false)) return "";
  auto access = [](int i) {
    return std::string(race.write[i] ? "write at " : "read at ") + line_of(race.pc[i]);
  };
  return "data race: " + access(0) + " and " + access(1) +
         " by two threads without a barrier between them";
}

#else

std::string take_race() { return ""; }

#endif

}  // namespace kb::cpu

#if !defined(KB_SANITIZE_ADDRESS)

// Candidates are compiled with -fsanitize=alignment but not linked with a sanitizer's runtime: its
// one entry point is here, and ends the kernel as the GPU does. The compiler chose the names.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {

struct UbsanLocation {
  const char* file;
  unsigned line, column;
};
struct UbsanTypeMismatch {
  UbsanLocation location;
  const void* type;
  unsigned char log_alignment;
  unsigned char kind;
};

__attribute__((visibility("default"))) void __ubsan_handle_type_mismatch_v1(UbsanTypeMismatch* data,
                                                                            std::size_t address) {
  using namespace kb::cpu;
  const Site site{data->location.file ? data->location.file : "",
                  static_cast<int>(data->location.line)};
  const std::string sentence = "access to a misaligned address at " + place(site) + ": " +
                               std::to_string(1u << data->log_alignment) +
                               "-byte alignment is needed, " + "the address ends in " +
                               std::to_string(address % 64) + " (mod 64)";
  Worker* worker = Worker::active();
  if (worker && worker->in_lane()) fault(cudaErrorMisalignedAddress, sentence);
  report("on the host: " + sentence);
}

__attribute__((visibility("default"))) void __ubsan_handle_type_mismatch_v1_abort(
    UbsanTypeMismatch* data, std::size_t address) {
  __ubsan_handle_type_mismatch_v1(data, address);
}
}

// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#endif
