#include "lab/mutate/equivalents.h"

#include <stdexcept>

#include "base/result/files.h"

namespace kb {
namespace {

// `any` stands for any text, everything else for itself.
bool like(std::string_view pattern, std::string_view text) {
  const size_t start = pattern.find(any);
  if (start == std::string_view::npos) return pattern == text;
  if (text.substr(0, start) != pattern.substr(0, start)) return false;
  const std::string_view rest = pattern.substr(start + any.size());
  for (size_t at = start; at <= text.size(); ++at) {
    if (like(rest, text.substr(at))) return true;
  }
  return false;
}

}  // namespace

std::vector<Equivalent> read_equivalents(const std::filesystem::path& file) {
  std::vector<Equivalent> entries;
  for (const Json& entry : read_json(file)) {
    Equivalent e;
    for (const auto& [key, value] : entry.items()) {
      if (key == "judged") {
        e.judged = value.get<bool>();
        continue;
      }
      std::string* const field = key == "task"       ? &e.task
                                 : key == "operator" ? &e.mistake
                                 : key == "file"     ? &e.file
                                 : key == "before"   ? &e.before
                                 : key == "after"    ? &e.after
                                 : key == "reason"   ? &e.reason
                                                     : nullptr;
      if (field == nullptr) {
        throw std::runtime_error(
            file.string() + " has an entry with '" + key +
            "': it may have task, operator, file, before, after, judged and reason");
      }
      *field = value.get<std::string>();
    }
    if (e.reason.empty()) {
      throw std::runtime_error(file.string() +
                               " has an entry without a reason: say why the mutant of " + e.file +
                               " computes the same");
    }
    entries.push_back(std::move(e));
  }
  return entries;
}

bool matches(const Equivalent& entry, const Mutant& mutant) {
  const auto fits = [](const std::string& pattern, const std::string& text) {
    return pattern.empty() || like(pattern, text);
  };
  return fits(entry.task, mutant.task) && fits(entry.mistake, mutant.mistake) &&
         fits(entry.file, mutant.file) && fits(entry.before, mutant.before) &&
         fits(entry.after, mutant.after);
}

std::optional<Equivalent> equivalent_for(const std::vector<Equivalent>& entries,
                                         const Mutant& mutant) {
  for (const Equivalent& entry : entries) {
    if (matches(entry, mutant)) return entry;
  }
  return std::nullopt;
}

}  // namespace kb
