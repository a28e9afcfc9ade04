// Markdown as models write it; no more of it than fences.
#include "judge/generate/answer.h"

#include "base/printable.h"

namespace kb {
namespace {

bool is_fence(std::string_view line) {
  const size_t start = line.find_first_not_of(' ');
  return start != std::string_view::npos && start <= 3 && line.substr(start).starts_with("```");
}

}  // namespace

std::string kernel_of(std::string_view answer) {
  std::string longest, block;
  bool inside = false, any = false;
  for (size_t start = 0; start < answer.size();) {
    const size_t end = std::min(answer.find('\n', start), answer.size() - 1) + 1;
    const std::string_view line = answer.substr(start, end - start);
    start = end;
    if (is_fence(line)) {
      if (inside && block.size() > longest.size()) longest = block;
      block.clear();
      inside = !inside;
      any = true;
    } else if (inside) {
      block += line;
    }
  }
  if (inside && block.size() > longest.size()) longest = block;
  return any ? longest : std::string(answer);
}

std::string no_kernel(const std::string& reason) {
  return "#error the generator gave no kernel: " + printable(reason) + "\n";
}

}  // namespace kb
