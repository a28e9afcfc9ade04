// Operators that leave a part of the computation out.
#include <set>

#include "lab/mutate/operators.h"

namespace kb {
namespace {

bool names_bias(const Code& code, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) {
    if (code.is_identifier(i) && code.token(i).find("bias") != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void find_biases(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 1; i + 1 < code.size(); ++i) {
    if (!code.in_function(i)) continue;
    if (code.is(i, "+") && code.is_binary(i) && !code.in_index(i)) {
      const size_t end = code.term_end(i + 1);
      if (names_bias(code, i + 1, end)) edits->push_back(code.remove(i, end));
    } else if (code.is(i, "+") && code.is_compound_assignment(i)) {
      const size_t first = code.statement_begin(i), end = code.statement_end(i);
      if (names_bias(code, i + 2, end)) edits->push_back(code.replace(first, end, ""));
    } else if (code.is(i, "=") && code.is_float_name(i - 1) && !code.is(i + 1, "=")) {
      const size_t end = code.operand_end(i + 1);
      const bool whole = code.is(end, ";") || code.is(end, ",");
      if (whole && names_bias(code, i + 1, end)) edits->push_back(code.replace(i + 1, end, "0"));
    }
  }
}

namespace {

bool is_function_of_one(const Code& code, size_t i) {
  static const std::set<std::string_view> names{
      "expf", "logf",   "sqrtf", "fabsf", "tanhf", "erff",    "log1pf", "expm1f",  "sinf",
      "cosf", "floorf", "exp2f", "log2f", "clamp", "sigmoid", "gelu",   "activate"};
  return names.contains(code.token(i)) && code.is(i + 1, "(");
}

// v = ...; where v has been declared before.
void find_statements(const Code& code, size_t i, std::vector<Edit>* edits) {
  if (!code.is(i, "=") || !code.in_function(i) || code.for_clause(i) != -1) return;
  const size_t first = code.statement_begin(i), end = code.statement_end(i);
  const bool compound = i > 0 && code.is_compound_assignment(i - 1);
  const size_t left = compound ? i - 1 : i;
  if (!code.is(end, ";") || !code.is_identifier(first) || code.operand_end(first) != left) return;
  if (code.starts_float(first)) edits->push_back(code.replace(first, end, ""));
}

void find_calls(const Code& code, size_t i, std::vector<Edit>* edits) {
  if (!is_function_of_one(code, i) || !code.in_function(i) || code.in_index(i)) return;
  const auto arguments = arguments_of(code, i + 1);
  if (arguments.empty()) return;
  const bool last = code.is(i, "activate");  // activate(which, value)
  const auto [from, to] = last ? arguments.back() : arguments.front();
  edits->push_back(code.replace(code.operand_begin(i), code.partner(i + 1) + 1,
                                "(" + code.text(from, to) + ")"));
}

void find_choices(const Code& code, size_t i, std::vector<Edit>* edits) {
  if (!code.is(i, "?") || !code.is_binary(i) || !code.in_function(i) || code.in_index(i)) return;
  const Choice choice = choice_at(code, i);
  if (choice.second == 0 || choice.end <= choice.second || !code.in_float_statement(i)) return;
  const auto take = [&](size_t from, size_t to) {
    if (to == from + 1 && code.is_number(from)) return;
    edits->push_back(code.replace(choice.condition, choice.end, "(" + code.text(from, to) + ")"));
  };
  take(choice.first, choice.second - 1);
  take(choice.second, choice.end);
}

void find_terms(const Code& code, size_t i, std::vector<Edit>* edits) {
  if (!code.is_binary(i) || !code.in_function(i) || code.in_index(i)) return;
  const bool factor = code.is(i, "*") || code.is(i, "/");
  if (!factor && !code.is(i, "+") && !code.is(i, "-")) return;
  if (!code.in_float_statement(i)) return;
  const size_t end = factor ? code.operand_end(i + 1) : code.term_end(i + 1);
  if (code.starts_float(i + 1) || code.ends_float(i - 1)) edits->push_back(code.remove(i, end));
}

}  // namespace

void find_omissions(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    find_statements(code, i, edits);
    find_calls(code, i, edits);
    find_choices(code, i, edits);
    find_terms(code, i, edits);
  }
}

}  // namespace kb
