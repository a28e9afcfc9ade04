// Signs that a chain of blocks should not be trusted as it is.
#pragma once

#include <string>
#include <vector>

#include "judge/timing/speedup_estimate.h"

namespace kb {

/// What is odd about a chain, by name.
using Anomalies = std::vector<std::string>;

/// Something odd was there the time before, too: it belongs to the kernel, such as reaching the
/// power limit, or to the machine, and measuring once more would show it again.
bool show_again(const Anomalies& before, const Anomalies& now);

/// Nothing but the power limit, in units of more than 0.1 s each: a GPU reaches it within tens of
/// milliseconds, so that it is part of what such a kernel takes, and no moment of it is odd.
/// @param seconds of the shorter arm's units
bool is_power_of_long_units(const Anomalies& now, double seconds);

/// The block log-ratios rise or fall over the chain: the regression slope's |t| is one that noise
/// reaches in 1 of 1,000 chains.
bool drifts(const std::vector<double>& log_ratios);

/// The middle half of the block log-ratios is wider than 3 %.
bool scatters(const std::vector<double>& log_ratios);

/// More than a tenth of the clocks that were counted after an arm's units are more than 10 % below
/// their median. @param mhz at least 10, else the answer is no
bool clock_drops(const std::vector<double>& mhz);

/// Time says one thing and cycles the other: the interval of the speed-up lies on one side of 1,
/// the speed-up at equal clocks on the other. Then a difference in clocks made the verdict.
/// @param reference_mhz, candidate_mhz  right after their units
bool clocks_decide(double speedup, const Interval& interval, double reference_mhz,
                   double candidate_mhz);

/// How much longer the reference takes right after the candidate's unit than right before it: a2 /
/// a1, estimated as the speed-up is. 1 where nothing of the candidate's is left on the device.
double reference_lag(const std::vector<Abba>& blocks);

}  // namespace kb
