// The bounds are chosen, not derived: wide enough for what honest kernels showed on an H200.
#include "timing/suspicions.h"

#include <algorithm>
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

double share(double unit, const UnitTimes& times) {
  return unit / static_cast<double>(times.calls);
}

// A call keeps its time, whoever else is in the unit, but for what starting costs.
std::optional<Suspicion> shares_work(const UnitTimes& times, double start_seconds) {
  constexpr double slack = 1.5;
  const double in_company = share(times.candidate, times);
  if (*times.single_call <= slack * in_company + start_seconds) return std::nullopt;
  return Suspicion{"single", "a call alone takes " + ms(*times.single_call) + ", but one of " +
                                 std::to_string(times.calls) + " only " + ms(in_company) +
                                 ": calls share work that each must do for itself"};
}

// Work of some 0.1 ms on an idle device. What is still running when a runner says that it is done
// holds up whoever needs the device next, whatever the runner's own clocks say.
bool is_held_up(double seconds, double otherwise) {
  constexpr double slack = 1.1, slack_seconds = 100e-6;
  return seconds > slack * otherwise + slack_seconds;
}

// A unit without calls takes 20 us on an H200. What it takes longer is taken off both sides, and
// makes the faster one look faster still.
bool is_inflated(double empty, double otherwise) {
  constexpr double slack = 1.5, slack_seconds = 20e-6;
  return empty > slack * otherwise + slack_seconds;
}

Suspicion out_of_turn(const std::string& what, double beside, double alone) {
  return {"beside",
          what + " takes " + ms(beside) + " beside the candidate, " + ms(alone) +
              " without it: something of the candidate's runs when it is not its turn",
          true};
}

// The reference's unit that follows the candidate's shares the device with whatever the candidate
// has left running; the one before does not.
std::optional<Suspicion> shifts_reference(const UnitTimes& times, double control_lag) {
  const auto found = [&](double lag, const char* where, const char* what) {
    return Suspicion{"lag",
                     "the reference takes " + std::to_string(lag) + " times as long " + where +
                         ": something of the candidate's is " + what + " running",
                     true};
  };
  const double lag = times.reference_lag;
  if (is_slowed(lag, times.reference) && is_slowed(lag / control_lag, times.reference)) {
    return found(lag, "after the candidate's unit as before it", "still");
  }
  if (is_slowed(1 / lag, times.reference) && is_slowed(control_lag / lag, times.reference)) {
    return found(1 / lag, "before the candidate's unit as after it", "already");
  }
  return std::nullopt;
}

std::optional<Suspicion> begins_early(const UnitTimes& times, const UnitTimes& control) {
  const double ready = std::max(times.ready_before, control.ready_candidate);
  if (is_held_up(times.ready_candidate, ready)) {
    return Suspicion{"early",
                     "before a unit of " + ms(times.candidate) + " the candidate's process takes " +
                         ms(times.ready_candidate) + " to get ready, the reference's " +
                         ms(times.ready_before) + ": what does it do before its turn?",
                     true};
  }
  const double publishing = std::max(times.publishing_reference, control.publishing_candidate);
  if (is_held_up(times.publishing_candidate, publishing)) {
    return Suspicion{"early",
                     "bringing the inputs of a unit takes " + ms(times.publishing_candidate) +
                         " before the candidate's, " + ms(times.publishing_reference) +
                         " before the reference's: what does it do before its turn?",
                     true};
  }
  return std::nullopt;
}

std::optional<Suspicion> leaves_work(const UnitTimes& times, const UnitTimes& control) {
  if (!is_held_up(times.ready_after, std::max(times.ready_before, control.ready_after)) &&
      !is_held_up(times.probe_candidate,
                  std::max(times.probe_reference, control.probe_candidate))) {
    return std::nullopt;
  }
  return Suspicion{"late",
                   "after a unit of " + ms(times.candidate) +
                       " the device is still taken: until the reference is ready for its next "
                       "unit it takes " +
                       ms(times.ready_after) + " (else " + ms(times.ready_before) +
                       "), a small kernel of the judge " + ms(times.probe_candidate) + " (else " +
                       ms(times.probe_reference) + ")",
                   true};
}

}  // namespace

std::optional<Suspicion> find_suspicion(const UnitTimes& times, const UnitTimes* control) {
  const std::string unit = ms(times.candidate);
  // An output that is right in less time than the device can move its bytes was made elsewhere or
  // before.
  constexpr double clock_slack = 0.97;
  if (times.candidate < clock_slack * times.least) {
    return Suspicion{"floor", "a unit took " + unit + ", but the device needs " + ms(times.least) +
                                  " to move its bytes or do its arithmetic"};
  }
  if (works_beside(times)) {
    return Suspicion{"stream", "of a unit of " + unit + " " + ms(times.beside) +
                                   " came after the stream that launch() was given was done: was "
                                   "everything launched on that stream?"};
  }
  if (clocks_differ(times)) {
    return Suspicion{"clocks", "a unit takes " + unit + " by the judge's clock, but " +
                                   ms(times.candidate_stream) + " by events on its stream"};
  }
  const UnitTimes none;  // shows nothing that would excuse a candidate
  if (control == nullptr) control = &none;
  if (auto found = shifts_reference(times, control->reference_lag)) return found;
  if (auto found = begins_early(times, *control)) return found;
  if (auto found = leaves_work(times, *control)) return found;
  constexpr double start_seconds = 10e-6;
  if (times.recorded && times.single_call) return shares_work(times, start_seconds);
  return std::nullopt;
}

// On a stream a lone call also pays for its launches, which the reference shows.
std::optional<Suspicion> shares_calls_on_stream(const UnitTimes& times, double launch_seconds) {
  if (!times.single_call) return std::nullopt;
  constexpr double start_seconds = 10e-6;
  return shares_work(times, start_seconds + std::max(0.0, launch_seconds));
}

std::optional<Suspicion> slows_reference(const ReferenceTimes& beside, const ReferenceTimes& alone,
                                         const ReferenceTimes* control) {
  const auto otherwise = [&](double ReferenceTimes::*time) {
    return control == nullptr ? alone.*time : std::max(alone.*time, control->*time);
  };
  const double unit = otherwise(&ReferenceTimes::unit);
  if (is_slowed(beside.unit / unit, unit)) {
    return out_of_turn("a unit of the reference", beside.unit, alone.unit);
  }
  if (is_inflated(beside.empty, otherwise(&ReferenceTimes::empty))) {
    return out_of_turn("a unit of the reference without calls", beside.empty, alone.empty);
  }
  if (is_held_up(beside.ready, otherwise(&ReferenceTimes::ready))) {
    return out_of_turn("getting ready for the reference's unit", beside.ready, alone.ready);
  }
  if (is_held_up(beside.publishing, otherwise(&ReferenceTimes::publishing))) {
    return out_of_turn("bringing the inputs of a unit", beside.publishing, alone.publishing);
  }
  return std::nullopt;
}

std::optional<Suspicion> faster_on_stream(double stream, double recorded) {
  constexpr double slack = 0.7, start_seconds = 2e-6;
  if (stream >= slack * recorded - start_seconds) return std::nullopt;
  return Suspicion{"lanes", "a call takes " + ms(stream) + " on a stream, but " + ms(recorded) +
                                " recorded as a graph: calls share work on the stream"};
}

}  // namespace kb
