// Entry points that the sanitizers call when they find something.
#include "sanitizer.hpp"

#include "diagnostics.hpp"
#include "worker.hpp"

#if !defined(KB_SANITIZE_ADDRESS)

// Candidates are compiled with -fsanitize=alignment but not linked with a sanitizer's runtime: its
// one entry point is here, and ends the kernel as the GPU does.
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

#endif
