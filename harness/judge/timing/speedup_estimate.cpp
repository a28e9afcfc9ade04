// Ratios are estimated on the log scale, where a block's noise is symmetric.
#include "judge/timing/speedup_estimate.h"

#include <algorithm>
#include <cmath>

namespace kb {
namespace {

double half_width(const Interval& interval) { return (interval.high - interval.low) / 2; }

// Estimated as the speed-up is. A median of all units would not move when one of the two units of
// most blocks is another, and the speed-up would.
double unit_seconds(const std::vector<Abba>& blocks, double Abba::*first, double Abba::*second) {
  std::vector<double> logs;
  for (const Abba& block : blocks) {
    logs.push_back((std::log(block.*first) + std::log(block.*second)) / 2);
  }
  return std::exp(hodges_lehmann(logs));
}

}  // namespace

int64_t UnitSize::calls_per_unit(double reference, double candidate) const {
  const double wanted = std::ceil(seconds / std::min(reference, candidate));
  const double affordable =
      std::ceil(std::min(reference_seconds / reference, candidate_seconds / candidate));
  return std::max(static_cast<int64_t>(std::min(wanted, affordable)), calls);
}

double Abba::log_ratio() const {
  return (std::log(a1) + std::log(a2) - std::log(b1) - std::log(b2)) / 2;
}

void SpeedupEstimate::add(const Abba& block) {
  blocks_.push_back(block);
  const bool pilot_ends = static_cast<int>(blocks_.size()) == policy_.pilot_blocks;
  if (pilot_ends && policy_.pilot_blocks < policy_.max_blocks) wanted_ = enough();
}

int SpeedupEstimate::enough() const {
  const int pilot = policy_.pilot_blocks;
  const double times =
      half_width(mean_interval(log_ratios(), policy_.confidence)) / policy_.half_width;
  double seconds = 0;
  for (const Abba& block : blocks_) seconds += block.a1 + block.b1 + block.b2 + block.a2;
  const double most = std::min<double>(policy_.max_blocks, policy_.max_seconds / seconds * pilot);
  return std::max(pilot, static_cast<int>(std::min(std::ceil(pilot * times * times), most)));
}

Interval SpeedupEstimate::within() const {
  return signed_rank_interval(log_ratios(), policy_.confidence);
}

double SpeedupEstimate::between_pairs() const {
  const double reference = reference_seconds(), candidate = candidate_seconds();
  const double ready = policy_.ready_share * ready_difference_ / std::min(reference, candidate);
  return std::hypot(policy_.pair_half_width, ready,
                    std::hypot(policy_.pair_seconds / reference, policy_.pair_seconds / candidate));
}

std::vector<double> SpeedupEstimate::log_ratios() const {
  std::vector<double> out;
  for (const Abba& block : blocks_) out.push_back(block.log_ratio());
  return out;
}

double SpeedupEstimate::reference_seconds() const {
  return unit_seconds(blocks_, &Abba::a1, &Abba::a2);
}

double SpeedupEstimate::candidate_seconds() const {
  return unit_seconds(blocks_, &Abba::b1, &Abba::b2);
}

double SpeedupEstimate::speedup() const { return std::exp(hodges_lehmann(log_ratios())); }

Interval SpeedupEstimate::interval() const {
  const double centre = hodges_lehmann(log_ratios());
  const Interval blocks = within();
  const double pairs = between_pairs();
  const double low = std::hypot(centre - blocks.low, pairs);
  const double high = std::hypot(blocks.high - centre, pairs);
  return {std::exp(centre - low), std::exp(centre + high)};
}

bool SpeedupEstimate::more_would_tell() const { return half_width(within()) > between_pairs(); }

}  // namespace kb
