// How tests start the runner that lies (fake_runner.cpp).
#pragma once

#include <chrono>
#include <string>

#include "judge/session/runner_session.h"

namespace kb {

/// @param how what it does; "honest" is one of the ways
inline RunnerOptions fake_runner(const std::string& how, std::chrono::milliseconds call_timeout) {
  RunnerOptions options;
  options.command = {KB_FAKE_RUNNER, how};
  options.module = KB_FAKE_RUNNER;
  options.call_timeout = call_timeout;
  return options;
}

}  // namespace kb
