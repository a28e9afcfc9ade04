#include "lab/validity/fields_without_effect.h"

#include <algorithm>
#include <stdexcept>

#include "base/result/files.h"
#include "lab/validity/frozen_fields.h"

namespace kb {

FieldsWithoutEffect read_fields_without_effect(const std::filesystem::path& file,
                                               const Task& task) {
  const Json tasks = read_json(file);
  FieldsWithoutEffect fields;
  const auto found = tasks.find(task.name);
  if (found == tasks.end()) return fields;
  const std::vector<std::string> known = field_names(task);
  for (const auto& [field, reason] : found->items()) {
    const std::string where = file.string() + ", " + task.name + ", '" + field + "': ";
    if (std::find(known.begin(), known.end(), field) == known.end()) {
      throw std::runtime_error(where + "the task's Sizes have no such field");
    }
    if (!reason.is_string() || reason.get<std::string>().empty()) {
      throw std::runtime_error(where + "say why a kernel may ignore it");
    }
    fields.emplace(field, reason.get<std::string>());
  }
  return fields;
}

}  // namespace kb
