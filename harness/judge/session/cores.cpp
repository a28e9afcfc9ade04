// Neighbours last: they may be two threads of one core, which a virtual machine does not tell, and
// one that polls slows the other. Everything else on the machine is left the first.
#include "judge/session/cores.h"

#include <sched.h>

namespace kb {

std::optional<Cores> choose_cores(const std::vector<int>& allowed, size_t gpu) {
  constexpr size_t each = 3;
  if (allowed.size() < each + 1) return std::nullopt;
  std::vector<int> order;
  for (const size_t start : {1, 2}) {
    for (size_t i = start; i < allowed.size(); i += 2) order.push_back(allowed[i]);
  }
  const auto core = [&](size_t i) { return order[(gpu * each + i) % order.size()]; };
  return Cores{core(0), core(1), core(2)};
}

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

void pin_to(const std::vector<int>& cores, pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  sched_setaffinity(process, sizeof set, &set);
}

}  // namespace kb
