// Samples have at most a few hundred blocks, so quadratic algorithms are fine.
#include "judge/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

namespace kb {
namespace {

std::vector<double> walsh_averages(const std::vector<double>& values) {
  std::vector<double> averages;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i; j < values.size(); ++j) averages.push_back((values[i] + values[j]) / 2);
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

// The x >= 0 at which a falling function has this value.
double solve(const std::function<double(double)>& falling, double value) {
  double low = 0, high = 1e6;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (falling(middle) > value ? low : high) = middle;
  }
  return high;
}

// P(W = w) for the sum W of the positive ranks of n symmetric values.
std::vector<double> signed_rank_distribution(size_t n) {
  std::vector<double> probability(n * (n + 1) / 2 + 1, 0.0);
  probability[0] = 1;
  size_t highest = 0;
  for (size_t rank = 1; rank <= n; ++rank) {
    highest += rank;
    for (size_t w = highest + 1; w-- > 0;) {
      probability[w] = (probability[w] + (w >= rank ? probability[w - rank] : 0.0)) / 2;
    }
  }
  return probability;
}

// The largest k with P(W < k) <= tail.
size_t exact_depth(size_t n, double tail) {
  const std::vector<double> probability = signed_rank_distribution(n);
  const size_t averages = probability.size() - 1;
  size_t k = 0;
  for (double below = probability[0]; k < averages && below <= tail; below += probability[k]) ++k;
  return k;
}

// The same for a normal W of the same mean and variance.
size_t normal_depth(size_t n, double tail) {
  const auto count = static_cast<double>(n);
  const double mean = count * (count + 1) / 4;
  const double deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
  const double z =
      solve([](double x) { return std::erfc(x / std::numbers::sqrt2); }, /*value=*/2 * tail);
  constexpr double continuity = 0.5;
  return static_cast<size_t>(std::max(0.0, mean + continuity - z * deviation));
}

// P(|T| > t) for Student's t with an even or odd number of degrees of freedom (Abramowitz & Stegun
// 26.7.3 and 26.7.4).
double two_sided_tail(double t, int freedom) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double c = std::cos(theta), s = std::sin(theta);
  double term = 1, sum = 1;
  for (int k = freedom % 2 == 0 ? 2 : 3; k <= freedom - 2; k += 2) {
    term *= c * c * (k - 1) / k;
    sum += term;
  }
  if (freedom % 2 == 0) return 1 - s * sum;
  const double inside = freedom == 1 ? theta : theta + s * c * sum;
  return 1 - inside * 2 / std::numbers::pi;
}

}  // namespace

double student_quantile(double confidence, int freedom) {
  return solve([=](double t) { return two_sided_tail(t, freedom); }, 1 - confidence);
}

double median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + middle) + upper) / 2;
}

double hodges_lehmann(const std::vector<double>& values) { return median(walsh_averages(values)); }

size_t signed_rank_depth(size_t n, double confidence, Ranks ranks) {
  const double tail = (1 - confidence) / 2;
  return ranks == Ranks::exact ? exact_depth(n, tail) : normal_depth(n, tail);
}

Interval signed_rank_interval(const std::vector<double>& values, double confidence) {
  constexpr size_t most_exact = 200;
  const Ranks ranks = values.size() <= most_exact ? Ranks::exact : Ranks::normal;
  const size_t k = signed_rank_depth(values.size(), confidence, ranks);
  const std::vector<double> averages = walsh_averages(values);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (k == 0) return {-infinity, infinity};
  return {averages[k - 1], averages[averages.size() - k]};
}

double geometric_mean(const std::vector<double>& values) {
  double logs = 0;
  for (double v : values) logs += std::log(v);
  return std::exp(logs / static_cast<double>(values.size()));
}

Interval mean_interval(const std::vector<double>& values, double confidence) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (double v : values) squares += (v - mean) * (v - mean);
  const double error = std::sqrt(squares / (n - 1) / n);
  const double half = student_quantile(confidence, static_cast<int>(values.size()) - 1) * error;
  return {mean - half, mean + half};
}

std::string speedup_verdict(const Interval& speedup, double p) {
  if (speedup.low > p) return "WIN";
  if (speedup.high <= p) return "LOSS";
  constexpr double equal = 0.01;
  const bool tie = speedup.low >= (1 - equal) * p && speedup.high <= (1 + equal) * p;
  return tie ? "TIE" : "UNDECIDED";
}

}  // namespace kb
