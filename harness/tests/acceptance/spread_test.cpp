// How far rounding moves an output, with moves made by hand and by the noise of a reference.
#include "judge/acceptance/spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "judge/acceptance/expectation.h"
#include "kb/reference.h"

namespace kb {
namespace {

using at::Tensor;

TensorSpec output_like(const Tensor& t) { return output<float>("y", t.sizes().vec()); }

// A pair of runs, which move the output by so much.
void add_moves(Spread& spread, const Tensor& y, const Tensor& one, const Tensor& other) {
  spread.add(y + one * noise_amplitude, y + other * noise_amplitude);
}

Spread exact(const Tensor& y) { return {output_like(y), y.to(at::kFloat), y}; }

TEST(Spread, AllowsAnElementEightOfItsOwnMoves) {
  const Tensor y = at::full({4, 15}, 8.0, at::kDouble);
  Tensor one = at::zeros_like(y);
  one[1][7] = 1e-3;
  Spread spread = exact(y);
  add_moves(spread, y, one, -one);
  const auto wrong_at = [&](int64_t sample, int64_t element, double off) {
    Tensor got = y.to(at::kFloat);
    got[sample][element] += off;
    return spread.compare(got).worst.has_value();
  };
  EXPECT_FALSE(wrong_at(1, 7, 7.9e-3));
  EXPECT_TRUE(wrong_at(1, 7, 10e-3));
  // The sample's other elements may move a quarter of it, as the root mean square of 15 says.
  EXPECT_FALSE(wrong_at(1, 8, 2.8e-3));
  EXPECT_TRUE(wrong_at(1, 8, 3.2e-3));
  EXPECT_TRUE(wrong_at(2, 7, 1e-4)) << "another sample";
}

TEST(Spread, JudgesTheWholeByWhatMovesInProportion) {
  const Tensor y = at::full({1000}, 8.0, at::kDouble);
  const Tensor one = at::full_like(y, 1e-4);
  Tensor flipped = -one;
  flipped.narrow(0, 0, 500) = one.narrow(0, 0, 500);  // not in proportion
  Spread spread = exact(y);
  add_moves(spread, y, one, flipped);
  const auto wrong = [&](int64_t first, double off) {
    Tensor got = y.to(at::kFloat);
    got.narrow(0, first, 500).add_(off);
    return spread.compare(got).worst.has_value();
  };
  EXPECT_FALSE(wrong(500, 3.4e-4));
  EXPECT_TRUE(wrong(500, 3.8e-4));
  EXPECT_FALSE(wrong(0, 3.8e-4)) << "these choose";
}

// Clamped elements neither move nor are they off.
TEST(Spread, OfFewElementsThatMoveHasNoWhole) {
  const Tensor y = at::full({1000}, 8.0, at::kDouble);
  Tensor one = at::zeros_like(y);
  one.narrow(0, 0, 2).fill_(0.1);
  Spread spread = exact(y);
  add_moves(spread, y, one, -one);
  Tensor got = y.to(at::kFloat);
  got.narrow(0, 0, 2).add_(0.6);
  EXPECT_FALSE(spread.compare(got).worst);
  got.narrow(0, 0, 2).add_(0.6);
  EXPECT_TRUE(spread.compare(got).worst);
}

TEST(Spread, OfFewElementsHasNoWhole) {
  const Tensor y = at::full({15}, 8.0, at::kDouble), one = at::full_like(y, 1e-4);
  Spread spread = exact(y);
  add_moves(spread, y, one, -one);
  EXPECT_FALSE(spread.compare(y.to(at::kFloat) + 7e-4).worst);
  EXPECT_TRUE(spread.compare(y.to(at::kFloat) + 2e-3).worst);
}

TEST(Spread, AllowsOneElementInAMillionTwiceAsMuch) {
  const Tensor y = at::full({2, elements_of_a_stray}, 8.0, at::kDouble);
  const Tensor one = at::full_like(y, 1e-4);
  Spread noisy = exact(y), by_torch(output_like(y), (y + 1e-4).to(at::kFloat), y);
  add_moves(noisy, y, one, -one);
  const auto wrong = [&](Spread& spread, int64_t elements, double spreads) {
    Tensor got = y.to(at::kFloat);
    // An element's own moves, its sample's twice.
    got.view(-1).narrow(0, 7, elements).add_(spreads * std::sqrt(3) * 1e-4);
    return spread.compare(got).worst.has_value();
  };
  for (Spread* spread : {&by_torch, &noisy}) {
    EXPECT_FALSE(wrong(*spread, 1, 7));
    EXPECT_FALSE(wrong(*spread, 2, 12)) << "there are two million";
    EXPECT_TRUE(wrong(*spread, 3, 12));
    EXPECT_TRUE(wrong(*spread, 1, 17));
  }
}

// An element that takes the other end of a clamp outweighs millions that move a little.
TEST(Spread, LeavesOneElementInAMillionOutOfTheWhole) {
  const int64_t elements = 2 * elements_of_a_stray;
  const Tensor y = at::full({1, elements}, 8.0, at::kDouble);
  Tensor one = at::full_like(y, 1e-6);
  one.view(-1).narrow(0, 0, 64).fill_(0.1);  // so that single elements may be off by more
  Spread spread = exact(y);
  add_moves(spread, y, one, -one);
  const auto wrong = [&](int64_t first, int64_t count, double off) {
    Tensor got = y.to(at::kFloat);
    got.view(-1).narrow(0, first, count).add_(off);
    return spread.compare(got).worst.has_value();
  };
  EXPECT_FALSE(wrong(0, 13, 0.79)) << "11 of them count";
  EXPECT_TRUE(wrong(0, 16, 0.79));
}

// What a bench takes for right without a second look.
TEST(Spread, HasATolerancePerSample) {
  const Tensor y =
      at::full({4, 100}, 8.0, at::kDouble) * at::tensor({1, 10, 100, 1000}).view({4, 1});
  Spread spread(output_like(y), (y * (1 + 1e-5)).to(at::kFloat), y);
  const Tolerance tolerance = spread.tolerance();
  EXPECT_NEAR(tolerance.relative, whole_limit * 1e-5, 1e-6);
  EXPECT_NEAR(tolerance.per_value, element_limit * 1e-5, 1e-6);
  EXPECT_GT(tolerance.per_rms, 0);
  EXPECT_LT(tolerance.per_rms, element_limit * 1e-5);
}

TEST(Spread, SaysNothingOfASampleThatMovesFar) {
  const Tensor y = at::ones({2, 8}, at::kDouble);
  Tensor one = at::zeros_like(y);
  one[0].fill_(0.1);
  Spread spread = exact(y);
  add_moves(spread, y, one, -one);
  Tensor got = y.to(at::kFloat);
  got[0].fill_(7);
  EXPECT_FALSE(spread.compare(got).worst);
  EXPECT_TRUE(spread.says_something());
  got[0][5].view(at::kInt).fill_(-1);  // the judge's poison
  ASSERT_TRUE(spread.compare(got).worst);
  EXPECT_EQ(spread.compare(got).worst->reason, "unwritten");
  got[0][5] = 7;
  got[1][3] = 1.1;
  ASSERT_TRUE(spread.compare(got).worst);
  EXPECT_EQ(spread.compare(got).worst->index, (std::vector<int64_t>{1, 3}));
  add_moves(spread, y, at::full_like(y, 0.1), at::full_like(y, -0.1));
  EXPECT_FALSE(spread.says_something());
}

TEST(Spread, SaysNothingWhereNoiseDecidesAboutInfinity) {
  const Tensor y = at::tensor({1.0, 1e30, INFINITY, INFINITY}, at::kDouble);
  const Tensor run = at::tensor({1.0, double{INFINITY}, 1e38, double{INFINITY}}, at::kDouble);
  Spread spread = exact(y);
  const auto wrong = [&](std::vector<float> got) {
    return spread.compare(at::tensor(got)).worst.has_value();
  };
  EXPECT_TRUE(wrong({1, INFINITY, INFINITY, INFINITY}));
  EXPECT_TRUE(wrong({1, 1e30F, 3, INFINITY}));
  spread.add(run, y);
  EXPECT_FALSE(wrong({1, INFINITY, 3, INFINITY}));
  EXPECT_TRUE(wrong({1, INFINITY, 3, 3})) << "infinite in each run";
  EXPECT_TRUE(wrong({NAN, INFINITY, 3, INFINITY}));
}

// --- a softmax that takes one of two scores, as a whole and in slices

struct Sizes {
  int64_t rows = 48;
  KB_FIELDS(rows)
};
using Launch = void(const Sizes&, const float*, const float*, float*, cudaStream_t);

constexpr int64_t scores = 64;

// The weights of the largest of a row's scores, which are up to 1e8.
Task largest_score() {
  const auto tensors = [](const Sizes& s) {
    return std::tuple{input<float>("x", {s.rows, scores}), weight<float>("w", {scores, scores}),
                      output<float>("y", {s.rows, scores})};
  };
  const auto reference = [](const Sizes&, Tensor x, Tensor w) {
    return at::softmax(1e8 * x, 1).matmul(w);
  };
  Sizes small;
  small.rows = 2;
  return define<Launch>("Attention", tensors, reference, SizeSets<Sizes>{small, small});
}

// The two largest scores of row 3, at 7 and 8, are two roundings apart.
class NearTie : public ::testing::TestWithParam<bool> {
 protected:
  NearTie() {
    at::Generator rng = make_rng(at::kCPU, 5);
    x_ = at::empty({48, scores}).uniform_(0.5, 0.75, rng);
    x_.select(1, 7).fill_(1);
    x_[3][8] = 1 - 2 * 0x1p-24;
    w_ = at::empty({scores, scores}).normal_(0, 1, rng);
    OraclePlan plan;
    if (GetParam()) {
      plan.slicing = Slicing::find(task_);
      plan.slicing->set_slice_bytes(144 * scores * 4);  // half of the rows
    }
    right_.emplace(task_, task_.full, std::vector<Tensor>{x_, w_}, 7, plan);
  }

