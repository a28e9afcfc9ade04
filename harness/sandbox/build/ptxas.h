// Registers, spills, shared memory and stack of each kernel, from what `ptxas -v` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/build/sass.h"

namespace kb {

/// Resources of one kernel for one architecture.
struct KernelResources {
  std::string kernel;  ///< its symbol; in a record its name
  std::string arch;    ///< such as "sm_90"
  uint32_t registers = 0;
  uint64_t spill_stores_bytes = 0;
  uint64_t spill_loads_bytes = 0;
  uint64_t shared_bytes = 0;      ///< static shared memory of a block
  uint64_t stack_bytes = 0;       ///< local memory of a thread
  std::optional<SassFacts> sass;  ///< none where there is no cuobjdump
};

/// Reads compiler output line by line and takes out the lines that `-Xptxas -v` added. A source can
/// have the host's assembler print such lines, which comes later: the first line about a kernel
/// counts, and only so many kernels do.
class PtxasReader {
 public:
  static constexpr size_t most_kernels = 500;

  /// True if the line was one of ptxas' resource lines: it belongs in no diagnostics.
  bool take(std::string_view line);

  const std::vector<KernelResources>& kernels() const { return kernels_; }

 private:
  // True if it is one to be described.
  bool begin_kernel(std::string_view kernel, std::string_view arch);

  std::vector<KernelResources> kernels_;
  bool is_open_ = false;        // the last kernel is being described
  bool in_entry_ = false;       // the property lines that follow belong to that kernel
  bool expects_frame_ = false;  // the next line is "N bytes stack frame, ..."
};

/// Leaves those kernels whose symbols are somewhere in the bytes of an object: nvcc's names each of
/// its kernels to CUDA.
void keep_named(std::string_view object, std::vector<KernelResources>* kernels);

}  // namespace kb
