// An instruction's line is `/*0100*/  @!P0 LDG.E.128 R8, desc[UR4][R2.64] ;  /* encoding */`.
#include "sandbox/build/sass.h"

namespace kb {
namespace {

constexpr std::string_view space = " \t";
constexpr size_t most_functions = 10000;  // a source can embed machine code that nobody compiled

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(space);
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

// "LDG.E.128" of an instruction's line, "" of any other.
std::string_view operation(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("/*")) return {};
  const size_t end = line.find("*/");
  if (end == std::string_view::npos) return {};
  line = trimmed(line.substr(end + 2));
  if (line.starts_with('@')) {
    const size_t predicate = line.find_first_of(space);
    if (predicate == std::string_view::npos) return {};
    line = trimmed(line.substr(predicate));
  }
  return line.substr(0, line.find_first_of(" \t;"));
}

bool has_modifier(std::string_view operation, std::string_view wanted) {
  for (size_t dot = operation.find('.'); dot != std::string_view::npos;) {
    operation.remove_prefix(dot + 1);
    dot = operation.find('.');
    if (operation.substr(0, dot) == wanted) return true;
  }
  return false;
}

}  // namespace

void SassReader::take(std::string_view line) {
  constexpr std::string_view title = "Function : ";
  if (const std::string_view text = trimmed(line); text.starts_with(title)) {
    const std::string symbol(text.substr(title.size()));
    const bool room = kernels_.size() < most_functions || kernels_.contains(symbol);
    current_ = room ? &kernels_[symbol] : nullptr;
    return;
  }
  if (current_ == nullptr) return;
  const std::string_view whole = operation(line);
  const std::string_view base = whole.substr(0, whole.find('.'));
  if (base.ends_with("MMA")) ++current_->tensor_core_instructions;
  if (base == "LDG" || base == "LD" || base == "LDGSTS") {
    for (const char* width : {"64", "128", "256"}) {
      if (has_modifier(whole, width)) ++current_->vector_load_instructions;
    }
  }
}

}  // namespace kb
