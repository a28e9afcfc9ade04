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
  return {"beside", what + " takes " + ms(beside) + " beside the candidate, " + ms(alone) +
                        " without it: something of the candidate's runs when it is not its turn"};
}

bool leaves_work(const UnitTimes& times) {
  return is_held_up(times.ready_after, times.ready_before) ||
         is_held_up(times.probe_candidate, times.probe_reference);
}

}  // namespace

std::optional<Suspicion> find_suspicion(const UnitTimes& times) {
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
  // The reference's unit that follows the candidate's shares the device with whatever the candidate
  // has left running; the one before does not.
  if (is_slowed(times.reference_lag, times.reference)) {
    return Suspicion{"lag", "the reference takes " + std::to_string(times.reference_lag) +
                                " times as long after the candidate's unit as before it: something "
                                "of the candidate's is still running"};
  }
  if (is_slowed(1 / times.reference_lag, times.reference)) {
    return Suspicion{"lag", "the reference takes " + std::to_string(1 / times.reference_lag) +
                                " times as long before the candidate's unit as after it: something "
                                "of the candidate's is running already"};
  }
  if (is_held_up(times.ready_candidate, times.ready_before)) {
    return Suspicion{"early", "before a unit of " + unit + " the candidate's process takes " +
                                  ms(times.ready_candidate) + " to get ready, the reference's " +
                                  ms(times.ready_before) + ": what does it do before its turn?"};
  }
  if (is_held_up(times.publishing_candidate, times.publishing_reference)) {
    return Suspicion{"early", "bringing the inputs of a unit takes " +
                                  ms(times.publishing_candidate) + " before the candidate's, " +
                                  ms(times.publishing_reference) +
                                  " before the reference's: what does it do before its turn?"};
  }
  if (leaves_work(times)) {
    return Suspicion{"late", "after a unit of " + unit +
                                 " the device is still taken: until the reference is ready for its "
                                 "next unit it takes " +
                                 ms(times.ready_after) + " (else " + ms(times.ready_before) +
                                 "), a small kernel of the judge " + ms(times.probe_candidate) +
                                 " (else " + ms(times.probe_reference) + ")"};
  }
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

std::optional<Suspicion> slows_reference(const ReferenceTimes& beside,
                                         const ReferenceTimes& alone) {
  if (is_slowed(beside.unit / alone.unit, alone.unit)) {
    return out_of_turn("a unit of the reference", beside.unit, alone.unit);
  }
  if (is_inflated(beside.empty, alone.empty)) {
    return out_of_turn("a unit of the reference without calls", beside.empty, alone.empty);
  }
  if (is_held_up(beside.ready, alone.ready)) {
    return out_of_turn("getting ready for the reference's unit", beside.ready, alone.ready);
  }
  if (is_held_up(beside.publishing, alone.publishing)) {
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