  Tensor torch() const { return right_->torch(0).clone(); }
  // From what the row should be to the weights at 8.
  Tensor to_other(int64_t row) const { return w_[8] - right_->torch(0)[row]; }
  bool is_right(const Tensor& got) { return !right_->compare(0, got).worst; }

  Task task_ = largest_score();
  Tensor x_, w_;
  std::optional<Expectation> right_;
};

TEST_P(NearTie, AllowsBothAndWhatLiesBetween) {
  EXPECT_TRUE(is_right(torch()));
  EXPECT_EQ(right_->compare(0, torch()).noisy_runs, 0);
  for (const double share : {0.5, 1.0}) {
    Tensor got = torch();
    got[3] += share * to_other(3);
    EXPECT_TRUE(is_right(got)) << share;
    EXPECT_GT(right_->compare(0, got).noisy_runs, 0);
  }
}

TEST_P(NearTie, AllowsNoOtherRow) {
  Tensor another_row = torch(), in_proportion = torch();
  another_row[4] += to_other(4);
  EXPECT_FALSE(is_right(another_row));
  in_proportion.narrow(0, 4, 2).mul_(1 + 0x1p-11);
  EXPECT_FALSE(is_right(in_proportion)) << "as products of rounded operands are off";
  for (const double value : {NAN, INFINITY, -INFINITY}) {
    Tensor got = torch();
    got[5][5] = value;
    EXPECT_FALSE(is_right(got)) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Whole, NearTie, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(InSlices, NearTie, ::testing::Values(true));

// --- outputs that are looked at again in pieces

struct Rows {
  int64_t rows = 96, columns = 64;
  KB_FIELDS(rows, columns)
};
using LaunchOnRows = void(const Rows&, const float*, float*, cudaStream_t);

// What is left of large numbers, clamped; LibTorch is right by chance.
TEST(Expectation, LooksAgainAtSomePiecesOfAnOutputOfGigabytes) {
  const auto tensors = [](const Rows& s) {
    return std::tuple{input<float>("x", {s.rows, s.columns}),
                      output<float>("y", {s.rows, s.columns})};
  };
  const auto reference = [](const Rows&, Tensor x) { return at::clamp(x * 3 - 300, -1, 1); };
  const Task task =
      define<LaunchOnRows>("Elementwise", tensors, reference, SizeSets<Rows>{{3, 8}, {5, 7}});
  const Tensor x = at::full({96, 64}, 100.25);
  Expectation right(task, task.full, {x}, 1, {.piece_bytes = 4096});
  Tensor got = right.torch(0).clone();
  got.narrow(0, 40, 20).add_(1e-5);
  const Comparison c = right.compare(0, got);
  EXPECT_FALSE(c.worst);
  EXPECT_GT(c.noisy_runs, 0);
  got[77][5] = 0.5;
  const Comparison wrong = right.compare(0, got);
  ASSERT_TRUE(wrong.worst);
  EXPECT_EQ(wrong.worst->index, (std::vector<int64_t>{77, 5}));
  // Not all pieces are looked at again, but those that are off most.
  got.add_(1e-5);
  EXPECT_TRUE(right.compare(0, got).worst);
  got[77][5] = got[77][4];
  EXPECT_FALSE(right.compare(0, got).worst);
}

}  // namespace
}  // namespace kb
