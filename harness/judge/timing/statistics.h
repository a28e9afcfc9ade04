// Estimates from paired blocks: Hodges-Lehmann and signed-rank intervals.
#pragma once

#include <string>
#include <vector>

namespace kb {

struct Interval {
  double low;
  double high;
};

/// Median; of an even count the mean of the two middle values. @pre values is not empty
double median(std::vector<double> values);

/// Hodges-Lehmann estimate of location: the median of all pairwise means (Walsh averages), each
/// value paired with itself too. @pre values is not empty
double hodges_lehmann(const std::vector<double>& values);

/// How the signed-rank statistic of n values is distributed: counted out, which takes n^3 steps, or
/// normal with a correction for continuity, which errs to the wide side (99 %, 200 values: by 6
/// ranks of 7,945).
enum class Ranks { exact, normal };

/// The largest k for which the interval between the k-th smallest and the k-th largest Walsh
/// average of n values covers their centre with `confidence`; 0 if there is none (Hollander, Wolfe
/// & Chicken, Nonparametric Statistical Methods, section 3.4).
size_t signed_rank_depth(size_t n, double confidence, Ranks ranks);

/// Wilcoxon signed-rank confidence interval of location: between these averages, exact up to 200
/// values. Coverage is at least `confidence`; with too few values for it the interval is the whole
/// line.
Interval signed_rank_interval(const std::vector<double>& values, double confidence);

/// The mean on the log scale. @pre values is not empty, each above 0
double geometric_mean(const std::vector<double>& values);

/// Student's t interval of the mean: for a handful of values that are each an estimate already.
/// @pre at least two values
Interval mean_interval(const std::vector<double>& values, double confidence);

/// The t with P(|T| <= t) = confidence for Student's T with so many degrees of freedom.
double student_quantile(double confidence, int freedom);

/// WIN if the interval lies above p, LOSS if it does not reach above p; else TIE if it lies within
/// 1 % of p, where more measuring would tell nothing that matters, and UNDECIDED if not.
std::string speedup_verdict(const Interval& speedup, double p);

}  // namespace kb
