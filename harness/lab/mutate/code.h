// A CUDA source as operators of mutation see it: tokens, brackets, statements, and which names are
// floats. Everything is told by the text alone and supposes the project's format, in which blanks
// surround binary operators and comparisons but no template argument lists.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/cu2cpp/tokens.hpp"

namespace kb {

/// One change of a text.
struct Edit {
  size_t at, length;
  std::string text;
};

class Code {
 public:
  explicit Code(std::string text);
  Code(const Code&) = delete;  // the tokens point into it
  Code& operator=(const Code&) = delete;

  const std::string& text() const { return text_; }
  /// Number of tokens. Everywhere below, `i` is the index of one.
  size_t size() const { return source_.tokens.size(); }
  /// The token, "" beyond either end.
  std::string_view token(size_t i) const;
  bool is(size_t i, std::string_view word) const { return token(i) == word; }
  bool is_identifier(size_t i) const;
  bool is_number(size_t i) const;
  /// The token that an offset of the text is in, or that comes next.
  size_t token_at(size_t offset) const;
  size_t begin(size_t i) const;  ///< offset of its first character
  size_t end(size_t i) const;    ///< offset behind its last one
  /// The other bracket of a pair, else cu2cpp::none.
  size_t partner(size_t i) const { return partner_[i]; }
  /// The bracket that opens around it, else cu2cpp::none.
  size_t around(size_t i) const { return around_[i]; }

  /// True for a binary operator or a comparison of one or two characters.
  bool is_binary(size_t i) const;
  /// True if `i` and `i + 1` are a compound assignment such as +=.
  bool is_compound_assignment(size_t i) const;
  bool in_function(size_t i) const;
  /// True inside a subscript, and inside the arguments of a call that takes an index of elements.
  bool in_index(size_t i) const;
  /// 0, 1 or 2 for the clauses of a for statement's head; -1 elsewhere.
  int for_clause(size_t i) const;

  /// First token of the statement, or clause of a for, around `i`.
  size_t statement_begin(size_t i) const;
  /// The token behind it: `;`, a brace or the closing bracket.
  size_t statement_end(size_t i) const;
  /// One behind the last token of the operand that starts at `i`.
  size_t operand_end(size_t i) const;
  /// First token of the operand whose last one is `i`.
  size_t operand_begin(size_t i) const;
  /// One behind the last factor of the product that starts at `i`.
  size_t term_end(size_t i) const;

  /// True if the operand that starts, or ends, there is a float: a literal, a name whose last
  /// declaration says so, a call of a function of floats.
  bool starts_float(size_t i) const;
  bool ends_float(size_t i) const;
  /// True if the statement around `i` computes with floats.
  bool in_float_statement(size_t i) const;
  /// True if the last declaration of this name before `i` is a float's, or an array's of floats.
  bool is_float_name(size_t i) const;

  /// The characters of the tokens from `from` up to, not including, `to`.
  std::string text(size_t from, size_t to) const;
  /// Replaces the tokens from `from` up to, not including, `to`.
  Edit replace(size_t from, size_t to, std::string by) const;
  /// Removes them with the blanks in front.
  Edit remove(size_t from, size_t to) const;

 private:
  void find_declarations();
  void declare(size_t type, bool is_float);
  bool any_float(size_t from, size_t to) const;
  size_t angle_end(size_t i) const;

  std::string text_;
  std::string blank_;  ///< the text with blanks for comments and directives
  cu2cpp::Source source_;
  std::vector<size_t> partner_, around_;
  std::map<std::string, std::map<size_t, bool>, std::less<>> declared_;  ///< by the token
};

/// The text with an edit applied.
std::string apply(std::string text, const Edit& edit);

/// The text with blanks for comments and directives, so that every character keeps its place.
std::string without_comments(std::string text);

}  // namespace kb
