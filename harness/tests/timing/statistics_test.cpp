// Estimators against published tables, worked examples and simulation with known truth.
#include "judge/timing/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kb {
namespace {

// Hollander & Wolfe, Nonparametric Statistical Methods, table 3.1: Hamilton depression scale factor
// IV of nine patients, differences after - before. Their estimate is -0.46.
const std::vector<double> hamilton{-0.952, 0.147,  -1.022, -0.430, -0.620,
                                   -0.590, -0.490, 0.080,  -0.010};

TEST(HodgesLehmann, AgreesWithTheWorkedExample) {
  EXPECT_NEAR(hodges_lehmann(hamilton), -0.46, 0.005);
}

TEST(HodgesLehmann, IsTheMedianOfPairwiseMeans) {
  EXPECT_DOUBLE_EQ(hodges_lehmann({7}), 7);
  EXPECT_DOUBLE_EQ(hodges_lehmann({0, 10}), 5);     // 0 5 10
  EXPECT_DOUBLE_EQ(hodges_lehmann({0, 1, 10}), 3);  // 0 0.5 1 5 5.5 10
  EXPECT_DOUBLE_EQ(hodges_lehmann({10, 0, 1}), 3);
}

TEST(Median, AveragesTheTwoMiddleValues) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
}

// The same book's table of the signed-rank statistic: for n = 9, P(T+ >= 40) = 0.020, so that the
// 96 % interval runs from the 6th smallest to the 6th largest of the 45 averages.
TEST(SignedRank, UsesTheExactDistribution) {
  std::vector<double> averages;
  for (size_t i = 0; i < hamilton.size(); ++i) {
    for (size_t j = i; j < hamilton.size(); ++j)
      averages.push_back((hamilton[i] + hamilton[j]) / 2);
  }
  std::sort(averages.begin(), averages.end());
  const Interval interval = signed_rank_interval(hamilton, 0.9602);
  EXPECT_DOUBLE_EQ(interval.low, averages[5]);
  EXPECT_DOUBLE_EQ(interval.high, averages[39]);
}

// Critical values of the two-sided signed-rank test at 1 % (Wilcoxon 1945 and later tables): n = 8:
// 0, n = 10: 3, n = 12: 7, n = 20: 37. The interval starts at the (critical value + 1)-th average.
TEST(SignedRank, MatchesPublishedCriticalValues) {
  for (const auto& [n, critical] : {std::pair{8, 0}, {10, 3}, {12, 7}, {20, 37}}) {
    std::vector<double> values, averages;
    for (int i = 0; i < n; ++i) values.push_back(std::pow(2.0, i));  // all averages differ
    for (int i = 0; i < n; ++i) {
      for (int j = i; j < n; ++j) averages.push_back((values[i] + values[j]) / 2);
    }
    std::sort(averages.begin(), averages.end());
    EXPECT_DOUBLE_EQ(signed_rank_interval(values, 0.99).low, averages[critical]) << "n = " << n;
  }
}

