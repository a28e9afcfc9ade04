// Whether task.h is held out to somebody whose signature is the mistake, and to nobody else.
#include "judge/programs/signature_hint.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

TEST(SignatureHint, IsForWhatCompilersSayOfSignatures) {
  for (const char* said :
       {"k.cu:2:53: error: 'void task::launch(const task::Sizes&, float*, float*)' should have "
        "been "
        "declared inside 'task'\n",
        "k.cu:2:12: error: out-of-line definition of 'launch' does not match any declaration in "
        "namespace 'task'\n",
        "k.cu:2:58: error: ambiguating new declaration of 'int task::prepare(const Sizes&)'\n",
        "k.cu(2): error: cannot overload functions distinguished by return type alone\n"
        "  int task::launch(const Sizes& s, const float* x, float* y) {}\n",
        "k.cu:2:5: error: functions that differ only in their return type cannot be overloaded\n"
        "int launch(const Sizes& s, const float* x, float* y) {} }\n"}) {
    EXPECT_NE(signature_hint(said).find("task.h"), std::string::npos) << said;
  }
}

TEST(SignatureHint, IsNotForErrorsWithinTheFunction) {
  for (const char* said :
       {"",
        "k.cu: In function 'void task::launch(const task::Sizes&, const float*, float*)':\n"
        "k.cu:2:73: error: 'const struct task::Sizes' has no member named 'dims'\n",
        "k.cu(2): error: argument of type \"int\" is incompatible with parameter of type \"float "
        "*\"\n"
        "  void task::launch(const Sizes& s, float* y) { task::launch(s, 1); }\n",
        "k.cu(2): error: cannot overload functions distinguished by return type alone\n"
        "  int helper(int);\n"}) {
    EXPECT_EQ(signature_hint(said), "") << said;
  }
}

}  // namespace
}  // namespace kb
