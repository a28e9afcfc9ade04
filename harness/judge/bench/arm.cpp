// The clock of a unit starts when the request is published and stops when the answer is seen.
#include "judge/bench/arm.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "base/result/verdict.h"
#include "judge/timing/statistics.h"

namespace kb {

std::string Arm::capture(SlotRange range) {
  // Calls on a stream need no capture.
  return mode_ == LaunchMode::stream ? "" : runner_.capture(range.first, range.count);
}

void Arm::capture_again(SlotRange range) {
  const std::string why = capture(range);
  if (!why.empty()) runner_.fail(Verdict::runtime_error, why + ", although it could before");
  if (mode_ == LaunchMode::graph) unit(range);
}

double Arm::unit(SlotRange range) {
  get_ready();
  return go(range);
}

double Arm::net_unit(SlotRange range, double empty) {
  TORCH_CHECK(mode_ == LaunchMode::stream || runner_.has_replayed(),
              "the first launch of a graph must not be timed");
  const double gross = unit(range);
  return std::max(gross - empty, gross / 10);
}

void Arm::get_ready(const std::function<void()>& meanwhile) {
  const auto phase = phases_.in("waking");
  runner_.wake(meanwhile);
  ready_seconds_ = runner_.seconds();
  if (side_ == Side::reference && mode_ == LaunchMode::stream) runner_.warm();
}

double Arm::go(SlotRange range) {
  const auto phase = phases_.in(side_ == Side::candidate ? "candidate" : "reference");
  answer_ = mode_ == LaunchMode::graph ? runner_.replay() : runner_.run(range.first, range.count);
  return runner_.seconds();
}

double Arm::measure_empty(int units) {
  std::vector<double> seconds;
  for (int i = 0; i < units; ++i) seconds.push_back(unit({}));
  return median(std::move(seconds));
}

}  // namespace kb
