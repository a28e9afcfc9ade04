// Registers, spills, shared memory and stack of each kernel, from what `ptxas -v` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "build/sass.h"

namespace kb {

/// Resources of one kernel for one architecture.
struct KernelResources {
  std::string kernel;  ///< demangled
  std::string arch;    ///< such as "sm_90"
  uint32_t registers = 0;
  uint64_t spill_stores_bytes = 0;
  uint64_t spill_loads_bytes = 0;
  uint64_t shared_bytes = 0;      ///< static shared memory of a block
  uint64_t stack_bytes = 0;       ///< local memory of a thread
  std::optional<SassFacts> sass;  ///< none where there is no cuobjdump
};

/// Reads compiler output line by line and takes out the lines that `-Xptxas -v` added.
class PtxasReader {
 public:
  /// True if the line was one of ptxas' resource lines: it belongs in no diagnostics.
  bool take(std::string_view line);

  const std::vector<KernelResources>& kernels() const { return kernels_; }

 private:
  std::vector<KernelResources> kernels_;
  std::string entry_;           // mangled name of the kernel being described
  bool in_entry_ = false;       // the property lines that follow belong to that kernel
  bool expects_frame_ = false;  // the next line is "N bytes stack frame, ..."
};

}  // namespace kb
