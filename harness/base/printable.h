// Text of candidates and their compilers, for terminals and files.
#pragma once

#include <string>
#include <string_view>

namespace kb {

/// `line` as valid UTF-8 without terminal control: colour sequences are dropped, other control
/// characters and bytes that are not UTF-8 become `\xNN`; separators of lines and invisible
/// characters, which may hide or turn what follows, become `\u{NNNN}`. The `<` of `<CTest` and
/// `<Dart` becomes
/// `\x3c`: CTest takes such tags for orders wherever a test prints them, and attaches the file that
/// one names, or the number that one claims, to what it sends to a dashboard.
std::string printable(std::string_view line);

/// The same for text of several lines.
std::string printable_text(std::string_view text);

/// Words of a candidate's within a sentence of ours: one printable line in quotation marks, of
/// which the words hold none.
std::string in_quotes(std::string_view words);

/// Text of several lines of a candidate's among lines of ours: printable, and each line marked, so
/// that none looks like one that a judge, a test or a build tool has printed. Empty if it is.
std::string marked_lines(std::string_view text);

/// At most the first `most` bytes of a printable text, and no half of a character.
std::string_view first_bytes(std::string_view text, size_t most);

}  // namespace kb
