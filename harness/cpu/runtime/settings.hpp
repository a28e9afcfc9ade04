// What the environment tells the device.
#pragma once

#include <string>

namespace kb::cpu {

/// Read when the library is loaded, before any code of a program's runs, and taken out of the
/// environment, so that no program sees or changes them.
struct Settings {
  std::string schedule;  ///< KB_CPU_SCHEDULE
  int threads = 0;       ///< KB_CPU_THREADS; 0: all cores
  bool strict = false;   ///< KB_CPU_STRICT
};

const Settings& settings();

}  // namespace kb::cpu
