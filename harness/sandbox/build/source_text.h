// What is wrong with the text of a source before any compiler has seen it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kb {

/// What the text is encoded in, if that is not what compilers read: "UTF-16" or "UTF-32"; else "".
/// Known by the mark at the start, or by the zero bytes of what is mostly ASCII.
std::string_view foreign_encoding(std::string_view source);

/// The line of the first directive that says that what follows is another line or file (`#line`,
/// `# 1 "file"`), counted from 1; nothing without one. Comments and literals are no directives.
std::optional<int> line_directive(std::string_view source);

}  // namespace kb
