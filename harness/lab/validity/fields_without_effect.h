// Fields of Sizes that a kernel may ignore, with the reason.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "kb/task.h"

namespace kb {

/// Of one task: reasons by the field's name, as field_names() has it.
using FieldsWithoutEffect = std::map<std::string, std::string>;

/// Reads {"level1/019_relu": {"<field>": "<reason>"}}.
/// @throws std::runtime_error naming the file, if a field is none of the task's or has no reason
FieldsWithoutEffect read_fields_without_effect(const std::filesystem::path& file, const Task& task);

}  // namespace kb
