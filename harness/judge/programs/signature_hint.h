// Advice for the commonest mistake of all.
#pragma once

#include <string>

namespace kb {

/// What to do, in brackets, if a compiler says that task::launch or task::prepare is declared
/// otherwise than in task.h; else "". Compilers name the function for any error within it, too.
std::string signature_hint(const std::string& diagnostics);

}  // namespace kb
