// Which operators of a reference can be left out, and what it gives without one.
#include "validity/stages.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

using at::Tensor;

TEST(Stages, AreTheOperatorsThatKeepTheShape) {
  const Tensor x = at::randn({4, 6}), w = at::randn({5, 6}), b = at::randn({5});
  const Outputs run = [&] {
    return std::vector<Tensor>{at::relu(at::linear(x, w)).add(b).mul(2).add(1).sum(1)};
  };
  EXPECT_EQ(stages(run), (std::vector<std::string>{"relu", "add", "mul", "add.2"}));
}

TEST(Stages, OneIsLeftOut) {
  const Tensor x = at::randn({4, 6});
  const Outputs run = [&] { return std::vector<Tensor>{at::relu(x).add(1).sum(1)}; };
  EXPECT_TRUE(at::equal(run_without(0, run).at(0), x.add(1).sum(1)));
  EXPECT_TRUE(at::equal(run_without(1, run).at(0), at::relu(x).sum(1)));
  EXPECT_TRUE(at::equal(run_without(2, run).at(0), run().at(0)));
}

// Left out, it would make the view after it throw.
TEST(Stages, ACopyInAnotherOrderIsNone) {
  const Tensor x = at::randn({4, 4});
  const Outputs run = [&] { return std::vector<Tensor>{x.t().contiguous().view({16}).sin()}; };
  EXPECT_EQ(stages(run), (std::vector<std::string>{"t", "sin"}));
}

TEST(Stages, AWholeOperatorIsOneStage) {
  const Tensor x = at::randn({4, 6});
  const Outputs run = [&] { return std::vector<Tensor>{at::softmax(x, 1)}; };
  EXPECT_EQ(stages(run), std::vector<std::string>{"softmax"});
  EXPECT_TRUE(at::equal(run_without(0, run).at(0), x));
}

}  // namespace
}  // namespace kb
