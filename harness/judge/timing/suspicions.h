// Times that no honest candidate shows, as far as noise allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kb {

/// What the units of one side have shown, in seconds, each estimated as the speed-up is.
struct ArmTimes {
  double unit = 0;   ///< by the judge's clock
  double empty = 0;  ///< a unit without calls
  /// Getting ready for a unit; and the reference's units that follow the candidate's, apart.
  double ready = 0, ready_after = 0;
  double probe = 0;       ///< the judge reading some outputs and running a kernel, after a unit
  double publishing = 0;  ///< the judge bringing new inputs, before a unit
  /// By events of the side's own process: on the stream that it was given, and on the device after
  /// that stream was done.
  double stream = 0, off_stream = 0;
};

/// What a chain of blocks has shown. Seconds; lone calls are medians.
struct UnitTimes {
  ArmTimes reference, candidate;
  double least = 0;                   ///< hard_floor() of a unit
  double reference_lag = 1;           ///< how many times as long the reference takes afterwards
  int64_t calls = 1;                  ///< per unit
  bool captured = false;              ///< as a graph; else launched on the stream
  std::optional<double> single_call;  ///< a candidate's call that is alone in its unit
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

/// Calls on the stream that share work, for a candidate that cannot be captured. Where it can,
/// find_suspicion() tells from its captured calls, which pay for no launches.
/// @param launch_seconds what a call takes the reference longer that is alone in its unit, when the
/// candidate's process has ended
std::optional<Suspicion> shares_calls_on_stream(const UnitTimes& times, double launch_seconds);

/// The reference while the candidate's process lives against the reference when it has ended: work
/// behind the judge's back slows whatever it meets.
/// @param control the reference while a control lives, where it has been measured
std::optional<Suspicion> slows_reference(const ArmTimes& with_candidate, const ArmTimes& alone,
                                         const ArmTimes* control = nullptr);

/// slows_reference() of one attempt after the other. How long a process takes to get ready rests on
/// the host, whose other work comes and goes within seconds: each attempt is compared with the
/// longest that any attempt has shown without the candidate.
class Presence {
 public:
  std::optional<Suspicion> find(const ArmTimes& with_candidate, ArmTimes alone,
                                const ArmTimes* control = nullptr);

 private:
  double longest_ready_ = 0;
};

/// How often in a row a suspicion must show before it convicts. Where launching decides what the
/// reference takes on the stream, its times are the host's, which may differ by half from moment to
/// moment: what rests on them takes more.
/// @param on_stream, captured seconds of a call of the reference when the candidate's process has
/// ended; 0 if it cannot be captured
int needed_attempts(const Suspicion& suspicion, double on_stream, double captured);

/// A call on the stream against the same call captured, in seconds: capturing only takes away what
/// launching costs.
std::optional<Suspicion> faster_on_stream(double stream, double captured);

}  // namespace kb
