// How operators see a source.
#include "lab/mutate/code.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

size_t find(const Code& code, std::string_view word) {
  for (size_t i = 0; i < code.size(); ++i) {
    if (code.is(i, word)) return i;
  }
  ADD_FAILURE() << word;
  return 0;
}

TEST(Code, SeesNoCommentsAndNoDirectives) {
  const std::string text =
      "int a; // b\n#pragma c \\\n  d\n/* e\n f */ char g = '\"'; int h = 1'000;";
  const std::string blank = without_comments(text);
  EXPECT_EQ(blank.size(), text.size());
  EXPECT_EQ(blank, "int a;     \n           \n   \n    \n      char g = '\"'; int h = 1'000;");
}

TEST(Code, FindsStatements) {
  const Code code("void f() { for (int i = 0; i < n; ++i) sum += x[i]; if (a) b = c(d, e); }");
  const size_t plus = find(code, "sum");
  EXPECT_EQ(code.text(code.statement_begin(plus), code.statement_end(plus)), "sum += x[i]");
  const size_t less = find(code, "<");
  EXPECT_EQ(code.for_clause(less), 1);
  EXPECT_EQ(code.text(code.statement_begin(less), code.statement_end(less)), "i < n");
  const size_t c = find(code, "c");
  EXPECT_EQ(code.text(code.statement_begin(c), code.statement_end(c)), "b = c(d, e)");
}

TEST(Code, FindsOperands) {
  const Code code("y = a * kb::g<int, 2>(b)[c].d + (e - f) / h;");
  const size_t kb = find(code, "kb"), d = find(code, "d"), slash = find(code, "/");
  EXPECT_EQ(code.text(kb, code.operand_end(kb)), "kb::g<int, 2>(b)[c].d");
  EXPECT_EQ(code.operand_begin(d), kb);
  EXPECT_EQ(code.text(code.operand_begin(slash - 1), slash), "(e - f)");
  EXPECT_EQ(code.text(find(code, "a"), code.term_end(find(code, "a"))),
            "a * kb::g<int, 2>(b)[c].d");
}

TEST(Code, KnowsFloatsByTheLastDeclaration) {
  const Code code(
      "float f(float v, const float* p, const float (&values)[4]) { float a = 0, b[2];"
      " int64_t n = 1; return v + n; } int g(int v) { return v; }");
  EXPECT_TRUE(code.is_float_name(find(code, "v")));
  EXPECT_FALSE(code.is_float_name(find(code, "p")));
  EXPECT_TRUE(code.is_float_name(find(code, "values")));
  EXPECT_TRUE(code.is_float_name(find(code, "b")));
  EXPECT_FALSE(code.is_float_name(find(code, "n")));
  EXPECT_FALSE(code.is_float_name(code.size() - 3)) << "the v of g";
}

TEST(Code, TellsComparisonsFromTemplates) {
  const Code code("bool a = b < c; kb::g<int>(x); std::array<int, 2> d;");
  int comparisons = 0;
  for (size_t i = 0; i < code.size(); ++i) comparisons += code.is(i, "<") && code.is_binary(i);
  EXPECT_EQ(comparisons, 1);
}

}  // namespace
}  // namespace kb
