// What becomes of a mutant, of a task's answer (kb_validity) or of a kernel (kb_mutate).
#pragma once

namespace kb {

enum class Fate {
  killed,      ///< it was refused
  survived,    ///< it was accepted
  equivalent,  ///< it was accepted, and is no mistake: what it changes has no effect
  unreached,   ///< it was accepted, and the kernel does not get there at the sizes of the CPU
  invalid,     ///< it does not compile, or the task cannot be judged: it says nothing
};

/// "killed", "survived", ...: the words of reports.
const char* to_string(Fate fate);

}  // namespace kb
