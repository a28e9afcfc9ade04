// Every operator: text in, texts of the mutants out.
#include "lab/mutate/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace kb {
namespace {

using Texts = std::vector<std::string>;

Texts mutants(const std::string& name, const std::string& text) {
  const Code code(text);
  for (const Operator& each : operators()) {
    if (each.name != name) continue;
    std::vector<Edit> edits;
    each.find(code, &edits);
    Texts texts;
    for (const Edit& edit : edits) texts.push_back(apply(text, edit));
    return texts;
  }
  throw std::runtime_error("no operator " + name);
}

// The same for the body of a function; what all have in common is left out of the results.
Texts body_mutants(const std::string& name, const std::string& body,
                   const std::string& head = "void f() { ") {
  Texts texts = mutants(name, head + body + " }");
  for (std::string& text : texts) {
    text = text.substr(head.size(), text.size() - head.size() - 2);
  }
  return texts;
}

const std::string of_floats = "__device__ float f(float v, float w, float sum) { ";

TEST(Operators, HaveNamesOfTheirOwn) {
  for (const Operator& a : operators()) {
    EXPECT_EQ(std::count_if(operators().begin(), operators().end(),
                            [&](const Operator& b) { return std::string(a.name) == b.name; }),
              1);
  }
}

TEST(Operators, MoveComparisons) {
  EXPECT_EQ(body_mutants("comparison", "if (a < b || c >= d) g<int>(x);"),
            (Texts{"if (a <= b || c >= d) g<int>(x);", "if (a < b || c > d) g<int>(x);"}));
  EXPECT_EQ(body_mutants("comparison", "k<<<a, b>>>(x);"), Texts{});
  EXPECT_EQ(body_mutants("comparison", "n = a + b < c ? a + b : c;").size(), 1u);
  EXPECT_EQ(body_mutants("comparison", "n = a[i] < c ? c : a[i];"), Texts{}) << "an extremum";
}

TEST(Operators, CutTails) {
  EXPECT_EQ(body_mutants("tail", "for (int i = 0; i < 8; ++i) g(i);"),
            Texts{"for (int i = 0; i + 1 < 8; ++i) g(i);"});
  EXPECT_EQ(body_mutants("tail", "if (row >= rows) return;"),
            Texts{"if (row + 1 >= rows) return;"});
  EXPECT_EQ(body_mutants("tail", "blocks = (n + 255) / 256;"), Texts{"blocks = (n) / 256;"});
  EXPECT_EQ(body_mutants("tail", "blocks = (n + size - 1) / size;"), Texts{"blocks = (n) / size;"});
  EXPECT_EQ(body_mutants("tail", "y = (n + 2) / 256;"), Texts{}) << "it does not round up";
  EXPECT_EQ(body_mutants("tail", "return v < w ? v : w;", of_floats), Texts{}) << "no index";
}

TEST(Operators, DropBarriers) {
  EXPECT_EQ(body_mutants("barrier", "a = 1; __syncthreads(); b = a;"), Texts{"a = 1; ; b = a;"});
  EXPECT_EQ(body_mutants("barrier", "block.sync(); b = a;"), Texts{"; b = a;"});
  EXPECT_EQ(mutants("barrier", "// __syncthreads();\nvoid f();"), Texts{});
}

TEST(Operators, HalveReductionsOfWarps) {
  EXPECT_EQ(body_mutants("partial_reduction", "for (int i = 16; i > 0; i /= 2) g(i);"),
            Texts{"for (int i = 8; i > 0; i /= 2) g(i);"});
}

TEST(Operators, StartReductionsFromElsewhere) {
  EXPECT_EQ(body_mutants("initial_value", "float max = -INFINITY;"),
            (Texts{"float max = 0.f;", "float max = -20.f;"}));
  EXPECT_EQ(body_mutants("initial_value", "float min = FLT_MAX;"),
            (Texts{"float min = 0.f;", "float min = 20.f;"}));
  EXPECT_EQ(body_mutants("initial_value", "float sum = 0; sum += x;"),
            Texts{"float sum = 1; sum += x;"});
  EXPECT_EQ(body_mutants("initial_value", "float v = 0; v = x;"), Texts{}) << "no sum";
}

TEST(Operators, TakeOneOfTwoOrAConstantForTheGreater) {
  EXPECT_EQ(body_mutants("extremum", "m = fmaxf(m, x[i]);"),
            (Texts{"m = (m);", "m = (x[i]);", "m = 0.f;"}));
  EXPECT_EQ(body_mutants("extremum", "m = kb::Max{}(m, v);"),
            (Texts{"m = (m);", "m = (v);", "m = 0.f;"}));
  EXPECT_EQ(body_mutants("extremum", "n = std::min(a, b - c);"),
            (Texts{"n = (a);", "n = (b - c);"}));
  EXPECT_EQ(body_mutants("extremum", "return is_nan(v) || v > w ? v : w;", of_floats),
            (Texts{"return (v);", "return (w);", "return 0.f;"}));
  EXPECT_EQ(body_mutants("extremum", "return v > 0 ? w : v;", of_floats), Texts{});
  EXPECT_EQ(
      body_mutants("extremum", "return v < w ? w : v > sum ? sum : v;", of_floats),
      (Texts{"return v < w ? w : (sum);", "return v < w ? w : (v);", "return v < w ? w : 0.f;"}));
}

TEST(Operators, MisplaceEpsilons) {
  EXPECT_EQ(body_mutants("epsilon", "s = 1 / sqrtf(m + 1e-5f);"),
            (Texts{"s = 1 / sqrtf(m);", "s = 1 / sqrtf(m + 1e-5f * 0.01f);",
                   "s = 1 / sqrtf(m + 1e-5f * 100);", "s = 1 / (sqrtf(m) + 1e-5f);"}));
  EXPECT_EQ(body_mutants("epsilon", "d = a - b + how.eps;"),
            (Texts{"d = a - b;", "d = a - b + how.eps * 0.01f;", "d = a - b + how.eps * 100;"}));
  EXPECT_EQ(body_mutants("epsilon", "v = v + 0.5f;"), Texts{});
}

TEST(Operators, DivideByOneLess) {
  EXPECT_EQ(body_mutants("divisor", "return sum / n;", of_floats), Texts{"return sum / (n - 1);"});
  EXPECT_EQ(body_mutants("divisor", "return sum / (n - 1);", of_floats),
            Texts{"return sum / (n);"});
  EXPECT_EQ(body_mutants("divisor", "const int64_t row = i / n;"), Texts{}) << "of integers";
  EXPECT_EQ(body_mutants("divisor", "return v * x[i / n];", of_floats), Texts{}) << "of an index";
}

TEST(Operators, AddInFewerBits) {
  EXPECT_EQ(body_mutants("narrow_sum", "sum += v * w;", of_floats),
            (Texts{"sum = __half2float(__float2half(sum + (v * w)));",
                   "sum = __bfloat162float(__float2bfloat16(sum + (v * w)));"}));
  EXPECT_EQ(body_mutants("narrow_sum", "sum = fmaf(v, w, sum);", of_floats).front(),
            "sum = __half2float(__float2half(fmaf(v, w, sum)));");
  EXPECT_EQ(body_mutants("narrow_sum", "return v + w;", of_floats).front(),
            "return __half2float(__float2half(v + w));");
  EXPECT_EQ(body_mutants("narrow_sum", "x += n;", "void f(const float* x, int n) { "), Texts{});
}

TEST(Operators, TakeFastIntrinsics) {
  EXPECT_EQ(body_mutants("fast_intrinsic", "y = expf(x) + __logf(x);"),
            Texts{"y = __expf(x) + __logf(x);"});
}

TEST(Operators, CountInFewerBits) {
  EXPECT_EQ(body_mutants("narrow_index", "const int64_t i = a * b;"),
            Texts{"const int i = a * b;"});
  EXPECT_EQ(mutants("narrow_index", "void f(int64_t n);"), Texts{});
}

TEST(Operators, ExchangeSizes) {
  const std::string head = "void f(const Sizes& s) { ";
  EXPECT_EQ(body_mutants("swapped_sizes", "g(s.a, s.b, s.c);", head),
            (Texts{"g(s.b, s.a, s.c);", "g(s.a, s.c, s.b);"}));
  EXPECT_EQ(body_mutants("swapped_sizes", "n = s.a * s.b;", head), Texts{}) << "no matter";
  EXPECT_EQ(body_mutants("swapped_sizes", "g(s.a, s.b[0]);", head), Texts{"g(s.b[0], s.a);"});
  EXPECT_EQ(body_mutants("swapped_sizes", "i = (a * height + b) * width + c;"),
            Texts{"i = (a * width + b) * height + c;"});
}

TEST(Operators, ForgetBiases) {
  EXPECT_EQ(body_mutants("bias", "return v * w + kb::element(bias, i);", of_floats),
            Texts{"return v * w;"});
  EXPECT_EQ(body_mutants("bias", "v += element(conv_bias, c); return v;", of_floats),
            Texts{"; return v;"});
  EXPECT_EQ(body_mutants("bias", "const float b = element(bias, c), d = 1;"),
            Texts{"const float b = 0, d = 1;"});
  EXPECT_EQ(body_mutants("bias", "const float* p = bias + c;"), Texts{}) << "a place";
}

TEST(Operators, LeaveOutWhatAFusionDoes) {
  EXPECT_EQ(body_mutants("omission", "v = v < 0 ? 0 : v; return v;", of_floats),
            (Texts{"; return v;", "v = (v); return v;"}));
  EXPECT_EQ(body_mutants("omission", "return tanhf(v);", of_floats), Texts{"return (v);"});
  EXPECT_EQ(body_mutants("omission", "return kb::clamp(v, 0, 1);", of_floats),
            Texts{"return (v);"});
  EXPECT_EQ(body_mutants("omission", "return v * w + sum;", of_floats),
            (Texts{"return v + sum;", "return v * w;"}));
  EXPECT_EQ(body_mutants("omission", "return x[i + n * 2];", of_floats), Texts{}) << "an index";
  EXPECT_EQ(body_mutants("omission", "const int64_t i = a * b + c;"), Texts{}) << "no floats";
}

TEST(Operators, LeaveLinesWhereTheyAre) {
  const std::string text = "void f(float v) {\n  v +=\n      bias(\n          v);\n  g(v);\n}\n";
  for (const Operator& each : operators()) {
    const Code code(text);
    std::vector<Edit> edits;
    each.find(code, &edits);
    for (const Edit& edit : edits) {
      const std::string mutant = apply(text, edit);
      EXPECT_EQ(std::count(mutant.begin(), mutant.end(), '\n'), 6) << each.name << "\n" << mutant;
    }
  }
}

}  // namespace
}  // namespace kb
