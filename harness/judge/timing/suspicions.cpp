// The bounds are chosen, not derived: wide enough for what honest kernels showed on an H200.
#include "judge/timing/suspicions.h"

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
bool works_off_stream(const ArmTimes& candidate) {
  constexpr double share = 0.5, slack_seconds = 200e-6;
  return candidate.off_stream > share * candidate.unit + slack_seconds;
}

// The runner's own events are no witness against anybody else's clock, but an honest one's agree.
// On a stream, memory pools are emptied after the last event: with some GiB that takes 10-25 ms.
bool clocks_differ(const UnitTimes& times) {
  constexpr double slack = 1.1, slack_seconds = 300e-6;
  const auto& [unit, stream] = std::pair(times.candidate.unit, times.candidate.stream);
  if (stream > slack * unit + slack_seconds) return true;
  return times.captured && unit > slack * stream + slack_seconds;
}

double share(double unit, const UnitTimes& times) {
  return unit / static_cast<double>(times.calls);
}

// A call keeps its time, whoever else is in the unit, but for what starting costs.
std::optional<Suspicion> shares_work(const UnitTimes& times, double start_seconds) {
  constexpr double slack = 1.5;
  const double in_company = share(times.candidate.unit, times);
  if (*times.single_call <= slack * in_company + start_seconds) return std::nullopt;
  return Suspicion{"single", "a call alone takes " + ms(*times.single_call) + ", but one of " +
                                 std::to_string(times.calls) + " only " + ms(in_company) +
                                 ": calls share work that each must do for itself"};
}

// Work of some 0.1 ms on an idle device. What is still running when a runner says that it is done
// holds up whoever needs the device next, whatever the runner's own clocks say. A thousandth of the
// unit wins nothing: after half a second of waiting processes need longer to wake up, too.
bool is_held_up(double seconds, double otherwise, double unit = 0) {
  constexpr double slack = 1.1, slack_seconds = 100e-6, slack_of_unit = 1e-3;
  return seconds > slack * otherwise + std::max(slack_seconds, slack_of_unit * unit);
}

// A unit without calls takes 20 us on an H200. What it takes longer is taken off both sides, and
// makes the faster one look faster still.
bool is_inflated(double empty, double otherwise) {
  constexpr double slack = 1.5, slack_seconds = 20e-6;
  return empty > slack * otherwise + slack_seconds;
}

Suspicion out_of_turn(const std::string& what, double with_candidate, double otherwise) {
  return {"presence",
          what + " takes " + ms(with_candidate) + " while the candidate's process lives, " +
              ms(otherwise) +
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
  const double lag = times.reference_lag, unit = times.reference.unit;
  if (is_slowed(lag, unit) && is_slowed(lag / control_lag, unit)) {
    return found(lag, "after the candidate's unit as before it", "still");
  }
  if (is_slowed(1 / lag, unit) && is_slowed(control_lag / lag, unit)) {
    return found(1 / lag, "before the candidate's unit as after it", "already");
  }
  return std::nullopt;
}

std::optional<Suspicion> begins_early(const UnitTimes& times, const UnitTimes& control) {
  const ArmTimes &reference = times.reference, &candidate = times.candidate;
  if (is_held_up(candidate.ready, std::max(reference.ready, control.candidate.ready),
                 candidate.unit)) {
    return Suspicion{"early",
                     "before a unit of " + ms(candidate.unit) + " the candidate's process takes " +
                         ms(candidate.ready) + " to get ready, the reference's " +
                         ms(reference.ready) + ": what does it do before its turn?",
                     true};
  }
  const double publishing = std::max(reference.publishing, control.candidate.publishing);
  if (is_held_up(candidate.publishing, publishing, candidate.unit)) {
    return Suspicion{"early",
                     "bringing the inputs of a unit takes " + ms(candidate.publishing) +
                         " before the candidate's, " + ms(reference.publishing) +
                         " before the reference's: what does it do before its turn?",
                     true};
  }
  return std::nullopt;
}

std::optional<Suspicion> leaves_work(const UnitTimes& times, const UnitTimes& control) {
  const ArmTimes &reference = times.reference, &candidate = times.candidate;
  const double ready = std::max(reference.ready, control.reference.ready_after);
  const double probe = std::max(reference.probe, control.candidate.probe);
  if (!is_held_up(reference.ready_after, ready, candidate.unit) &&
      !is_held_up(candidate.probe, probe, candidate.unit)) {
    return std::nullopt;
  }
  return Suspicion{"late",
                   "after a unit of " + ms(candidate.unit) +
                       " the device is still taken: until the reference is ready for its next "
                       "unit it takes " +
                       ms(reference.ready_after) + " (else " + ms(reference.ready) +
                       "), a small kernel of the judge " + ms(candidate.probe) + " (else " +
                       ms(reference.probe) + ")",
                   true};
}

}  // namespace

