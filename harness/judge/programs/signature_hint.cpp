// In the words of g++, nvcc and clang.
#include "judge/programs/signature_hint.h"

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <string_view>

namespace kb {
namespace {

bool mentions(std::string_view line, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](std::string_view phrase) {
    return line.find(phrase) != std::string_view::npos;
  });
}

bool blames_signature(std::string_view line) {
  return mentions(line, {"should have been declared inside", "ambiguating new declaration",
                         "no declaration matches", "does not match any declaration",
                         "matches the specified type", "distinguished by return type",
                         "differ only in their return type"});
}

bool names_entry(std::string_view line) { return mentions(line, {"launch", "prepare"}); }

}  // namespace

std::string signature_hint(const std::string& diagnostics) {
  std::istringstream lines(diagnostics);
  bool blamed = false;  // by the line before; the source's line follows it
  for (std::string line; std::getline(lines, line);) {
    const bool blames = blames_signature(line);
    if (names_entry(line) && (blames || blamed)) {
      return " (define task::launch with exactly the signature in the task's task.h)";
    }
    blamed = blames;
  }
  return "";
}

}  // namespace kb
