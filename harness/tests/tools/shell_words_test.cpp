// Command lines as CMake and Ninja write them.
#include "judge/single/shell_words.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kb {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, SplitsAtBlanks) {
  EXPECT_EQ(shell_words("c++ -c  a.cu\t-o a.o\n"), (Words{"c++", "-c", "a.cu", "-o", "a.o"}));
  EXPECT_EQ(shell_words(""), Words{});
}

TEST(ShellWords, KeepsWhatIsQuoted) {
  EXPECT_EQ(shell_words(R"(cc --link "c++;-shared;-o" '-DX="a b"' a\ b)"),
            (Words{"cc", "--link", "c++;-shared;-o", R"(-DX="a b")", "a b"}));
  EXPECT_EQ(shell_words(R"("a\"b" '' x"y"z)"), (Words{"a\"b", "", "xyz"}));
}

TEST(ShellWords, DropsWhatCMakePutsAroundALink) {
  EXPECT_EQ(shell_words(": && c++ -shared a.o && :"), (Words{"c++", "-shared", "a.o"}));
  EXPECT_EQ(shell_words("echo ':' \"&&\""), (Words{"echo", ":", "&&"}));
}

TEST(ShellWords, RefusesMoreThanOneCommandWithItsWords) {
  for (const char* line : {"a | b", "a; b", "a > b", "a $HOME", "a `b`", "a 'b", "a \"b"}) {
    EXPECT_THROW(shell_words(line), std::runtime_error) << line;
  }
}

}  // namespace
}  // namespace kb
