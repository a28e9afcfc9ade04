// The bounds are chosen, not derived: wide enough for what honest kernels showed on an H200.
#include "timing/suspicions.h"

#include <utility>

namespace kb {
namespace {

std::string ms(double seconds) { return std::to_string(1e3 * seconds) + " ms"; }

// Clocks that the power limit lowers come to a tenth.
bool is_slowed(double times, double seconds) {
  constexpr double slack = 1.2, slack_seconds = 100e-6;
  return times > slack && (times - 1) * seconds > slack_seconds;
}

// Work that is elsewhere than on the given stream is not ordered with what a user does next.
bool works_beside(const UnitTimes& times) {
  constexpr double share = 0.5, slack_seconds = 200e-6;
  return times.beside > share * times.candidate + slack_seconds;
}

// The runner's own events are no witness against anybody else's clock, but an honest one's agree.
// On a stream, memory pools are emptied after the last event: with some GiB that takes 10-25 ms.
bool clocks_differ(const UnitTimes& times) {
  constexpr double slack = 1.1, slack_seconds = 300e-6;
  if (times.candidate_stream > slack * times.candidate + slack_seconds) return true;
  return times.recorded && times.candidate > slack * times.candidate_stream + slack_seconds;
}

// A recorded call keeps its time, whoever else is in the unit, but for what starting costs. (On a
// stream a lone call also pays for its launches and for a memory pool that is emptied at each end.)
bool shares_work(const UnitTimes& times) {
  constexpr double slack = 2, start_seconds = 10e-6;
  if (!times.recorded || !times.single_call) return false;
  return *times.single_call >
         slack * times.candidate / static_cast<double>(times.calls) + start_seconds;
}

// Work of some 0.1 ms on an idle device. What is still running when a runner says that it is done
// holds up whoever needs the device next, whatever the runner's own clocks say.
bool is_held_up(double seconds, double otherwise) {
  constexpr double slack = 1.1, slack_seconds = 100e-6;
  return seconds > slack * otherwise + slack_seconds;
}

bool leaves_work(const UnitTimes& times) {
  return is_held_up(times.ready_after, times.ready_before) ||
         is_held_up(times.probe_candidate, times.probe_reference);
}

}  // namespace

std::optional<Suspicion> find_suspicion(const UnitTimes& times) {
  const std::string unit = ms(times.candidate);
  if (works_beside(times)) {
    return Suspicion{"stream", "of a unit of " + unit + " " + ms(times.beside) +
                                   " came after the stream that launch() was given was done: was "
                                   "everything launched on that stream?"};
  }
  if (clocks_differ(times)) {
    return Suspicion{"clocks", "a unit takes " + unit + " by the judge's clock, but " +
                                   ms(times.candidate_stream) + " by events on its stream"};
  }
  // The reference's unit that follows the candidate's shares the device with whatever the candidate
  // has left running; the one before, after the judge's own work, does not.
  if (is_slowed(times.reference_lag, times.reference)) {
    return Suspicion{"lag", "the reference takes " + std::to_string(times.reference_lag) +
                                " times as long after the candidate's unit as before it: something "
                                "of the candidate's is still running"};
  }
  if (leaves_work(times)) {
    return Suspicion{"late", "after a unit of " + unit +
                                 " the device is still taken: until the reference is ready for its "
                                 "next unit it takes " +
                                 ms(times.ready_after) + " (else " + ms(times.ready_before) +
                                 "), a small kernel of the judge " + ms(times.probe_candidate) +
                                 " (else " + ms(times.probe_reference) + ")"};
  }
  if (shares_work(times)) {
    return Suspicion{"single", "a call alone takes " + ms(*times.single_call) + ", but one of " +
                                   std::to_string(times.calls) + " only " +
                                   ms(times.candidate / static_cast<double>(times.calls)) +
                                   ": calls share work that each must do for itself"};
  }
  return std::nullopt;
}

std::optional<Suspicion> slows_reference(double beside, double alone) {
  const double times = beside / alone;
  if (!is_slowed(times, alone)) return std::nullopt;
  return Suspicion{"beside", "the reference takes " + std::to_string(times) +
                                 " times as long beside the candidate as without it: something of "
                                 "the candidate's runs when it is not its turn"};
}

std::optional<Suspicion> faster_on_stream(double stream, double recorded) {
  constexpr double slack = 0.7, start_seconds = 2e-6;
  if (stream >= slack * recorded - start_seconds) return std::nullopt;
  return Suspicion{"lanes", "a call takes " + ms(stream) + " on a stream, but " + ms(recorded) +
                                " recorded as a graph: calls share work on the stream"};
}

}  // namespace kb
