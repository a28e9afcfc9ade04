// Text of candidates and their compilers, for terminals and files.
#pragma once

#include <string>
#include <string_view>

namespace kb {

/// `line` as valid UTF-8 without terminal control: colour sequences are dropped, other control
/// characters and bytes that are not UTF-8 become `\xNN`.
std::string printable(std::string_view line);

/// The same for text of several lines.
std::string printable_text(std::string_view text);

}  // namespace kb
