// Which operators of a reference can be left out, and what it gives without one.
#include "lab/validity/stages.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

using at::Tensor;

std::vector<std::string> names(const Outputs& run) {
  std::vector<std::string> found;
  for (const Stage& stage : stages(run)) found.push_back(stage.name);
  return found;
}

Tensor without(size_t stage, const Outputs& run) {
  return run_without(stages(run).at(stage), run).at(0);
}

TEST(Stages, AreTheOperatorsThatKeepTheShape) {
  const Tensor x = at::randn({4, 6}), w = at::randn({5, 6}), b = at::randn({5});
  const Outputs run = [&] {
    return std::vector<Tensor>{at::relu(at::linear(x, w)).add(b).mul(2).add(1).sum(1)};
  };
  EXPECT_EQ(names(run), (std::vector<std::string>{"relu", "add", "mul", "add.2"}));
}

TEST(Stages, OneIsLeftOut) {
  const Tensor x = at::randn({4, 6});
  const Outputs run = [&] { return std::vector<Tensor>{at::relu(x).add(1).sum(1)}; };
  EXPECT_TRUE(at::equal(without(0, run), x.add(1).sum(1)));
  EXPECT_TRUE(at::equal(without(1, run), at::relu(x).sum(1)));
}

// Left out, it would make the view after it throw.
TEST(Stages, ACopyInAnotherOrderIsNone) {
  const Tensor x = at::randn({4, 4});
  const Outputs run = [&] { return std::vector<Tensor>{x.t().contiguous().view({16}).sin()}; };
  EXPECT_EQ(names(run), (std::vector<std::string>{"t", "sin"}));
}

TEST(Stages, AnOperatorInPlaceIsOne) {
  const Tensor x = at::randn({4, 6});
  const Outputs run = [&] { return std::vector<Tensor>{at::sin(x).relu_().add_(1)}; };
  EXPECT_EQ(names(run), (std::vector<std::string>{"sin", "relu_", "add_"}));
  EXPECT_TRUE(at::equal(without(1, run), at::sin(x).add(1)));
}

// Upstream's modules compute what nobody needs; leaving it out is no mistake.
TEST(Stages, WhatNoOutputDependsOnIsNone) {
  const Tensor x = at::randn({4, 6}), kept = at::zeros({4, 6});
  const Outputs run = [&] {
    const Tensor y = at::relu(x);
    at::sin(y).exp();
    kept.copy_(y);
    const Tensor read = at::zeros({4, 6});
    read.copy_(at::cos(x));
    return std::vector<Tensor>{y.add(read)};
  };
  EXPECT_EQ(names(run), (std::vector<std::string>{"relu", "cos", "add"}));
  EXPECT_TRUE(at::equal(without(1, run), at::relu(x).add(x)));
}

TEST(Stages, AWholeOperatorIsOneStage) {
  const Tensor x = at::randn({4, 6});
  const Outputs run = [&] { return std::vector<Tensor>{at::softmax(x, 1)}; };
  EXPECT_EQ(names(run), std::vector<std::string>{"softmax"});
  EXPECT_TRUE(at::equal(without(0, run), x));
}

}  // namespace
}  // namespace kb
