// Kernels in answers as models give them.
#include "judge/generate/answer.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

TEST(Answer, IsTheKernelWithoutFences) {
  EXPECT_EQ(kernel_of("int x;\nint y;"), "int x;\nint y;");
  EXPECT_EQ(kernel_of(""), "");
}

TEST(Answer, HoldsTheKernelBetweenFences) {
  EXPECT_EQ(kernel_of("Here:\n```cuda\nint x;\n```\nEnjoy.\n"), "int x;\n");
  EXPECT_EQ(kernel_of("  ```\nint x;\n  ```"), "int x;\n");
  EXPECT_EQ(kernel_of("```\nint x;\r\n```\r\n"), "int x;\r\n");
}

TEST(Answer, HoldsTheKernelInItsLongestBlock) {
  EXPECT_EQ(kernel_of("```sh\nls\n```\n```cuda\nint longer;\n```\n```\nx\n```\n"), "int longer;\n");
}

TEST(Answer, MayEndBeforeTheFence) {
  EXPECT_EQ(kernel_of("```cuda\nint x;\nint y"), "int x;\nint y");
  EXPECT_EQ(kernel_of("nothing\n```"), "");
  EXPECT_EQ(kernel_of("```cuda\n```\n"), "");
}

TEST(Answer, ThatGaveNoneIsOneLineThatDoesNotCompile) {
  EXPECT_EQ(no_kernel("it ended"), "#error the generator gave no kernel: it ended\n");
  EXPECT_EQ(no_kernel("a\nint x;").find('\n'), no_kernel("a\nint x;").size() - 1);
}

}  // namespace
}  // namespace kb
