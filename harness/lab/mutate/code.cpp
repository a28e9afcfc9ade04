#include "lab/mutate/code.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kb {
namespace {

using cu2cpp::none;
using Words = std::initializer_list<std::string_view>;

bool one_of(std::string_view word, Words words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void blank_out(std::string* text, size_t from, size_t to) {
  for (size_t i = from; i < to && i < text->size(); ++i) {
    if ((*text)[i] != '\n') (*text)[i] = ' ';
  }
}

// The end of a directive, or of a comment of the // kind, with the lines that a backslash adds.
size_t line_end(const std::string& text, size_t at) {
  while (at < text.size() && (text[at] != '\n' || text[at - 1] == '\\')) ++at;
  return at;
}

bool is_float_type(std::string_view word) { return word == "float" || word == "double"; }
bool is_other_type(std::string_view word) {
  return one_of(word, {"int", "unsigned", "int64_t", "uint64_t", "int32_t", "uint32_t", "size_t",
                       "uintptr_t", "bool", "char", "auto", "dim3", "void", "real", "T"});
}

// Functions whose value is a float, beside those that end in f.
bool gives_float(std::string_view word) {
  return one_of(word,
                {"element", "clamp", "activate", "fold", "combine", "reduce", "abs", "exp"}) ||
         (word.size() > 3 && word.ends_with("f") &&
          std::all_of(word.begin(), word.end(),
                      [](char c) { return std::islower(c) || c == '1'; }) &&
          !one_of(word, {"sizeof", "typedef", "printf"}));
}

}  // namespace

std::string apply(std::string text, const Edit& edit) {
  return text.replace(edit.at, edit.length, edit.text);
}

std::string without_comments(std::string text) {
  bool line_start = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '"' ||
        (c == '\'' && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]))))) {
      const char quote = c;
      for (++i; i < text.size() && text[i] != quote; ++i) i += text[i] == '\\';
      line_start = false;
    } else if ((c == '/' && next == '/') || (c == '#' && line_start)) {
      const size_t end = line_end(text, i + 1);
      blank_out(&text, i, end);
      i = end - 1;
    } else if (c == '/' && next == '*') {
      const size_t close = text.find("*/", i + 2);
      const size_t end = close == std::string::npos ? text.size() : close + 2;
      blank_out(&text, i, end);
      i = end - 1;
    } else if (c == '\n') {
      line_start = true;
    } else if (!std::isspace(static_cast<unsigned char>(c))) {
      line_start = false;
    }
  }
  return text;
}

Code::Code(std::string text)
    : text_(std::move(text)),
      blank_(without_comments(text_)),
      source_(cu2cpp::tokenize(blank_, "")),
      partner_(cu2cpp::match_brackets(source_)),
      around_(size(), none) {
  std::vector<size_t> open;
  for (size_t i = 0; i < size(); ++i) {
    if (partner_[i] != none && partner_[i] < i && !open.empty()) open.pop_back();
    around_[i] = open.empty() ? none : open.back();
    if (partner_[i] != none && partner_[i] > i) open.push_back(i);
  }
  find_declarations();
}

