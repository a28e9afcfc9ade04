#include "lab/mutate/mutants.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/sha256.h"

namespace kb {
namespace {

constexpr size_t id_digits = 10;

// Places of lines in a text.
class Lines {
 public:
  explicit Lines(const std::string& text) : text_(text) {
    starts_.push_back(0);
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }
  // The line of a character, from 1.
  int of(size_t at) const {
    return static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), at) - starts_.begin());
  }
  size_t start(int line) const { return starts_[line - 1]; }
  size_t end(int line) const {
    return static_cast<size_t>(line) < starts_.size() ? starts_[line] - 1 : text_.size();
  }

 private:
  const std::string& text_;
  std::vector<size_t> starts_;
};

// A line of the edit, or else of the statement around it, becomes code.
bool is_reached(const Code& code, const Lines& lines, const Edit& edit,
                const std::set<int>& reached) {
  if (reached.empty()) return true;
  const auto any = [&](int from, int to) {
    const auto next = reached.lower_bound(from);
    return next != reached.end() && *next <= to;
  };
  if (any(lines.of(edit.at), lines.of(edit.at + edit.length))) return true;
  const size_t token = code.token_at(edit.at);
  if (token >= code.size()) return false;
  const size_t end = std::min(code.statement_end(token), code.size() - 1);
  return any(lines.of(code.begin(code.statement_begin(token))), lines.of(code.begin(end)));
}

}  // namespace

std::string squeezed(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (!std::isspace(static_cast<unsigned char>(c))) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

std::vector<Mutant> mutants_of(const std::string& task, const FlatSource& source,
                               const std::set<int>& reached) {
  const Code code(source.text);
  const Lines lines(source.text);
  std::vector<Mutant> mutants;
  std::set<std::string> known;       // of texts, so that no two are the same
  std::map<std::string, int> equal;  // mutants that nothing but the place tells apart
  for (const Operator& each : operators()) {
    std::vector<Edit> edits;
    each.find(code, &edits);
    for (Edit& edit : edits) {
      const int line = lines.of(edit.at + (edit.text.empty() ? 1 : 0));
      const Origin& origin = source.origins.at(line - 1);
      if (origin.file.empty() || !is_reached(code, lines, edit, reached)) continue;
      const size_t start = lines.start(lines.of(edit.at));
      const size_t end = lines.end(lines.of(edit.at + edit.length));
      const std::string before = source.text.substr(start, end - start);
      const std::string after = apply(before, {edit.at - start, edit.length, edit.text});
      if (squeezed(before) == squeezed(after)) continue;
      if (!known.insert(std::to_string(start) + "\n" + squeezed(after)).second) continue;
      Mutant mutant{
          "", task, each.name, origin.file, origin.line, squeezed(before), squeezed(after), edit};
      std::string key =
          task + "\n" + each.name + "\n" + origin.file + "\n" + mutant.before + "\n" + mutant.after;
      if (const int number = equal[key]++; number > 0) key += "\n" + std::to_string(number);
      mutant.id = sha256_hex(key).substr(0, id_digits);
      mutants.push_back(std::move(mutant));
    }
  }
  return mutants;
}

}  // namespace kb
