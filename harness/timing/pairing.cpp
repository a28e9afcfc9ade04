// Ratios are estimated on the log scale, where a block's noise is symmetric.
#include "timing/pairing.h"

#include <cmath>

namespace kb {

double Block::log_ratio() const {
  return (std::log(a1) + std::log(a2) - std::log(b1) - std::log(b2)) / 2;
}

void Pairing::add(const Block& block) {
  blocks_.push_back(block);
  seconds_ += block.a1 + block.b1 + block.b2 + block.a2;
}

bool Pairing::converged() const {
  const int count = static_cast<int>(blocks_.size());
  if (count < policy_.min_blocks) return false;
  if (count >= policy_.max_blocks || seconds_ >= policy_.max_seconds) return true;
  const Interval log_interval = signed_rank_interval(log_ratios(), policy_.confidence);
  return (log_interval.high - log_interval.low) / 2 <= policy_.half_width;
}

std::vector<double> Pairing::log_ratios() const {
  std::vector<double> out;
  for (const Block& block : blocks_) out.push_back(block.log_ratio());
  return out;
}

double Pairing::reference_seconds() const {
  std::vector<double> units;
  for (const Block& block : blocks_) units.insert(units.end(), {block.a1, block.a2});
  return median(std::move(units));
}

double Pairing::candidate_seconds() const {
  std::vector<double> units;
  for (const Block& block : blocks_) units.insert(units.end(), {block.b1, block.b2});
  return median(std::move(units));
}

double Pairing::speedup() const { return std::exp(hodges_lehmann(log_ratios())); }

Interval Pairing::interval() const {
  const std::vector<double> logs = log_ratios();
  const Interval within = signed_rank_interval(logs, policy_.confidence);
  const double centre = hodges_lehmann(logs);
  const double low = std::hypot(centre - within.low, policy_.pair_half_width);
  const double high = std::hypot(within.high - centre, policy_.pair_half_width);
  return {std::exp(centre - low), std::exp(centre + high)};
}

bool Pairing::more_would_tell() const {
  const Interval within = signed_rank_interval(log_ratios(), policy_.confidence);
  return (within.high - within.low) / 2 > policy_.pair_half_width;
}

}  // namespace kb