std::string_view Code::token(size_t i) const {
  return i < size() ? source_.tokens[i].text : std::string_view();
}
bool Code::is_identifier(size_t i) const {
  return i < size() && source_.tokens[i].kind == cu2cpp::Kind::identifier;
}
bool Code::is_number(size_t i) const {
  return i < size() && source_.tokens[i].kind == cu2cpp::Kind::number;
}
size_t Code::token_at(size_t offset) const {
  size_t low = 0, high = size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (end(middle) <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t Code::begin(size_t i) const {
  return static_cast<size_t>(source_.tokens[i].text.data() - blank_.data());
}
size_t Code::end(size_t i) const { return begin(i) + token(i).size(); }

bool Code::is_binary(size_t i) const {
  if (i == 0 || i + 1 >= size()) return false;
  if (!one_of(token(i), {"+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "?"}))
    return false;
  return end(i - 1) < begin(i) && end(i) < begin(i + 1);
}

bool Code::is_compound_assignment(size_t i) const {
  return one_of(token(i), {"+", "-", "*", "/"}) && is(i + 1, "=") && end(i) == begin(i + 1);
}

bool Code::in_function(size_t i) const {
  for (size_t open = around_[i]; open != none; open = around_[open]) {
    if (is(open, "{") && open > 0 &&
        one_of(token(open - 1), {")", "const", "mutable", "noexcept"})) {
      return true;
    }
  }
  return false;
}

bool Code::in_index(size_t i) const {
  for (size_t open = around_[i]; open != none && !is(open, "{"); open = around_[open]) {
    if (is(open, "[")) return true;
    if (is(open, "(") && open > 0 && one_of(token(open - 1), {"element", "load_vector"}))
      return true;
  }
  return false;
}

int Code::for_clause(size_t i) const {
  for (size_t open = around_[i]; open != none && !is(open, "{"); open = around_[open]) {
    if (!is(open, "(") || open == 0 || !is(open - 1, "for")) continue;
    int clause = 0;
    for (size_t k = open + 1; k < i; ++k) {
      if (is(k, ";")) ++clause;
      if (partner_[k] != none && partner_[k] > k && partner_[k] < i) k = partner_[k];
    }
    return clause;
  }
  return -1;
}

size_t Code::statement_begin(size_t i) const {
  while (i > 0) {
    const size_t before = i - 1;
    if (one_of(token(before), {";", "{", "}", "else", "do"})) break;
    if (is(before, "(") && before > 0 && one_of(token(before - 1), {"for", "if", "while"})) break;
    const bool closes = partner_[before] != none && partner_[before] < before;
    if (closes && is(before, ")") && partner_[before] > 0 &&
        one_of(token(partner_[before] - 1), {"for", "if", "while"})) {
      break;  // the statement that a condition or a loop is about
    }
    i = closes ? partner_[before] : before;
  }
  return i;
}

size_t Code::statement_end(size_t i) const {
  for (; i < size(); ++i) {
    if (one_of(token(i), {";", "}"})) return i;
    if (partner_[i] == none) continue;
    if (partner_[i] < i) {
      const size_t open = partner_[i];
      if (is(i, ")") && open > 0 && one_of(token(open - 1), {"for", "if", "while"})) return i;
    } else if (!is(i, "{") || (i > 0 && !is(i - 1, ")"))) {
      i = partner_[i];
    } else {
      return i;
    }
  }
  return i;
}

// `<` directly behind a name, closed before anything that no template argument holds.
size_t Code::angle_end(size_t i) const {
  if (!is(i, "<") || i == 0 || end(i - 1) != begin(i) || !is_identifier(i - 1)) return none;
  int depth = 0;
  for (size_t k = i; k < size() && !one_of(token(k), {";", "{", "}"}); ++k) {
    if (is(k, "<")) ++depth;
    if (is(k, ">") && --depth == 0) return k;
    if (one_of(token(k), {"(", "["}) && partner_[k] != none) k = partner_[k];
  }
  return none;
}

size_t Code::operand_end(size_t i) const {
  while (one_of(token(i), {"-", "+", "*", "&", "!", "~", "::"}) || one_of(token(i), {"sizeof"})) {
    ++i;
  }
  if (one_of(token(i), {"(", "{"}) && partner_[i] != none) {
    i = partner_[i] + 1;
  } else {
    ++i;
  }
  for (; i < size();) {
    if (one_of(token(i), {"::", ".", "->"})) {
      i += 2;
    } else if (one_of(token(i), {"(", "[", "{"}) && partner_[i] != none && end(i - 1) == begin(i)) {
      i = partner_[i] + 1;
    } else if (const size_t close = angle_end(i); close != none) {
      i = close + 1;
    } else {
      break;
    }
  }
  return i;
}

size_t Code::operand_begin(size_t i) const {
  for (;;) {
    while (i > 0 && one_of(token(i), {")", "]", "}"}) && partner_[i] != none) {
      i = partner_[i];
      const bool attached = i > 0 && end(i - 1) == begin(i);
      if (!attached || one_of(token(i - 1), {"(", "[", "{", "-", "!", "&", "*"})) break;
      --i;
      if (is(i, ">")) {  // template arguments of a call
        int depth = 0;
        for (; i > 0; --i) {
          if (is(i, ">")) ++depth;
          if (is(i, "<") && --depth == 0) break;
        }
        --i;
      }
    }
    if (i > 1 && one_of(token(i - 1), {".", "->", "::"})) {
      i -= 2;
    } else {
      break;
    }
  }
  const bool unary = i > 0 && one_of(token(i - 1), {"-", "!", "*", "&"}) && !is_binary(i - 1) &&
                     end(i - 1) == begin(i);
  return unary ? i - 1 : i;
}

size_t Code::term_end(size_t i) const {
  i = operand_end(i);
  while (one_of(token(i), {"*", "/", "%"}) && is_binary(i)) i = operand_end(i + 1);
  return i;
}

void Code::declare(size_t type, bool is_float) {
  const bool parameter = around_[type] != none && is(around_[type], "(");
  size_t i = type + 1;
  while (is(i, "const")) ++i;
  if (is(i, "(")) {  // float (&values)[N]
    declared_[std::string(token(i + 2))][i + 2] = is_float;
    return;
  }
  for (;;) {
    const bool pointer = one_of(token(i), {"*"});
    while (one_of(token(i), {"*", "&", "const"})) ++i;
    if (!is_identifier(i) || is(i + 1, "(")) return;
    declared_[std::string(token(i))][i] = is_float && !pointer;
    if (parameter) return;
    for (++i; i < size() && !one_of(token(i), {",", ";", ")", "}"}); ++i) {
      if (one_of(token(i), {"(", "[", "{"}) && partner_[i] != none) i = partner_[i];
    }
    if (!is(i, ",")) return;
    ++i;
  }
}

void Code::find_declarations() {
  for (size_t i = 0; i + 1 < size(); ++i) {
    if (is_float_type(token(i))) declare(i, true);
    if (is_other_type(token(i))) declare(i, false);
  }
}

bool Code::is_float_name(size_t i) const {
  const auto known = declared_.find(token(i));
  if (known == declared_.end()) return false;
  auto next = known->second.upper_bound(i);
  return next != known->second.begin() && std::prev(next)->second;
}

bool Code::any_float(size_t from, size_t to) const {
  for (size_t i = from; i < to; ++i) {
    if (is(i, "[") && partner_[i] != none) {
      i = partner_[i];
    } else if (is_identifier(i)) {
      if (is_float_type(token(i)) || is_float_name(i) ||
          (is(i + 1, "(") && gives_float(token(i)))) {
        return true;
      }
      if (is(i, "element") && is(i + 1, "(")) i = partner_[i + 1];
    } else if (is_number(i) && token(i).find('.') != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

bool Code::starts_float(size_t i) const { return any_float(i, operand_end(i)); }
bool Code::ends_float(size_t i) const { return any_float(operand_begin(i), i + 1); }

bool Code::in_float_statement(size_t i) const {
  return any_float(statement_begin(i), statement_end(i));
}

std::string Code::text(size_t from, size_t to) const {
  return from < to ? text_.substr(begin(from), end(to - 1) - begin(from)) : std::string();
}

// Lines stay where they are: what is replaced leaves its line ends.
static Edit keeping_lines(const std::string& text, size_t start, size_t end, std::string by) {
  const auto lines = [](std::string_view part) {
    return std::count(part.begin(), part.end(), '\n');
  };
  const auto before = lines(std::string_view(text).substr(start, end - start)), after = lines(by);
  if (before > after) by.append(static_cast<size_t>(before - after), '\n');
  return {start, end - start, std::move(by)};
}

Edit Code::replace(size_t from, size_t to, std::string by) const {
  return keeping_lines(text_, begin(from), end(to - 1), std::move(by));
}

Edit Code::remove(size_t from, size_t to) const {
  return keeping_lines(text_, from > 0 ? end(from - 1) : 0, end(to - 1), "");
}

}  // namespace kb
