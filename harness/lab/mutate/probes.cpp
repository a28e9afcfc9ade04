// Where a probe may stand is told by the text alone; one that does not compile says nothing.
#include "lab/mutate/probes.h"

#include <optional>

namespace kb {
namespace {

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
  if (in_block && !label) return Edit{code.begin(first), 0, statement};
  if (in_block) {
    size_t colon = first;
    while (colon < i && !code.is(colon, ":")) ++colon;
    if (colon == i) return std::nullopt;  // the label itself is changed
    return Edit{code.end(colon), 0, " " + statement};
  }
  const size_t end = code.statement_end(first);  // the only statement of an if or a loop
  const bool branch = code.is(first - 1, ")") || code.is(first - 1, "else");
  if (!branch || !code.is(end, ";")) return std::nullopt;
  return code.replace(first, end + 1, "{ " + statement + code.text(first, end + 1) + " }");
}

// Whether the token is of ?:, or of && or || together with a neighbour.
bool is_condition(const Code& code, size_t i, size_t neighbour) {
  return code.is(i, "?") || code.is(i, ":") || (code.is(i, "&") && code.is(neighbour, "&")) ||
         (code.is(i, "|") && code.is(neighbour, "|"));
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
  const size_t i = code.token_at(mutant.edit.at);
  std::vector<Edit> probes;
  if (i >= code.size() || !code.in_function(i)) return probes;
  for (const auto& find : {stop_before_statement, stop_in_operand}) {
    if (const auto probe = find(code, i)) probes.push_back(*probe);
  }
  return probes;
}

}  // namespace kb
