// One side of a duel: how one of its units is timed.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "judge/session/runner_session.h"
#include "judge/timing/phases.h"

namespace kb {

/// How the calls of a unit are launched: one by one on the stream, or as one captured graph.
enum class LaunchMode { stream, graph };

/// Neighbouring slots that a unit calls.
struct SlotRange {
  int64_t first = 0, count = 0;
  bool contains(int64_t slot) const { return slot >= first && slot < first + count; }
};

/// What the units of an arm have shown besides their times: an entry per unit, in seconds.
struct UnitSamples {
  /// Getting ready for a unit: what is left on the device holds it up. Of the reference's units
  /// those before the candidate's, and apart from them those after.
  std::vector<double> ready, ready_after;
  std::vector<double> publishing;  ///< bringing the inputs to where the runners see them
  /// Reading some outputs and running the kernel that counts the clock, with the wait for them:
  /// they share the device with what the runner has left.
  std::vector<double> probe;
  /// By the runner's own events: on the stream, and on the device after the stream that launch()
  /// was given was done.
  std::vector<double> stream, off_stream;
  std::vector<double> mhz;  ///< the device's clock right after a unit, in MHz; none without a GPU
};

class Arm {
 public:
  enum class Side { reference, candidate };
  /// @param runner may still be starting
  Arm(Side side, RunnerSession& runner, Phases& phases)
      : side_(side), runner_(runner), phases_(phases) {}

  RunnerSession& runner() { return runner_; }
  LaunchMode mode() const { return mode_; }
  void select(LaunchMode mode) { mode_ = mode; }

  /// Captures a unit where units are graphs. @return "", or why it cannot be captured
  std::string capture(SlotRange range);
  /// The same for what could be captured before. Leaves a graph that can be timed: its first launch
  /// has brought it to the device.
  void capture_again(SlotRange range);

  /// One unit: gets ready, then calls. A captured one is what was captured last. @return seconds
  double unit(SlotRange range);
  /// The same without what an empty unit takes. Noise does not turn a short unit into nothing.
  double net_unit(SlotRange range) { return net_unit(range, empty()); }
  double net_unit(SlotRange range, double empty);
  /// The two halves of unit(). @param meanwhile what the judge does before it waits
  void get_ready(const std::function<void()>& meanwhile = {});
  double go(SlotRange range);
  double ready_seconds() const { return ready_seconds_; }  ///< of the last unit
  const protocol::Answer& answer() const { return answer_; }

  /// Median seconds of so many empty units, measured now.
  double measure_empty(int units);
  /// What is taken off units of this launch mode.
  double empty() const { return empty_[static_cast<size_t>(mode_)]; }
  void take_off(double seconds) { empty_[static_cast<size_t>(mode_)] = seconds; }

  UnitSamples samples;

 private:
  Side side_;
  RunnerSession& runner_;
  Phases& phases_;
  LaunchMode mode_ = LaunchMode::stream;
  std::array<double, 2> empty_{};  ///< by launch mode
  double ready_seconds_ = 0;
  protocol::Answer answer_{};
};

}  // namespace kb
