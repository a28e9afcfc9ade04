// Times that no honest candidate shows, as far as noise allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kb {

/// What a chain of blocks has shown, in seconds, each estimated as the speed-up is; lone calls are
/// medians.
struct UnitTimes {
  double reference = 0, candidate = 0;  ///< units by the judge's clock
  double least = 0;                     ///< hard_floor() of a unit
  double candidate_stream = 0;          ///< by events on the candidate's stream
  double beside = 0;         ///< on the device after the stream that launch() was given was done
  double reference_lag = 1;  ///< how many times as long the reference takes after the candidate
  /// The reference getting ready for its units before and after the candidate's; and the judge
  /// reading some outputs and running a kernel of its own after units of each.
  double ready_before = 0, ready_after = 0, probe_reference = 0, probe_candidate = 0;
  double ready_candidate = 0;  ///< the candidate's runner getting ready for its units
  /// The judge bringing new inputs before units of the reference and of the candidate.
  double publishing_reference = 0, publishing_candidate = 0;
  int64_t calls = 1;                  ///< per unit
  bool recorded = false;              ///< as a graph; else launched on the stream
  std::optional<double> single_call;  ///< a candidate's call that is alone in its unit
};

/// The reference's part of a block, in seconds.
struct ReferenceTimes {
  double unit = 0;
  double empty = 0;       ///< a unit without calls
  double ready = 0;       ///< getting ready for a unit
  double publishing = 0;  ///< the judge bringing new inputs before it
};

struct Suspicion {
  std::string name;      ///< one word, for what is measured again because of it
  std::string evidence;  ///< a sentence
  /// It rests on how long the reference, the judge or getting ready took. A machine may show that
  /// without any candidate, so a control decides: a runner of our own that computes nothing.
  bool needs_control = false;
};

/// One lane looked at by itself.
/// @param control the same lane with a control in the candidate's place, where it has been measured
std::optional<Suspicion> find_suspicion(const UnitTimes& times, const UnitTimes* control = nullptr);

/// Calls on the stream that share work, for a candidate that cannot be recorded. Where it can,
/// find_suspicion() tells from its recorded calls, which pay for no launches.
/// @param launch_seconds what a call takes the reference longer that is alone in its unit, when the
/// candidate's process has ended
std::optional<Suspicion> shares_calls_on_stream(const UnitTimes& times, double launch_seconds);

/// The reference while the candidate's process lives against the reference when it has ended: work
/// behind the judge's back slows whatever it meets.
/// @param control the reference while a control lives, where it has been measured
std::optional<Suspicion> slows_reference(const ReferenceTimes& beside, const ReferenceTimes& alone,
                                         const ReferenceTimes* control = nullptr);

/// A call on the stream against the same call recorded, in seconds: recording only takes away what
/// launching costs.
std::optional<Suspicion> faster_on_stream(double stream, double recorded);

}  // namespace kb
