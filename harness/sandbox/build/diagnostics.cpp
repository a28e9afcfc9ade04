// Line splitting, escaping and capping of compiler output that a hostile source may have chosen.
#include "sandbox/build/diagnostics.h"

#include <cstdint>
#include <cstdio>

#include "base/printable.h"

namespace kb {
namespace {

constexpr size_t max_line_bytes = 4096;

}  // namespace

void LineSplitter::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    const size_t room = max_line_bytes - line_.size();
    line_.append(part.substr(0, room));
    if (part.size() > room) dropped_bytes_ += part.size() - room;
    if (newline == std::string_view::npos) return;
    end_line();
    bytes.remove_prefix(newline + 1);
  }
}

void LineSplitter::finish() {
  if (!line_.empty()) end_line();
}

void LineSplitter::end_line() {
  if (dropped_bytes_ > 0) {
    // Do not leave half a UTF-8 sequence at the cut.
    while (!line_.empty() && (static_cast<uint8_t>(line_.back()) & 0xc0) == 0x80) line_.pop_back();
    if (!line_.empty() && static_cast<uint8_t>(line_.back()) >= 0xc0) line_.pop_back();
    line_ += " [" + std::to_string(dropped_bytes_) + " more bytes in this line]";
  }
  on_line_(line_);
  line_.clear();
  dropped_bytes_ = 0;
}

void HeadAndTail::add(std::string_view line) {
  std::string safe = printable(line) + '\n';
  if (!head_full_ && head_.size() + safe.size() <= half) {
    head_ += safe;
    return;
  }
  head_full_ = true;
  tail_bytes_ += safe.size();
  tail_.push_back(std::move(safe));
  while (tail_bytes_ > half) {
    tail_bytes_ -= tail_.front().size();
    tail_.pop_front();
    ++dropped_lines_;
  }
}

std::string HeadAndTail::text() const {
  std::string text = head_;
  if (dropped_lines_ > 0) {
    text += "[kb_cc: " + std::to_string(dropped_lines_) + " lines left out here]\n";
  }
  for (const std::string& line : tail_) text += line;
  return text;
}

std::string_view first_lines(std::string_view text, size_t lines) {
  size_t end = 0;
  for (; lines > 0 && end != std::string_view::npos; --lines) {
    end = text.find('\n', end);
    if (end != std::string_view::npos) ++end;
  }
  return text.substr(0, end);
}

}  // namespace kb
