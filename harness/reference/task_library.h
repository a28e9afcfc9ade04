// All tasks of a build tree, loaded from lib/tasks/ at run time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kb/task.h"

namespace kb {

/// lib/tasks of the build tree that this program belongs to.
std::filesystem::path tasks_folder();

/// Name ("level1/019_relu") of the task whose library (".../level1.019_relu.so") is called so; none
/// if no task's is.
std::optional<std::string> task_name(const std::filesystem::path& library);

/// Names of the tasks in a folder, sorted. Other libraries are passed over.
std::vector<std::string> task_names(const std::filesystem::path& folder);

/// Loads one task. @throws std::runtime_error with the known names if there is none of that name
Task load_task(const std::filesystem::path& folder, const std::string& name);

}  // namespace kb
