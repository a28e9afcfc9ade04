// What a runner gets of a candidate's module.
#pragma once

#include <filesystem>
#include <string>

#include "sandbox/protocol/descriptor.h"

namespace kb {

/// How the kernel lists the copy in a runner's maps.
inline constexpr const char* module_copy_name = "memfd:kb-candidate";

/// Takes the constructors of a shared object from the loader's sight (protocol/constructors.h).
/// @throws std::runtime_error if it is no 64-bit shared object
void hide_constructors(std::string& elf);

/// A copy in memory without visible constructors, that nobody can change any more and that shows no
/// path. @throws std::runtime_error
Descriptor sealed_copy(const std::filesystem::path& module);

}  // namespace kb
