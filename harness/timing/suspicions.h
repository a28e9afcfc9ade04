// Times that no honest candidate shows, as far as noise allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kb {

/// What a chain of blocks has shown: medians of units, in seconds.
struct UnitTimes {
  double reference = 0, candidate = 0;  ///< by the judge's clock
  double candidate_stream = 0;          ///< by events on the candidate's stream
  double beside = 0;         ///< on the device after the stream that launch() was given was done
  double reference_lag = 1;  ///< how many times as long the reference takes after the candidate
  /// The reference getting ready for its units before and after the candidate's; and the judge's
  /// own kernel after units of the reference and of the candidate.
  double ready_before = 0, ready_after = 0, probe_reference = 0, probe_candidate = 0;
  int64_t calls = 1;                  ///< per unit
  bool recorded = false;              ///< as a graph; else launched on the stream
  std::optional<double> single_call;  ///< a candidate's call that is alone in its unit
};

struct Suspicion {
  std::string name;      ///< one word, for what is measured again because of it
  std::string evidence;  ///< a sentence
};

/// One lane looked at by itself.
std::optional<Suspicion> find_suspicion(const UnitTimes& times);

/// The reference beside the candidate against the reference when the candidate's process has ended,
/// in seconds: work behind the judge's back slows all of its units alike.
std::optional<Suspicion> slows_reference(double beside, double alone);

/// A call on the stream against the same call recorded, in seconds: recording only takes away what
/// launching costs.
std::optional<Suspicion> faster_on_stream(double stream, double recorded);

}  // namespace kb
