// Text of candidates and their compilers, for terminals and files.
#pragma once

#include <string>
#include <string_view>

namespace kb {

/// `line` as valid UTF-8 without terminal control: colour sequences are dropped, other control
/// characters and bytes that are not UTF-8 become `\xNN`. So does the `<` of `<CTest` and `<Dart`:
/// CTest takes such tags for orders wherever a test prints them, and attaches the file that one
/// names, or the number that one claims, to what it sends to a dashboard.
std::string printable(std::string_view line);

/// The same for text of several lines.
std::string printable_text(std::string_view text);

/// At most the first `most` bytes of a printable text, and no half of a character.
std::string_view first_bytes(std::string_view text, size_t most);

}  // namespace kb