TEST(SignedRank, HasNoIntervalWithTooFewValues) {
  const Interval interval = signed_rank_interval({1, 2, 3, 4, 5, 6, 7}, 0.99);
  EXPECT_EQ(interval.low, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(interval.high, std::numeric_limits<double>::infinity());
}

// Tables give critical values by the exact distribution up to n = 50: at 5 % (two-sided) 137 for
// n = 30 and 434 for n = 50, at 1 % 109 and 373. The depth is one more.
TEST(SignedRank, TheNormalApproximationIsNearTheTablesAndOnTheWideSide) {
  for (const auto& [n, confidence, critical] :
       {std::tuple{30, 0.95, 137}, {50, 0.95, 434}, {30, 0.99, 109}, {50, 0.99, 373}}) {
    const size_t exact = signed_rank_depth(n, confidence, Ranks::exact);
    const size_t normal = signed_rank_depth(n, confidence, Ranks::normal);
    EXPECT_EQ(exact, critical + 1u) << "n = " << n;
    EXPECT_LE(normal, exact) << "n = " << n;
    EXPECT_LE(exact, normal + (confidence < 0.99 ? 1 : 3)) << "n = " << n;
  }
}

TEST(SignedRank, TheIntervalHardlyChangesWhereTheApproximationBegins) {
  for (const double confidence : {0.95, 0.99}) {
    const auto exact = static_cast<double>(signed_rank_depth(200, confidence, Ranks::exact));
    const auto normal = static_cast<double>(signed_rank_depth(200, confidence, Ranks::normal));
    EXPECT_NEAR(normal / exact, 1, 0.001);
  }
  std::mt19937_64 rng(11);
  std::normal_distribution<double> noise(0.0, 0.01);
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(noise(rng));
  const Interval before = signed_rank_interval(values, 0.99);
  values.push_back(hodges_lehmann(values));  // the 201st
  const Interval after = signed_rank_interval(values, 0.99);
  EXPECT_NEAR(after.low, before.low, 1e-4);
  EXPECT_NEAR(after.high, before.high, 1e-4);
}

TEST(SignedRank, TheApproximationHasNoIntervalEither) {
  EXPECT_EQ(signed_rank_depth(5, 0.999, Ranks::normal), 0u);
}

TEST(SignedRank, CoversTheTruthAsOftenAsItSays) {
  std::mt19937_64 rng(7);
  std::normal_distribution<double> noise(0.0, 0.01);
  std::bernoulli_distribution outlier(0.02);
  constexpr int runs = 4000, blocks = 12;
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> values;
    for (int i = 0; i < blocks; ++i) values.push_back(noise(rng) + (outlier(rng) ? 0.15 : 0.0));
    const Interval interval = signed_rank_interval(values, 0.95);
    covered += interval.low <= 0 && 0 <= interval.high;
  }
  EXPECT_GE(covered, runs * 0.94);
}

// Student's t, two-sided: 4.604 (4 degrees of freedom, 99 %), 2.262 (9, 95 %), 12.706 (1, 95 %).
TEST(MeanInterval, UsesStudentsQuantiles) {
  const auto quantile = [](std::vector<double> values, double confidence) {
    const Interval interval = mean_interval(values, confidence);
    double mean = 0, squares = 0;
    for (double v : values) mean += v / values.size();
    for (double v : values) squares += (v - mean) * (v - mean);
    const double error = std::sqrt(squares / (values.size() - 1) / values.size());
    return (interval.high - interval.low) / 2 / error;
  };
  EXPECT_NEAR(quantile({1, 2, 4, 8, 16}, 0.99), 4.604, 0.001);
  EXPECT_NEAR(quantile({1, 2, 3, 4, 5, 6, 7, 8, 9, 11}, 0.95), 2.262, 0.001);
  EXPECT_NEAR(quantile({1, 3}, 0.95), 12.706, 0.001);
}

TEST(GeometricMean, IsTheMeanOnTheLogScale) {
  EXPECT_DOUBLE_EQ(geometric_mean({2}), 2);
  EXPECT_NEAR(geometric_mean({1, 4, 16}), 4, 1e-12);
}

TEST(Verdict, NeedsTheWholeIntervalOnOneSide) {
  EXPECT_EQ(speedup_verdict({1.01, 1.05}, 1), "WIN");
  EXPECT_EQ(speedup_verdict({1.0, 1.05}, 1), "UNDECIDED");
  EXPECT_EQ(speedup_verdict({0.9, 1.0}, 1), "LOSS");
  EXPECT_EQ(speedup_verdict({0.9, 1.1}, 1), "UNDECIDED");
}

TEST(Verdict, IsATieWhereTheIntervalLiesWithinOnePercent) {
  EXPECT_EQ(speedup_verdict({0.995, 1.005}, 1), "TIE");
  EXPECT_EQ(speedup_verdict({0.985, 1.005}, 1), "UNDECIDED");
  EXPECT_EQ(speedup_verdict({0.995, 1.015}, 1), "UNDECIDED");
  EXPECT_EQ(speedup_verdict({1.001, 1.005}, 1), "WIN");
  EXPECT_EQ(speedup_verdict({1.99, 2.01}, 2), "TIE");
}

}  // namespace
}  // namespace kb
