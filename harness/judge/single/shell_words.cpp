// Quotes and backslashes; variables, redirections and further commands are refused.
#include "judge/single/shell_words.h"

#include <stdexcept>

namespace kb {
namespace {

[[noreturn]] void refuse(std::string_view line) {
  throw std::runtime_error("cannot read the build system's command '" + std::string(line) + "'");
}

// Reads up to the closing quote; `i` is at the opening one and ends at the closing one.
std::string quoted(std::string_view line, size_t* i) {
  const char quote = line[*i];
  std::string text;
  for (++*i; *i < line.size() && line[*i] != quote; ++*i) {
    if (quote == '"' && line[*i] == '\\' && *i + 1 < line.size()) ++*i;
    text += line[*i];
  }
  if (*i >= line.size()) refuse(line);
  return text;
}

}  // namespace

std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false, literal = false;
  const auto end_word = [&] {
    const bool glue = !literal && (word == ":" || word == "&&");
    if (in_word && !glue) words.push_back(word);
    word.clear();
    in_word = literal = false;
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      end_word();
      continue;
    }
    in_word = true;
    if (c == '"' || c == '\'') {
      word += quoted(line, &i);
      literal = true;
    } else if (c == '\\' && i + 1 < line.size()) {
      word += line[++i];
      literal = true;
    } else if (std::string_view("|;<>`$").find(c) != std::string_view::npos) {
      refuse(line);
    } else {
      word += c;
    }
  }
  end_word();
  return words;
}

}  // namespace kb
