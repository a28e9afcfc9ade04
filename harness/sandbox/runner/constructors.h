// A module's constructors, called when the runner chooses.
#pragma once

namespace kb::runner {

/// Calls what the loader has not seen (protocol/constructors.h) of a module that dlopen() gave.
void run_constructors(void* module);

}  // namespace kb::runner
