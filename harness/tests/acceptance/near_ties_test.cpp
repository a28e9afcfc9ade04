// A softmax that takes one of two scores, as a whole and in slices.
#include "acceptance/near_ties.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "kb/reference.h"

namespace kb {
namespace {

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

// The two largest scores of row 3, at 7 and 8, are four roundings apart.
class NearTie : public ::testing::TestWithParam<bool> {
 protected:
  NearTie() {
    at::Generator rng = make_rng(at::kCPU, 5);
    x_ = at::empty({48, scores}).uniform_(0.5, 0.75, rng);
    x_.select(1, 7).fill_(1);
    x_[3][8] = 1 - 4 * 0x1p-24;
    w_ = at::empty({scores, scores}).normal_(0, 1, rng);
    OraclePlan plan;
    if (GetParam()) {
      plan.slicing = Slicing::find(task_);
      plan.slicing->set_slice_bytes(16 * scores * 4);  // a few rows
    }
    right_.emplace(task_, task_.full, std::vector<Tensor>{x_, w_}, plan);
  }

  Tensor library() const { return right_->library(0).clone(); }
  // From what the row should be to the weights at 8.
  Tensor to_other(int64_t row) const { return w_[8] - right_->library(0)[row]; }

  bool is_right(const Tensor& got) const {
    const auto compare = [&](const Tensor& values) { return right_->compare(0, values); };
    const Comparison c = compare(got);
    at::Generator rng = make_rng(at::kCPU, 7);
    return !c.worst || NearTies(*right_, task_, task_.full, rng).explain(0, c, got, compare);
  }

  Task task_ = largest_score();
  Tensor x_, w_;
  std::optional<Expectation> right_;
};

TEST_P(NearTie, AllowsBothAndWhatLiesBetween) {
  EXPECT_TRUE(is_right(library()));
  for (const double share : {0.5, 1.0}) {
    Tensor got = library();
    got[3] += share * to_other(3);
    EXPECT_TRUE(right_->compare(0, got).worst);
    EXPECT_TRUE(is_right(got)) << share;
  }
}

TEST_P(NearTie, AllowsNothingElse) {
  Tensor beyond = library(), opposite = library(), another_row = library(), third = library();
  beyond[3] += 2 * to_other(3);
  opposite[3] -= 0.5 * to_other(3);
  another_row[4] += to_other(4);
  third[3] = w_[9];
  for (const Tensor& got : {beyond, opposite, another_row, third}) EXPECT_FALSE(is_right(got));
  for (const double value : {NAN, INFINITY, -INFINITY}) {
    Tensor got = library();
    got[3][5] = value;
    EXPECT_FALSE(is_right(got)) << value;
  }
}

// As products of rounded operands are off.
TEST_P(NearTie, AllowsNoErrorInProportion) {
  Tensor got = library();
  got.narrow(0, 4, 2).mul_(1 + 0x1p-11);
  EXPECT_FALSE(is_right(got));
}

TEST_P(NearTie, IsNoReasonForManyWrongElements) {
  for (const int64_t rows : {3, 4}) {  // three of 48 are a sixteenth
    Tensor got = library();
    x_.narrow(0, 0, rows).select(1, 8).fill_(1 - 4 * 0x1p-24);
    const Expectation right(task_, task_.full, {x_, w_});
    for (int64_t row = 0; row < rows; ++row) got[row] = w_[8];
    const auto compare = [&](const Tensor& values) { return right.compare(0, values); };
    at::Generator rng = make_rng(at::kCPU, 7);
    NearTies ties(right, task_, task_.full, rng);
    EXPECT_EQ(ties.explain(0, compare(got), got, compare), rows == 3) << rows;
  }
}

INSTANTIATE_TEST_SUITE_P(Whole, NearTie, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(InSlices, NearTie, ::testing::Values(true));

}  // namespace
}  // namespace kb
