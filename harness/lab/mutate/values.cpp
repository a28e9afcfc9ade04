// Operators on the numbers that kernels start from, compare with, add and divide by.
#include <array>
#include <cstdlib>

#include "lab/mutate/operators.h"

namespace kb {

void find_initial_values(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 1; i + 1 < code.size(); ++i) {
    if (code.is(i, "INFINITY") || code.is(i, "FLT_MAX")) {
      const bool minus = code.is(i - 1, "-");
      const size_t first = minus ? i - 1 : i;
      edits->push_back(code.replace(first, i + 1, "0.f"));
      edits->push_back(code.replace(first, i + 1, minus ? "-20.f" : "20.f"));
    }
    // float sum = 0; and ... sum += x;
    const bool start = code.is(i, "=") && code.is(i + 1, "0") && code.is_float_name(i - 1) &&
                       code.in_function(i) && (code.is(i + 2, ";") || code.is(i + 2, ","));
    if (!start) continue;
    for (size_t k = i + 2; k + 2 < code.size() && code.in_function(k); ++k) {
      if (code.token(k) == code.token(i - 1) && code.is_compound_assignment(k + 1)) {
        edits->push_back(code.replace(i + 1, i + 2, "1"));
        break;
      }
    }
  }
}

namespace {

bool is_float_extremum(std::string_view word) {
  return word == "fmaxf" || word == "fminf" || word == "Max" || word == "Min";
}
bool is_extremum(std::string_view word) {
  return is_float_extremum(word) || word == "max" || word == "min";
}

}  // namespace

void find_extrema(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    if (is_extremum(code.token(i)) && code.is_identifier(i)) {
      size_t open = i + 1;
      if (code.is(open, "{") && code.partner(open) == open + 1) open += 2;  // Max{}(a, b)
      if (!code.is(open, "(") || !code.in_function(i)) continue;
      const auto arguments = arguments_of(code, open);
      if (arguments.size() != 2) continue;
      const size_t first = code.operand_begin(i), end = code.partner(open) + 1;
      for (const auto& [from, to] : arguments) {
        edits->push_back(code.replace(first, end, "(" + code.text(from, to) + ")"));
      }
      if (is_float_extremum(code.token(i))) edits->push_back(code.replace(first, end, "0.f"));
    }
    // a > b ? a : b, also with other conditions in front
    if (!code.is(i, "?") || !code.is_binary(i)) continue;
    const Choice choice = choice_at(code, i);
    if (choice.second == 0 || choice.end <= choice.second) continue;
    const std::string a = code.text(choice.first, choice.second - 1);
    const std::string b = code.text(choice.second, choice.end);
    const std::string condition = code.text(choice.condition, i);
    const bool compares = condition.ends_with(a + " < " + b) ||
                          condition.ends_with(b + " < " + a) ||
                          condition.ends_with(a + " > " + b) || condition.ends_with(b + " > " + a);
    if (!compares) continue;
    edits->push_back(code.replace(choice.condition, choice.end, "(" + a + ")"));
    edits->push_back(code.replace(choice.condition, choice.end, "(" + b + ")"));
    if (code.starts_float(choice.first)) {
      edits->push_back(code.replace(choice.condition, choice.end, "0.f"));
    }
  }
}

namespace {

constexpr double largest_epsilon = 1e-3;

bool is_epsilon(const Code& code, size_t last) {
  if (code.is_number(last)) {
    const double value = std::strtod(std::string(code.token(last)).c_str(), nullptr);
    return value > 0 && value <= largest_epsilon;
  }
  const auto word = code.token(last);
  return word.starts_with("eps") || word.ends_with("_eps") || word.ends_with("epsilon");
}

}  // namespace

void find_epsilons(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 1; i + 1 < code.size(); ++i) {
    if (!code.is(i, "+") || !code.is_binary(i)) continue;
    const size_t end = code.operand_end(i + 1);
    if (!is_epsilon(code, end - 1)) continue;
    const std::string eps = code.text(i + 1, end);
    edits->push_back(code.remove(i, end));
    edits->push_back(code.replace(i + 1, end, eps + " * 0.01f"));
    edits->push_back(code.replace(i + 1, end, eps + " * 100"));
    const size_t open = code.around(i);
    if (open == cu2cpp::none || open == 0 || code.partner(open) != end) continue;
    const auto function = code.token(open - 1);
    if (function != "sqrtf" && function != "rsqrtf" && function != "sqrt") continue;
    edits->push_back(code.replace(
        open - 1, end + 1,
        "(" + std::string(function) + "(" + code.text(open + 1, i) + ") + " + eps + ")"));
  }
}

void find_divisors(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 1; i + 1 < code.size(); ++i) {
    if (!code.is(i, "/") || !code.is_binary(i) || code.in_index(i) || code.is_number(i + 1)) {
      continue;
    }
    if (!code.in_float_statement(i) || !(code.ends_float(i - 1) || code.starts_float(i + 1))) {
      continue;
    }
    const size_t end = code.operand_end(i + 1);
    const std::string by = code.text(i + 1, end);
    if (by.starts_with("(") && by.ends_with(" - 1)")) {
      edits->push_back(code.replace(i + 1, end, by.substr(0, by.size() - 5) + ")"));
    } else {
      edits->push_back(code.replace(i + 1, end, "(" + by + " - 1)"));
    }
  }
}

}  // namespace kb
