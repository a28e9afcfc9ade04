// Files that line markers name. A source can write such markers itself, so that what they name may
// be anything.
#pragma once

#include <string>

namespace kb::cu2cpp {

/// The text of a regular file, as much of it as any header has; "" for what is none, such as the
/// working folder, "<built-in>", a pipe or a device.
std::string text_of(const std::string& name);

/// Its line `number`, counted from 1; "" where it ends before.
std::string line_of(const std::string& name, int number);

}  // namespace kb::cu2cpp
