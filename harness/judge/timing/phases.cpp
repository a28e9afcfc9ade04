// Wall time by phase.
#include "judge/timing/phases.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <numeric>
#include <sstream>

namespace kb {

Phases::Scope::Scope(Phases& phases, std::string name) : phases_(phases), outer_(phases.current_) {
  phases_.turn_to(std::move(name));
}

Phases::Scope::~Scope() { phases_.turn_to(outer_); }

void Phases::turn_to(std::string name) {
  const auto now = Clock::now();
  if (!current_.empty()) {
    seconds_[current_] += std::chrono::duration<double>(now - since_).count();
  }
  since_ = now;
  current_ = std::move(name);
}

double Phases::total() const {
  return std::accumulate(seconds_.begin(), seconds_.end(), 0.0,
                         [](double sum, const auto& phase) { return sum + phase.second; });
}

double process_seconds() {
  // "1234 (name) S 1 ...": field 22 is the start in clock ticks since boot; names may hold
  // anything.
  std::ifstream in("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  double started = 0;
  fields >> started;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
         started / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace kb
