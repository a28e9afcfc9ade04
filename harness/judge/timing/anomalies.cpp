// Flags on the log-ratios of blocks.
#include "judge/timing/anomalies.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kb {

bool show_again(const Anomalies& before, const Anomalies& now) {
  return std::find_first_of(now.begin(), now.end(), before.begin(), before.end()) != now.end();
}

bool is_power_of_long_units(const Anomalies& now, double seconds) {
  constexpr double is_long = 0.1;
  return now == Anomalies{"throttle"} && seconds > is_long;
}

bool drifts(const std::vector<double>& log_ratios) {
  const auto n = static_cast<double>(log_ratios.size());
  if (n < 4) return false;
  double mean = 0;
  for (double y : log_ratios) mean += y / n;
  const double centre = (n - 1) / 2;
  double xy = 0, xx = 0;
  for (size_t i = 0; i < log_ratios.size(); ++i) {
    const double x = static_cast<double>(i) - centre;
    xy += x * (log_ratios[i] - mean);
    xx += x * x;
  }
  const double slope = xy / xx;
  double residual = 0;
  for (size_t i = 0; i < log_ratios.size(); ++i) {
    const double off = log_ratios[i] - mean - slope * (static_cast<double>(i) - centre);
    residual += off * off;
  }
  constexpr double rarely = 0.999;
  const double enough = student_quantile(rarely, static_cast<int>(log_ratios.size()) - 2);
  return std::abs(slope) > enough * std::sqrt(residual / (n - 2) / xx);
}

bool scatters(const std::vector<double>& log_ratios) {
  if (log_ratios.size() < 4) return false;
  std::vector<double> sorted = log_ratios;
  std::sort(sorted.begin(), sorted.end());
  const size_t quarter = sorted.size() / 4;
  constexpr double limit = 0.03;
  return sorted[sorted.size() - 1 - quarter] - sorted[quarter] > limit;
}

bool clock_drops(const std::vector<double>& mhz) {
  constexpr size_t enough = 10;
  if (mhz.size() < enough) return false;
  std::vector<double> sorted = mhz;
  std::sort(sorted.begin(), sorted.end());
  constexpr double limit = 0.9;
  return sorted[sorted.size() / 10] < limit * median(mhz);
}

bool clocks_decide(double speedup, const Interval& interval, double reference_mhz,
                   double candidate_mhz) {
  const double in_cycles = speedup * reference_mhz / candidate_mhz;
  return (interval.low > 1 && in_cycles < 1) || (interval.high < 1 && in_cycles > 1);
}

double reference_lag(const std::vector<Abba>& blocks) {
  std::vector<double> lags;
  for (const Abba& block : blocks) lags.push_back(std::log(block.a2 / block.a1));
  return std::exp(hodges_lehmann(lags));
}

}  // namespace kb