std::optional<Suspicion> find_suspicion(const UnitTimes& times, const UnitTimes* control) {
  const ArmTimes& candidate = times.candidate;
  const std::string unit = ms(candidate.unit);
  // An output that is right in less time than the device can move its bytes was made elsewhere or
  // before.
  constexpr double clock_slack = 0.97;
  if (candidate.unit < clock_slack * times.least) {
    return Suspicion{"floor",
                     "a unit took " + unit + ", but the device needs " + ms(times.least) +
                         " to move its bytes or do its arithmetic, whatever prepare() has done"};
  }
  if (works_off_stream(candidate)) {
    return Suspicion{"stream", "of a unit of " + unit + " " + ms(candidate.off_stream) +
                                   " came after the stream that launch() was given was done: was "
                                   "everything launched on that stream?"};
  }
  if (clocks_differ(times)) {
    return Suspicion{"clocks", "a unit takes " + unit + " by the judge's clock, but " +
                                   ms(candidate.stream) + " by events on its stream"};
  }
  const UnitTimes none;  // shows nothing that would excuse a candidate
  if (control == nullptr) control = &none;
  if (auto found = shifts_reference(times, control->reference_lag)) return found;
  if (auto found = begins_early(times, *control)) return found;
  if (auto found = leaves_work(times, *control)) return found;
  constexpr double start_seconds = 10e-6;
  if (times.captured && times.single_call) return shares_work(times, start_seconds);
  return std::nullopt;
}

// On a stream a lone call also pays for its launches, which the reference shows.
std::optional<Suspicion> shares_calls_on_stream(const UnitTimes& times, double launch_seconds) {
  if (!times.single_call) return std::nullopt;
  constexpr double start_seconds = 10e-6;
  return shares_work(times, start_seconds + std::max(0.0, launch_seconds));
}

std::optional<Suspicion> slows_reference(const ArmTimes& with_candidate, const ArmTimes& alone,
                                         const ArmTimes* control) {
  const auto otherwise = [&](double ArmTimes::*time) {
    return control == nullptr ? alone.*time : std::max(alone.*time, control->*time);
  };
  const double unit = otherwise(&ArmTimes::unit);
  if (is_slowed(with_candidate.unit / unit, unit)) {
    return out_of_turn("a unit of the reference", with_candidate.unit, unit);
  }
  const double empty = otherwise(&ArmTimes::empty), ready = otherwise(&ArmTimes::ready);
  if (is_inflated(with_candidate.empty, empty)) {
    return out_of_turn("a unit of the reference without calls", with_candidate.empty, empty);
  }
  if (is_held_up(with_candidate.ready, ready)) {
    return out_of_turn("getting ready for the reference's unit", with_candidate.ready, ready);
  }
  const double publishing = otherwise(&ArmTimes::publishing);
  if (is_held_up(with_candidate.publishing, publishing)) {
    return out_of_turn("bringing the inputs of a unit", with_candidate.publishing, publishing);
  }
  return std::nullopt;
}

std::optional<Suspicion> Presence::find(const ArmTimes& with_candidate, ArmTimes alone,
                                        const ArmTimes* control) {
  const double with_control = control == nullptr ? 0 : control->ready;
  longest_ready_ = std::max({longest_ready_, alone.ready, with_control});
  alone.ready = longest_ready_;
  return slows_reference(with_candidate, alone, control);
}

int needed_attempts(const Suspicion& suspicion, double on_stream, double captured) {
  constexpr double launches_decide = 1.2;
  constexpr int few = 3, many = 6;
  return suspicion.needs_control && on_stream > launches_decide * captured ? many : few;
}

std::optional<Suspicion> faster_on_stream(double stream, double captured) {
  constexpr double slack = 0.7, start_seconds = 2e-6;
  if (stream >= slack * captured - start_seconds) return std::nullopt;
  return Suspicion{"lanes", "a call takes " + ms(stream) + " on a stream, but " + ms(captured) +
                                " captured as a graph: calls share work on the stream"};
}

}  // namespace kb
