// Operators on bounds, barriers and sizes.
#include <set>
#include <utility>

#include "lab/mutate/operators.h"

namespace kb {

namespace {

// a < b ? a : b is the same with <=.
bool chooses_between_operands(const Code& code, size_t comparison) {
  const size_t question = code.operand_end(comparison + 1);
  if (!code.is(question, "?")) return false;
  const Choice choice = choice_at(code, question);
  if (choice.second == 0 || choice.end <= choice.second) return false;
  const std::string a = code.text(code.operand_begin(comparison - 1), comparison);
  const std::string b = code.text(comparison + 1, question);
  const std::string first = code.text(choice.first, choice.second - 1);
  const std::string second = code.text(choice.second, choice.end);
  return (first == a && second == b) || (first == b && second == a);
}

}  // namespace

void find_comparisons(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 0; i < code.size(); ++i) {
    if (!code.is_binary(i) || chooses_between_operands(code, i)) continue;
    if (code.is(i, "<")) edits->push_back(code.replace(i, i + 1, "<="));
    if (code.is(i, ">")) edits->push_back(code.replace(i, i + 1, ">="));
    if (code.is(i, "<=")) edits->push_back(code.replace(i, i + 1, "<"));
    if (code.is(i, ">=")) edits->push_back(code.replace(i, i + 1, ">"));
  }
}

namespace {

// (a + 31) / 32 and (a + b - 1) / b: without what makes them round up.
void find_floors(const Code& code, size_t divide, std::vector<Edit>* edits) {
  const size_t close = divide - 1;
  if (!code.is(close, ")") || code.partner(close) == cu2cpp::none) return;
  const std::string by = code.text(divide + 1, code.operand_end(divide + 1));
  for (size_t i = code.partner(close) + 1; i < close; ++i) {
    if (code.partner(i) != cu2cpp::none && code.partner(i) > i) i = code.partner(i);
    if (!code.is(i, "+") || !code.is_binary(i)) continue;
    const std::string added = code.text(i + 1, close);
    const bool literal = code.is_number(i + 1) && code.is_number(divide + 1) && i + 2 == close &&
                         std::stoll(added, nullptr, 0) + 1 == std::stoll(by, nullptr, 0);
    if (literal || added == by + " - 1") edits->push_back(code.remove(i, close));
  }
}

}  // namespace

void find_tails(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 1; i < code.size(); ++i) {
    if (!code.is_binary(i)) continue;
    if (code.is(i, "/")) find_floors(code, i, edits);
    if (!code.is(i, "<") && !code.is(i, ">=")) continue;
    const bool loop = code.for_clause(i) == 1;
    if (!loop && (code.is_number(i + 1) || code.starts_float(i + 1) || code.ends_float(i - 1))) {
      continue;
    }
    edits->push_back(code.replace(i, i + 1, "+ 1 " + std::string(code.token(i))));
  }
}

void find_barriers(const Code& code, std::vector<Edit>* edits) {
  static const std::set<std::string_view> names{"__syncthreads", "__syncwarp", "sync",
                                                "wait_full",     "wait_empty", "release"};
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    if (!names.contains(code.token(i)) || !code.is(i + 1, "(") || !code.in_function(i)) continue;
    const size_t close = code.partner(i + 1), first = code.operand_begin(i);
    if (close == cu2cpp::none || !code.is(close + 1, ";")) continue;
    const bool statement = first == code.statement_begin(i);
    if (statement) edits->push_back(code.replace(first, close + 1, ""));
  }
}

void find_partial_reductions(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    if (!code.is_number(i) || code.for_clause(i) != 0 || !code.is(i - 1, "=")) continue;
    if (code.is(i, "16")) edits->push_back(code.replace(i, i + 1, "8"));
    if (code.is(i, "32")) edits->push_back(code.replace(i, i + 1, "16"));
  }
}

namespace {

Edit exchanged(const Code& code, std::pair<size_t, size_t> a, std::pair<size_t, size_t> b) {
  const std::string between =
      code.text().substr(code.end(a.second - 1), code.begin(b.first) - code.end(a.second - 1));
  return code.replace(a.first, b.second,
                      code.text(b.first, b.second) + between + code.text(a.first, a.second));
}

// Members of a task's Sizes that stand next to each other in a statement.
void find_swapped_members(const Code& code, std::vector<Edit>* edits) {
  std::set<std::string, std::less<>> objects;
  for (size_t i = 0; i + 2 < code.size(); ++i) {
    if (!code.is(i, "Sizes")) continue;
    size_t name = i + 1;
    while (code.is(name, "&") || code.is(name, "const")) ++name;
    if (code.is_identifier(name)) objects.insert(std::string(code.token(name)));
  }
  size_t last = 0;  // the first token of the member before
  for (size_t i = 1; i + 2 < code.size(); ++i) {
    const bool member = objects.contains(code.token(i)) && code.is(i + 1, ".") &&
                        !code.is(i - 1, ".") && !code.is(i + 3, "(");
    if (!member) continue;
    const bool together = last != 0 && code.statement_begin(last) == code.statement_begin(i);
    const size_t end = last != 0 ? code.operand_end(last) : 0;
    const bool product = end + 1 == i && (code.is(end, "*") || code.is(end, "+"));
    if (together && !product && code.token(last + 2) != code.token(i + 2)) {
      edits->push_back(exchanged(code, {last, end}, {i, code.operand_end(i)}));
    }
    last = i;
  }
}

// Factors of one index: (a * height + b) * width + c.
void find_swapped_factors(const Code& code, std::vector<Edit>* edits) {
  size_t last = 0;
  for (size_t i = 1; i + 1 < code.size(); ++i) {
    if (!code.is(i, "*") || !code.is_binary(i) || !code.is_identifier(i + 1)) continue;
    if (code.starts_float(i + 1) || code.is(code.operand_end(i + 1) - 1, ")")) continue;
    const size_t factor = i + 1, end = code.operand_end(factor);
    const bool together = last != 0 && code.statement_begin(last) == code.statement_begin(factor);
    if (together && code.operand_end(last) != i && last < factor &&
        code.text(last, code.operand_end(last)) != code.text(factor, end)) {
      edits->push_back(exchanged(code, {last, code.operand_end(last)}, {factor, end}));
    }
    last = factor;
  }
}

}  // namespace

void find_swapped_sizes(const Code& code, std::vector<Edit>* edits) {
  find_swapped_members(code, edits);
  find_swapped_factors(code, edits);
}

}  // namespace kb
