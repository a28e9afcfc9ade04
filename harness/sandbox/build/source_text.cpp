// Follows the phases of translation as far as directives need it: line splices, comments, literals.
#include "sandbox/build/source_text.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kb {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         (c & 0x80) != 0;
}

class Scanner {
 public:
  // Without the splices, which may stand within anything but a raw string.
  explicit Scanner(std::string_view physical) : physical_(physical) {
    for (size_t i = 0; i < physical.size(); ++i) {
      if (physical[i] == '\\') {
        size_t end = i + 1;
        while (end < physical.size() && is_blank(physical[end])) ++end;
        if (end < physical.size() && physical[end] == '\n') {
          i = end;
          continue;
        }
      }
      text_ += physical[i];
      places_.push_back(i);
    }
  }

  std::optional<int> run() {
    bool line_start = true;
    while (at_ < text_.size()) {
      if (skip_space()) {
        line_start = true;
        continue;
      }
      const size_t hash = hash_here();
      if (hash > 0 && line_start) {
        const size_t start = at_;
        at_ += hash;
        line_start = skip_space();  // a number sign alone
        if (!line_start && names_a_line()) return 1 + newlines_before(places_[start]);
      } else {
        line_start = false;
        token();
      }
    }
    return std::nullopt;
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool here(std::string_view word) const {
    return std::string_view(text_).substr(at_, word.size()) == word;
  }

  int newlines_before(size_t place) const {
    return static_cast<int>(
        std::count(physical_.begin(), physical_.begin() + static_cast<ptrdiff_t>(place), '\n'));
  }

  // White space and comments. Returns whether a line has begun behind what is no comment.
  bool skip_space() {
    bool newline = false;
    while (at_ < text_.size()) {
      if (here("/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string::npos ? text_.size() : end + 2;
      } else if (here("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (peek() == '\n') {
        newline = true;
        in_condition_ = header_may_follow_ = false;
        ++at_;
      } else if (is_blank(peek())) {
        ++at_;
      } else {
        break;
      }
    }
    return newline;
  }

  // The length of the number sign here in any spelling, 0 if there is none.
  size_t hash_here() const { return here("#") ? 1 : here("%:") ? 2 : here("?\?=") ? 3 : 0; }

  // Behind a number sign.
  bool names_a_line() {
    if (is_digit(peek())) return true;
    const std::string word = take_word();
    header_may_follow_ = word.starts_with("include") || word == "import" || word == "embed";
    in_condition_ = word == "if" || word == "elif";
    return word == "line";
  }

  std::string take_word() {
    const size_t start = at_;
    while (is_word(peek())) ++at_;
    return text_.substr(start, at_ - start);
  }

  void token() {
    const char c = peek();
    // <...> may hold what begins comments and literals elsewhere.
    if (c == '<' && header_may_follow_) return header_name();
    if (c == '(' && header_may_follow_) {
      ++at_;
      return;
    }
    header_may_follow_ = false;
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (is_word(c)) {
      word();
    } else if (c == '"' || c == '\'') {
      quoted(c);
    } else {
      ++at_;
    }
  }

  void number() {
    for (++at_; at_ < text_.size(); ++at_) {
      const bool exponent = std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos;
      if (is_word(peek()) || peek() == '.' || (exponent && (peek() == '+' || peek() == '-')) ||
          (peek() == '\'' && is_word(peek(1)))) {
        continue;
      }
      break;
    }
  }

  void word() {
    const std::string name = take_word();
    const bool raw = name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
    if (raw && peek() == '"') raw_string();
    header_may_follow_ = in_condition_ && (name == "__has_include" ||
                                           name == "__has_include_next" || name == "__has_embed");
  }

  // One without its partner ends with its line.
  void quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    if (peek() == quote) ++at_;
  }

  void header_name() {
    header_may_follow_ = false;
    const size_t end = text_.find_first_of(">\n", at_);
    if (end != std::string::npos && text_[end] == '>') {
      at_ = end + 1;
    } else {
      ++at_;
    }
  }

  // Ends in the physical text, where splices count.
  void raw_string() {
    const size_t open = physical_.find('(', places_[at_]);
    if (open == std::string_view::npos) {
      ++at_;
      return;
    }
    const std::string close =
        ")" + std::string(physical_.substr(places_[at_] + 1, open - places_[at_] - 1)) + "\"";
    const size_t end = physical_.find(close, open);
    const size_t next = end == std::string_view::npos ? physical_.size() : end + close.size();
    at_ = static_cast<size_t>(std::lower_bound(places_.begin(), places_.end(), next) -
                              places_.begin());
  }

  std::string_view physical_;
  std::string text_;
  std::vector<size_t> places_;  ///< of each character of text_ in the physical text
  size_t at_ = 0;
  bool in_condition_ = false;       // of #if or #elif
  bool header_may_follow_ = false;  // what comes next is <name> or "name"
};

}  // namespace

std::string_view foreign_encoding(std::string_view source) {
  using namespace std::string_view_literals;
  if (source.starts_with("\xff\xfe\0\0"sv) || source.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (source.starts_with("\xff\xfe") || source.starts_with("\xfe\xff")) return "UTF-16";
  constexpr size_t enough = 512;
  const std::string_view first = source.substr(0, enough);
  const auto zeros = static_cast<size_t>(std::count(first.begin(), first.end(), '\0'));
  if (zeros * 3 > first.size() * 2) return "UTF-32";
  return zeros * 3 > first.size() ? "UTF-16" : "";
}

std::optional<int> line_directive(std::string_view source) { return Scanner(source).run(); }

}  // namespace kb
