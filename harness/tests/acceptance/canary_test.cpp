// The precision canary: which references it takes for products, and what its operands are.
#include "judge/acceptance/canary.h"

#include <gtest/gtest.h>

#include "judge/acceptance/expectation.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

constexpr int64_t depth = 300;

using Operation = Tensor (*)(const Tensor&, const Tensor&);

Task product(Operation operation, Fill a = spiked()) {
  return small_task({input<float>("a", {20, depth}).with(std::move(a)),
                     input<float>("b", {depth, 10}), output<float>("c", {20, 10})},
                    [operation](const std::vector<Tensor>& given) {
                      return std::vector<Tensor>{operation(given[0], given[1])};
                    });
}

Tensor multiplied(const Tensor& a, const Tensor& b) { return at::matmul(a, b); }

std::optional<Canary> find(const Task& task) { return Canary::find(task, {}, task.example({})); }

TEST(Canary, TakesEachOperandInTurn) {
  const auto canary = find(product(multiplied));
  ASSERT_TRUE(canary);
  ASSERT_EQ(canary->calls(), 2u);
  EXPECT_EQ(canary->operand(0), "a");
  EXPECT_EQ(canary->operand(1), "b");
  for (size_t call = 0; call < 2; ++call) {
    const std::vector<Tensor> given = canary->arguments(call);
    const Tensor& large = given[canary->position(call)];
    const Tensor& small = given[1 - canary->position(call)];
    EXPECT_TRUE(large.remainder(2).eq(1).all().item<bool>());
    EXPECT_TRUE(large.ge(4097).logical_and(large.le(8191)).all().item<bool>());
    EXPECT_TRUE(small.eq(0).logical_or(small.eq(1)).all().item<bool>());
    EXPECT_TRUE(small.any().item<bool>());
  }
}

TEST(Canary, IsExactInFp32InAnyOrder) {
  const Task task = product(multiplied);
  const auto canary = find(task);
  ASSERT_TRUE(canary);
  for (size_t call = 0; call < canary->calls(); ++call) {
    const std::vector<Tensor> given = canary->arguments(call);
    const Expectation right(task, {}, given, 1);
    Tensor backwards = at::zeros({20, 10});
    for (int64_t k = depth; k-- > 0;) {
      backwards += given[0].select(1, k).unsqueeze(1) * given[1].select(0, k).unsqueeze(0);
    }
    EXPECT_TRUE(at::equal(backwards.to(at::kDouble), right.whole_oracle(0)));
    EXPECT_FALSE(right.compare_integers(0, backwards).worst);
    EXPECT_LE(right.whole_oracle(0).max().item<double>(), 0x1p20);
  }
}

TEST(Canary, MissesNoTerm) {
  const Task task = product(multiplied);
  const auto canary = find(task);
  ASSERT_TRUE(canary);
  const std::vector<Tensor> given = canary->arguments(0);
  const Expectation right(task, {}, given, 1);
  const Tensor shorter =
      at::matmul(given[0].narrow(1, 0, depth - 1), given[1].narrow(0, 0, depth - 1));
  EXPECT_TRUE(right.compare_integers(0, shorter).worst);
}

TEST(Canary, SeesSumsThatAreKeptIn16Bits) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    std::vector<TensorSpec> specs = {input<float>("a", {20, depth}), input<float>("b", {depth, 10}),
                                     output<float>("c", {20, 10})};
    for (TensorSpec& spec : specs) spec.dtype = type;
    const Task task = small_task(specs, [](const std::vector<Tensor>& given) {
      return std::vector<Tensor>{at::matmul(given[0], given[1])};
    });
    const auto canary = find(task);
    ASSERT_TRUE(canary);
    for (size_t call = 0; call < canary->calls(); ++call) {
      const std::vector<Tensor> given = canary->arguments(call);
      EXPECT_TRUE(given[canary->position(call)].le(255).all().item<bool>());
      const Expectation right(task, {}, given, 1);
      Tensor wide = at::zeros({20, 10}), narrow = at::zeros({20, 10}, type);
      for (int64_t k = depth; k-- > 0;) {
        const Tensor term = given[0].select(1, k).unsqueeze(1) * given[1].select(0, k).unsqueeze(0);
        wide += term.to(at::kFloat);
        narrow += term;
      }
      EXPECT_FALSE(right.compare_integers(0, wide.to(type)).worst);
      EXPECT_TRUE(right.compare_integers(0, narrow).worst);
    }
  }
}

