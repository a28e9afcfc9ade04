#include "mutate/mutants.h"

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

// The token that an offset is in, or that comes next.
size_t token_at(const Code& code, size_t at) {
  size_t low = 0, high = code.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (code.end(middle) <= at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// A line of the edit, or else of the statement around it, becomes code.
bool is_reached(const Code& code, const Lines& lines, const Edit& edit,
                const std::set<int>& reached) {
  if (reached.empty()) return true;
  const auto any = [&](int from, int to) {
    const auto next = reached.lower_bound(from);
    return next != reached.end() && *next <= to;
  };
  if (any(lines.of(edit.at), lines.of(edit.at + edit.length))) return true;
  const size_t token = token_at(code, edit.at);
  if (token >= code.size()) return false;
  const size_t end = std::min(code.statement_end(token), code.size() - 1);
  return any(lines.of(code.begin(code.statement_begin(token))), lines.of(code.begin(end)));
}

// nvcc takes __builtin_trap() on the host only and __trap() on the device only, but this on both.
constexpr char stop[] = "*static_cast<volatile int*>(nullptr) = 0";

// Before the statement around token i, or the one that its condition belongs to.
std::optional<Edit> stop_before_statement(const Code& code, size_t i) {
  const std::string statement = std::string(stop) + "; ";
  size_t first = code.statement_begin(i);
  // Out of the head of a for, an if or a while.
  while (code.around(first) != cu2cpp::none && code.is(code.around(first), "(")) {
    first = code.statement_begin(code.around(first));
  }
  if (first == 0) return std::nullopt;
  const bool in_block =
      code.is(first - 1, ";") || code.is(first - 1, "{") || code.is(first - 1, "}");
  const bool label = code.is(first, "case") || code.is(first, "default");
  if (in_block && label) {
    size_t colon = first;
    while (colon < i && !code.is(colon, ":")) ++colon;
    if (colon == i) return std::nullopt;  // the label itself is changed
    return Edit{code.end(colon), 0, " " + statement};
  }
  if (in_block) return Edit{code.begin(first), 0, statement};
  const size_t end = code.statement_end(first);  // the only statement of an if or a loop
  const bool branch = code.is(first - 1, ")") || code.is(first - 1, "else");
  if (!branch || !code.is(end, ";")) return std::nullopt;
  return code.replace(first, end + 1, "{ " + statement + code.text(first, end + 1) + " }");
}

// Tokens of ?:, && and || begin here, or end, with the one before.
bool is_condition(const Code& code, size_t i, size_t other) {
  return code.is(i, "?") || code.is(i, ":") || (code.is(i, "&") && code.is(other, "&")) ||
         (code.is(i, "|") && code.is(other, "|"));
}
bool condition_begins(const Code& code, size_t i) { return is_condition(code, i, i + 1); }
bool condition_ends(const Code& code, size_t i) { return is_condition(code, i, i - 1); }

// In the innermost operand around token i that is only evaluated on a condition: a branch of ?:, or
// what && and || have on their right.
std::optional<Edit> stop_in_operand(const Code& code, size_t i) {
  for (; i != cu2cpp::none && !code.is(i, "{"); i = code.around(i)) {
    size_t first = i;
    const auto goes_on = [&](size_t before) {
      const std::string_view token = code.token(before);
      return code.around(before) == code.around(i) && token != ";" && token != "," &&
             token != "=" && token != "return" && token != "}";
    };
    while (first > 0 && !condition_ends(code, first - 1)) {
      size_t before = first - 1;
      const size_t partner = code.partner(before);
      if (partner != cu2cpp::none && partner < before) before = partner;
      if (!goes_on(before)) break;
      first = before;
    }
    if (first == 0 || !condition_ends(code, first - 1)) continue;
    size_t end = i;
    while (end < code.size() && code.partner(end) != code.around(i) && !code.is(end, ";") &&
           !code.is(end, ",") && !condition_begins(code, end)) {
      const size_t partner = code.partner(end);
      end = (partner != cu2cpp::none && partner > end ? partner : end) + 1;
    }
    return code.replace(first, end, "(" + std::string(stop) + ", " + code.text(first, end) + ")");
  }
  return std::nullopt;
}

}  // namespace

std::vector<Edit> probes_of(const FlatSource& source, const Mutant& mutant) {
  const Code code(source.text);
  const size_t i = token_at(code, mutant.edit.at);
  std::vector<Edit> probes;
  if (i >= code.size() || !code.in_function(i)) return probes;
  for (const auto& find : {stop_before_statement, stop_in_operand}) {
    if (const auto probe = find(code, i)) probes.push_back(*probe);
  }
  return probes;
}

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
