// The tokens of preprocessed C++, with enough room around each to rewrite it in place.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace kb::cu2cpp {

enum class Kind { identifier, number, text, punctuator };

struct Token {
  Kind kind;
  std::string_view text;
  std::string_view trivia;  ///< white space and directives in front of the token
  int file;                 ///< index into Source::files
  int line;
  bool system;  ///< comes from a system header or a macro defined in one

  // Edits: what is written is prefix + (erased ? "" : text) + suffix.
  bool erased = false;
  std::string prefix, suffix;

  bool is(std::string_view other) const { return text == other; }
};

/// An #include that a line marker shows.
struct Include {
  int file;  ///< the file with the directive
  int line;
  bool system;          ///< the directive stands in a system header
  std::string entered;  ///< the file that it names
};

/// A preprocessed file. The text must outlive the tokens.
struct Source {
  std::vector<Token> tokens;
  std::vector<std::string> files;  ///< names as they stand in the line markers, still escaped
  std::vector<Include> includes;
  std::string_view tail;         ///< trivia behind the last token
  std::deque<std::string> made;  ///< text that tokens were given later
};

/// @param candidate  the name of the source, which is never a system header
Source tokenize(std::string_view text, std::string_view candidate);

inline constexpr std::size_t none = static_cast<std::size_t>(-1);
/// For each bracket the index of its partner, else `none`.
std::vector<std::size_t> match_brackets(const Source& source);
/// What has parentheses behind it in a declaration without being a function.
bool is_attribute(const Token& token);

/// The text with all edits applied; lines stay where they are.
std::string render(const Source& source);

}  // namespace kb::cu2cpp