TEST(Canary, KeepsZerosAndSymmetry) {
  const Task task =
      small_task({input<float>("a", {40, 40}).with([](Tensor& out, at::Generator& rng) {
                    out.normal_(0, 1, rng);
                    out.copy_(out + out.t());
                  }),
                  input<float>("b", {40, 40}).with([](Tensor& out, at::Generator& rng) {
                    out.normal_(0, 1, rng);
                    out.tril_();
                  }),
                  output<float>("c", {40, 40})},
                 [](const std::vector<Tensor>& given) {
                   return std::vector<Tensor>{at::matmul(given[0], given[1])};
                 });
  const auto canary = find(task);
  ASSERT_TRUE(canary);
  for (size_t call = 0; call < 2; ++call) {
    const std::vector<Tensor> given = canary->arguments(call);
    EXPECT_TRUE(at::equal(given[0], given[0].t()));
    EXPECT_TRUE(at::equal(given[1], given[1].tril()));
    EXPECT_TRUE(given[1].any().item<bool>());
  }
}

TEST(Canary, CountsBiasesAsAdded) {
  const auto with_bias = [](const char* name) {
    return small_task({input<float>("x", {20, depth}), weight<float>("fc.weight", {10, depth}),
                       weight<float>(name, {10}), output<float>("y", {20, 10})},
                      [](const std::vector<Tensor>& given) {
                        return std::vector<Tensor>{at::linear(given[0], given[1], given[2])};
                      });
  };
  const auto canary = find(with_bias("fc.bias"));
  ASSERT_TRUE(canary);
  EXPECT_EQ(canary->calls(), 2u);
  const Tensor bias = canary->arguments(1)[2];
  EXPECT_TRUE(bias.ge(4097).all().item<bool>());
  EXPECT_FALSE(find(with_bias("fc.shift")));  // nothing is linear in the rest with it
}

TEST(Canary, TakesProductsOfThree) {
  const Task task =
      small_task({input<float>("x", {8, 64}), weight<float>("one.weight", {32, 64}),
                  weight<float>("two.weight", {16, 32}), output<float>("y", {8, 16})},
                 [](const std::vector<Tensor>& given) {
                   return std::vector<Tensor>{at::linear(at::linear(given[0], given[1]), given[2])};
                 });
  const auto canary = find(task);
  ASSERT_TRUE(canary);
  EXPECT_EQ(canary->calls(), 3u);
}

TEST(Canary, LeavesEverythingElseAlone) {
  const Operation others[] = {
      [](const Tensor& a, const Tensor& b) { return at::relu(at::matmul(a, b)); },
      [](const Tensor& a, const Tensor& b) { return at::matmul(a, b) / 3; },
      [](const Tensor& a, const Tensor& b) { return at::matmul(a, b.softmax(0)); },
      [](const Tensor& a, const Tensor& b) { return at::matmul(a, b) + 1; },
      [](const Tensor& a, const Tensor& b) { return at::matmul(a * a, b); },
      [](const Tensor& a, const Tensor& b) {
        return at::zeros({a.size(0), b.size(1)}, a.options());
      },
  };
  for (const Operation operation : others) EXPECT_FALSE(find(product(operation)));
  const Task cumsum = small_task({input<float>("x", {8, 64}), output<float>("y", {8, 64})},
                                 [](const std::vector<Tensor>& given) {
                                   return std::vector<Tensor>{at::cumsum(given[0], 1)};
                                 });
  EXPECT_FALSE(find(cumsum));
}

TEST(Canary, DoesNotFollowLaterChangesOfItsInput) {
  const Task task = product(multiplied);
  std::vector<Tensor> given = task.example({});
  const auto canary = Canary::find(task, {}, given);
  ASSERT_TRUE(canary);
  const Tensor before = canary->arguments(0)[0];
  given[0].zero_();
  EXPECT_TRUE(at::equal(canary->arguments(0)[0], before));
}

}  // namespace
}  // namespace kb
