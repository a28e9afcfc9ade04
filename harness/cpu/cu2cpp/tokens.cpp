// Tokenizer for the output of a C++ preprocessor.
#include "tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>

namespace kb::cu2cpp {
namespace {

// Those that would be mistaken for an angle bracket or an assignment. ">>" may close templates.
constexpr std::array<std::string_view, 7> two_characters = {
    "::", "->", "==", "!=", "<=", ">=", "<<"};

bool starts_identifier(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}
bool continues_identifier(char c) {
  return starts_identifier(c) || std::isdigit(static_cast<unsigned char>(c));
}

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view candidate) : text_(text), candidate_(candidate) {}

  Source run() {
    source_.files.emplace_back();
    for (;;) {
      const std::size_t trivia = at_;
      skip_trivia();
      if (at_ >= text_.size()) {
        source_.tail = text_.substr(trivia);
        return std::move(source_);
      }
      const std::size_t start = at_;
      const int line = line_;
      const Kind kind = next();
      source_.tokens.push_back({kind, text_.substr(start, at_ - start),
                                text_.substr(trivia, start - trivia), file_, line, system_});
    }
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void skip_trivia() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        line_start_ = true;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (c == '#' && line_start_) {
        directive();
      } else {
        break;
      }
    }
    line_start_ = false;
  }

  // Line markers look like: # 12 "file.cu" 3 4
  void directive() {
    std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) end = text_.size();
    const std::string_view body = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    std::size_t i = body.find_first_not_of(' ');
    if (i == std::string_view::npos || !std::isdigit(static_cast<unsigned char>(body[i]))) return;
    constexpr int most = 1 << 30;
    int line = 0;
    for (; i < body.size() && std::isdigit(static_cast<unsigned char>(body[i])); ++i)
      line = line < most / 10 ? line * 10 + (body[i] - '0') : most;
    const std::size_t open = body.find('"', i), close = body.rfind('"');
    if (open == std::string_view::npos || close == open) return;
    const std::string name(body.substr(open + 1, close - open - 1));
    const std::string_view flags = body.substr(close);
    if (flags.find(" 1") != std::string_view::npos)
      source_.includes.push_back({file_, line_, system_, name});
    auto [known, fresh] = known_.try_emplace(name, static_cast<int>(source_.files.size()));
    if (fresh) source_.files.push_back(name);
    file_ = known->second;
    line_ = line - 1;  // the end of this line counts one up
    // A file can call itself a system header (#pragma GCC system_header); a candidate's is none.
    system_ = flags.find(" 3") != std::string_view::npos && !is_candidate(name);
  }

  // However it is spelled: a path has many names.
  bool is_candidate(const std::string& name) const {
    std::error_code unknown;
    return name == candidate_ || std::filesystem::equivalent(name, candidate_, unknown);
  }

  Kind next() {
    const char c = peek();
    if (starts_identifier(c)) {
      const std::size_t start = at_;
      while (continues_identifier(peek())) ++at_;
      const std::string_view name = text_.substr(start, at_ - start);
      if (peek() == '"' || peek() == '\'') {
        if (name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R") {
          raw_string();
          return Kind::text;
        }
        if (name == "L" || name == "u" || name == "U" || name == "u8") {
          quoted(peek());
          return Kind::text;
        }
      }
      return Kind::identifier;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) ||
        (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1))))) {
      number();
      return Kind::number;
    }
    if (c == '"' || c == '\'') {
      quoted(c);
      return Kind::text;
    }
    if (text_.substr(at_, 3) == "<<<") {
      at_ += 3;
    } else if (std::find(two_characters.begin(), two_characters.end(), text_.substr(at_, 2)) !=
               two_characters.end()) {
      at_ += 2;
    } else {
      ++at_;
    }
    return Kind::punctuator;
  }

  void number() {
    for (const std::size_t start = at_; at_ < text_.size();) {
      const char c = peek();
      const bool exponent =
          at_ > start && std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos;
      if (c == '\'' && continues_identifier(peek(1)))
        at_ += 2;
      else if (continues_identifier(c) || c == '.' || (exponent && (c == '+' || c == '-')))
        ++at_;
      else
        break;
    }
  }

  // One without a partner, as the apostrophe in prose, goes to the end of its line.
  void quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    if (peek() == quote) ++at_;
    at_ = std::min(at_, text_.size());
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    std::size_t end = text_.find(close, open);
    end = end == std::string_view::npos ? text_.size() : end + close.size();
    for (; at_ < end; ++at_) line_ += text_[at_] == '\n';
  }

  std::string_view text_, candidate_;
  std::size_t at_ = 0;
  int line_ = 1, file_ = 0;
  bool system_ = false, line_start_ = true;
  std::map<std::string, int> known_;
  Source source_;
};

}  // namespace

Source tokenize(std::string_view text, std::string_view candidate) {
  return Lexer(text, candidate).run();
}

std::vector<std::size_t> match_brackets(const Source& source) {
  std::vector<std::size_t> partner(source.tokens.size(), none), open;
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    const Token& token = source.tokens[i];
    if (token.kind != Kind::punctuator || token.text.size() != 1) continue;
    const char c = token.text[0];
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(i);
    } else if ((c == ')' || c == ']' || c == '}') && !open.empty()) {
      partner[i] = open.back();
      partner[open.back()] = i;
      open.pop_back();
    }
  }
  return partner;
}

bool is_attribute(const Token& token) {
  return token.is("__attribute__") || token.is("alignas") || token.is("decltype") ||
         token.is("noexcept");
}

std::string render(const Source& source) {
  std::string out;
  for (const Token& token : source.tokens) {
    out += token.trivia;
    out += token.prefix;
    if (!token.erased) out += token.text;
    out += token.suffix;
  }
  out += source.tail;
  return out;
}

}  // namespace kb::cu2cpp
