// Operators that compute, or count, in fewer bits.
#include <map>

#include "lab/mutate/operators.h"

namespace kb {
namespace {

void add_narrow(const Code& code, size_t from, size_t to, const std::string& before,
                const std::string& sum, std::vector<Edit>* edits) {
  edits->push_back(code.replace(from, to, before + "__half2float(__float2half(" + sum + "))"));
  edits->push_back(
      code.replace(from, to, before + "__bfloat162float(__float2bfloat16(" + sum + "))"));
}

}  // namespace

void find_narrow_sums(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 1; i + 2 < code.size(); ++i) {
    if (!code.in_function(i)) continue;
    // sum += x;
    if (code.is(i, "+") && code.is_compound_assignment(i) && code.ends_float(i - 1)) {
      const size_t first = code.operand_begin(i - 1), end = code.statement_end(i);
      const std::string name = code.text(first, i);
      add_narrow(code, first, end, name + " = ", name + " + (" + code.text(i + 2, end) + ")",
                 edits);
    }
    // sum = fmaf(a, b, sum);
    if (code.is(i, "=") && code.is(i + 1, "fmaf")) {
      const auto arguments = arguments_of(code, i + 2);
      const size_t end = code.operand_end(i + 1);
      if (arguments.size() == 3 && code.text(arguments[2].first, arguments[2].second) ==
                                       code.text(code.operand_begin(i - 1), i)) {
        add_narrow(code, i + 1, end, "", code.text(i + 1, end), edits);
      }
    }
    // return a + b; of an operator that reduces
    if (code.is(i, "return") && code.is_float_name(i + 1) && code.is_float_name(i + 3) &&
        code.token(i + 1) != code.token(i + 3) && (code.is(i + 2, "+") || code.is(i + 2, "*")) &&
        code.is(i + 4, ";")) {
      add_narrow(code, i + 1, i + 4, "", code.text(i + 1, i + 4), edits);
    }
  }
}

void find_fast_intrinsics(const Code& code, std::vector<Edit>* edits) {
  static const std::map<std::string_view, const char*> fast{
      {"expf", "__expf"}, {"logf", "__logf"}, {"log2f", "__log2f"}, {"log10f", "__log10f"},
      {"powf", "__powf"}, {"sinf", "__sinf"}, {"cosf", "__cosf"},   {"exp10f", "__exp10f"}};
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    const auto known = fast.find(code.token(i));
    if (known != fast.end() && code.is(i + 1, "(")) {
      edits->push_back(code.replace(i, i + 1, known->second));
    }
  }
}

void find_narrow_indices(const Code& code, std::vector<Edit>* edits) {
  for (size_t i = 0; i + 2 < code.size(); ++i) {
    const bool local = code.is(i, "int64_t") && code.is_identifier(i + 1) && code.is(i + 2, "=") &&
                       code.in_function(i);
    if (local) edits->push_back(code.replace(i, i + 1, "int"));
  }
}

}  // namespace kb
