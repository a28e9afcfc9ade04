// Parts of a task's name.
#include "kb/task.h"

namespace kb {

int Task::level() const { return name.at(std::string("level").size()) - '0'; }

std::string Task::slug() const { return name.substr(name.find('/') + 1); }

}  // namespace kb
