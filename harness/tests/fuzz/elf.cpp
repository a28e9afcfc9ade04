// Bytes as the object and the module of a candidate: whoever audits them refuses or accepts them,
// and does nothing else.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cpu/cu2cpp/constants.hpp"
#include "sandbox/build/elf_file.h"
#include "sandbox/build/module_audit.h"
#include "sandbox/build/object_audit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  try {
    kb::read_elf(path);
  } catch (const std::runtime_error&) {  // all else is a mistake
  }
  kb::audit_object(path);
  kb::audit_module(path, {});
  kb::cu2cpp::constant_bytes(path);
  return 0;
}
