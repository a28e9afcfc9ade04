// Keeps what a compiler printed: made safe to print and store, with only head and tail when long.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace kb {

/// Cuts a stream of bytes into lines, of which only the first 4 KiB are kept.
class LineSplitter {
 public:
  /// `on_line` gets each line without its newline.
  explicit LineSplitter(std::function<void(std::string_view)> on_line)
      : on_line_(std::move(on_line)) {}

  void append(std::string_view bytes);
  /// Hands out the last line if it had no newline.
  void finish();

 private:
  void end_line();

  std::function<void(std::string_view)> on_line_;
  std::string line_;
  size_t dropped_bytes_ = 0;
};

/// Text of at most 64 KiB: whole lines from the start and from the end of what was added.
class HeadAndTail {
 public:
  static constexpr size_t capacity = 64 << 10;

  /// Appends one line; it is made printable first.
  void add(std::string_view line);

  /// All lines that were kept, each ended by a newline, with one line saying what was left out.
  std::string text() const;

 private:
  static constexpr size_t marker_reserve = 256;  // for the line that says what was left out
  static constexpr size_t half = (capacity - marker_reserve) / 2;

  std::string head_;
  std::deque<std::string> tail_;
  size_t tail_bytes_ = 0;
  size_t dropped_lines_ = 0;
  bool head_full_ = false;
};

/// The first `lines` lines of `text`.
std::string_view first_lines(std::string_view text, size_t lines);

}  // namespace kb
