// Bytes that are no UTF-8 are escaped, too: what a terminal makes of them is its own affair. Tags
// are looked for at the end, since a dropped colour sequence may have stood within one.
#include "base/printable.h"

#include <algorithm>
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

struct Range {
  uint32_t first, last;
};

// Unicode 15: the categories Cf, Zl and Zp, and what is drawn as nothing though it is of another.
constexpr std::array<Range, 24> unseen = {
    {{0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},     {0x61c, 0x61c},
     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},
     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},
     {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},
     {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xffff},   {0x110bd, 0x110cd},
     {0x13430, 0x1345f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}}};

// The character that a valid sequence of two bytes or more stands for.
uint32_t code_point(std::string_view sequence) {
  const int bits_of_lead = 7 - static_cast<int>(sequence.size());
  uint32_t code = static_cast<uint8_t>(sequence[0]) & ((1u << bits_of_lead) - 1);
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<uint8_t>(c) & 0x3f);
  return code;
}

bool is_unseen(uint32_t code) {
  return std::any_of(unseen.begin(), unseen.end(), [code](const Range& range) {
    return code >= range.first && code <= range.last;
  });
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
    const uint32_t code = length > 1 ? code_point(line.substr(0, length)) : 0;
    if (is_unseen(code)) {
      std::array<char, 12> escaped;
      std::snprintf(escaped.data(), escaped.size(), "\\u{%04x}", code);
      result += escaped.data();
    } else {
      result += line.substr(0, length);
    }
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

std::string in_quotes(std::string_view words) {
  std::string quoted = printable(words);
  std::replace(quoted.begin(), quoted.end(), '"', '\'');
  return '"' + quoted + '"';
}

std::string marked_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    result += "| " + printable(text.substr(0, end)) + '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string_view first_bytes(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (text[most] & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace kb
