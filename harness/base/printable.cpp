// Bytes that are no UTF-8 are escaped, too: what a terminal makes of them is its own affair. Tags
// are looked for at the end, since a dropped colour sequence may have stood within one.
#include "base/printable.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace kb {
namespace {

// Length of the UTF-8 sequence at the start of `s`, 0 if it is not valid (Unicode 15, table 3-7).
size_t utf8_sequence(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || s.size() < length) return 0;
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

// Length of a colour or erase sequence (ESC [ ... m or K) at the start of `s`, 0 if there is none.
size_t colour_sequence(std::string_view s) {
  if (!s.starts_with("\x1b[")) return 0;
  const size_t end = s.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && (s[end] == 'm' || s[end] == 'K') ? end + 1 : 0;
}

void escape_tags(std::string* text) {
  for (const std::string_view tag : {"<CTest", "<Dart"}) {
    for (size_t at = text->find(tag); at != std::string::npos; at = text->find(tag, at)) {
      text->replace(at, 1, "\\x3c");
    }
  }
}

}  // namespace

std::string printable(std::string_view line) {
  std::string result;
  result.reserve(line.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (!line.empty()) {
    if (const size_t skipped = colour_sequence(line)) {
      line.remove_prefix(skipped);
      continue;
    }
    const size_t length = utf8_sequence(line);
    const uint8_t byte = static_cast<uint8_t>(line.front());
    const bool control = length == 1 && (byte < 0x20 || byte == 0x7f) && byte != '\t';
    // U+0080 to U+009F are control characters as well; some terminals act on them.
    const bool high_control = length == 2 && byte == 0xc2 && static_cast<uint8_t>(line[1]) < 0xa0;
    if (length == 0 || control || high_control) {
      std::array<char, 5> escaped;
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte);
      result += escaped.data();
      line.remove_prefix(1);
      continue;
    }
    result += line.substr(0, length);
    line.remove_prefix(length);
  }
  escape_tags(&result);
  return result;
}

std::string printable_text(std::string_view text) {
  std::string result;
  while (true) {
    const size_t newline = text.find('\n');
    result += printable(text.substr(0, newline));
    if (newline == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(newline + 1);
  }
}

std::string_view first_bytes(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (text[most] & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace kb
