// The noise of roundings: what moves, by how much, and that an operator's parts are the operator.
#include "judge/acceptance/noise.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kb/fill.h"

namespace kb {
namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;

constexpr double u = 0x1p-24;

std::vector<at::Device> devices() {
  std::vector<at::Device> all{at::kCPU};
  if (at::hasCUDA()) all.emplace_back(at::kCUDA, 0);
  return all;
}

class Noise : public testing::Test {
 protected:
  Tensor draw(const at::IntArrayRef shape, double mean = 0, at::Device device = at::kCPU) {
    at::Generator rng = make_rng(device, ++seed_);
    return at::empty(shape, at::TensorOptions(at::kDouble).device(device)).normal_(mean, 1, rng);
  }

  static Tensor noisy(const std::function<Tensor()>& run, const Roundings& roundings = {},
                      double sign = 1, uint64_t seed = 5) {
    return with_noise(roundings, {seed, sign}, [&] { return Tensors{run()}; })[0];
  }

  // Relative, of the whole, per rounding of the contract.
  static double moved(const std::function<Tensor()>& run, const Roundings& roundings = {}) {
    const Tensor y = run();
    return ((noisy(run, roundings) - y).norm() / y.norm()).item<double>() / noise_amplitude;
  }

  const at::NoGradGuard no_grad_;
  uint64_t seed_ = 0;
};

TEST_F(Noise, HasASeedAndAMirrorImage) {
  const Tensor x = draw({50, 40});
  const auto run = [&] { return x * 3; };
  EXPECT_TRUE(at::equal(noisy(run), noisy(run)));
  EXPECT_FALSE(at::equal(noisy(run), noisy(run, {}, 1, 6)));
  const Tensor mean = (noisy(run) + noisy(run, {}, -1)) / 2;
  EXPECT_LT((mean - x * 3).abs().max().item<double>(), 1e-14);
  EXPECT_TRUE(at::equal(x * 3, run())) << "it ends with the run";
}

TEST_F(Noise, IsOneRoundingPerOperator) {
  const Tensor x = draw({100, 100});
  EXPECT_NEAR(moved([&] { return x + 1; }), 0.6 * u, 0.1 * u);
  EXPECT_NEAR(moved([&] { return at::leaky_relu(x); }), 0.6 * u, 0.1 * u);
  EXPECT_NEAR(moved([&] { return x * 2 * 3; }), 0.6 * std::sqrt(2) * u, 0.1 * u);
}

TEST_F(Noise, IsNoneWhereNothingIsComputed) {
  const Tensor x = draw({6, 8, 10});
  for (const auto& run : std::vector<std::function<Tensor()>>{
           [&] { return at::relu(x); }, [&] { return x.transpose(0, 2).contiguous(); },
           [&] {
             return at::cat({x.narrow(1, 2, 3), x.view({6, 8, 10}).slice(1, 0, 2)}, 1);
           },
           [&] { return std::get<0>(at::max(x, 1)); }, [&] { return at::clamp(x, -0.5, 0.5); },
           [&] { return at::max_pool2d(x, 2); }, [&] { return at::triu(x[0]); }}) {
    EXPECT_TRUE(at::equal(noisy(run), run()));
  }
}

TEST_F(Noise, ReachesWhatIsComputedInPlace) {
  const Tensor x = draw({40, 50}), w = draw({30, 50}), b = draw({30});
  const auto apart = [&] { return at::relu(at::sigmoid(at::linear(x, w, b)) - 0.5); };
  const auto in_place = [&] {
    Tensor y = at::linear(x, w, b);
    y.sigmoid_().sub_(0.5).relu_();
    return y.view({-1, 30});
  };
  EXPECT_GT(moved(in_place), u);
  EXPECT_NEAR(moved(in_place) / moved(apart), 1, 0.2);
}

TEST_F(Noise, FollowsTheContractsOperands) {
  const Tensor x = draw({4, 8, 12, 12}, 1000), w = draw({6, 8, 3, 3}), b = draw({6});
  const auto conv = [&] {
    return at::instance_norm(at::conv2d(x, w, b), {}, {}, {}, {}, true, 0.1, 1e-5, false);
  };
  const Tensor p = draw({30, 40}), q = draw({40, 20});
  const auto product = [&] { return at::matmul(p, q); };
  const double tf32 = 0x1p-11;
  EXPECT_LT(moved(conv), 5e-3);
  EXPECT_GT(moved(conv, {.convolution_operand = tf32}), 0.02) << "as an H200 showed";
  EXPECT_LT(moved(product, {.convolution_operand = tf32}), 100 * u);
  EXPECT_NEAR(moved(product, {.matmul_operand = tf32}), 1.3 * tf32, 0.5 * tf32);
  // ATen multiplies a depth of 1 element by element, and a kernel still rounds.
  const auto flat = [&] { return at::einsum("ik,kj->ij", {p.narrow(1, 0, 1), q.narrow(0, 0, 1)}); };
  EXPECT_NEAR(moved(flat, {.matmul_operand = tf32}), 1.3 * tf32, 0.5 * tf32);
  EXPECT_LT(moved([&] { return p * p; }, {.matmul_operand = tf32}), u);
}

TEST_F(Noise, DoesNotRoundABiasAsAnOperand) {
  const Tensor x = draw({2, 3, 9}), w = draw({4, 3, 3}), b = draw({4}, 1e6);
  EXPECT_LT(moved([&] { return at::conv1d(x, w, b); }, {.convolution_operand = 0x1p-11}), 2 * u);
}

TEST_F(Noise, GrowsWithTheTermsOfASum) {
  const Tensor x = draw({8, 1 << 14}, 100);
  const double any_way = moved([&] { return x.sum(1); });
  EXPECT_GT(any_way, 60 * u);
  EXPECT_LT(any_way, 300 * u);
  EXPECT_LT(moved([&] { return x.narrow(1, 0, 64).sum(1); }), 20 * u);
  EXPECT_GT(moved([&] { return x.cumsum(1).select(1, -1); }), 1000 * u) << "terms not looked at";
}

// The same number again and again is rounded in the same direction, from one power of two of the
// sum to the next.
TEST_F(Noise, OfASumFollowsItsTerms) {
  const Tensor alike = at::full({4, 3, 1 << 16}, 0.11, at::kDouble);
  const auto in_order = [&](const Tensor& x) {
    const Tensor terms = x.to(at::kFloat);
    float sum = 0;
    for (int64_t i = 0; i < terms.numel(); ++i) sum += terms.const_data_ptr<float>()[i];
    return std::abs(sum / x.sum().item<double>() - 1);
  };
  const double lost = in_order(alike[0][0].contiguous());
  EXPECT_GT(lost, 1e-4);
  EXPECT_GT(moved([&] { return alike.sum(2); }), 0.4 * lost);
  EXPECT_GT(moved([&] { return alike.permute({2, 0, 1}).contiguous().mean({0}); }), 0.4 * lost);
  Tensor scores = at::zeros_like(alike);
  scores.select(2, 0).fill_(-std::log(0.11));  // so that the other terms are 0.11
  EXPECT_GT(moved([&] { return at::softmax(scores, 2); }), 0.4 * lost);
  EXPECT_LT(moved([&] { return at::full_like(alike, 0.125).sum({1, 2}); }), 700 * u) << "exact";
}

// A running product that leaves the range of floats comes back in fp64 alone.
TEST_F(Noise, LosesRunningProductsOutsideOfTheRangeOfFloats) {
  const Tensor x = at::tensor({2.0, 1e30, 1e30, 1e-40, 3.0, 1e-40, 1e-10, 1e40}, at::kDouble);
  const Tensor large = noisy([&] { return at::cumprod(x.narrow(0, 0, 5), 0); });
  EXPECT_TRUE(at::equal(large.isnan(), at::tensor({0, 0, 1, 1, 1}).to(at::kBool)));
  const Tensor small = noisy([&] { return at::cumprod(x.narrow(0, 4, 4), 0); });
  EXPECT_TRUE(at::equal(small.isnan(), at::tensor({0, 1, 1, 1}).to(at::kBool)));
  // NaN in fp64, where floats have had 0 from the second factor on.
  const Tensor nan = at::tensor({1e-200, 1e-100, 1e300, 1e300, 1e300, 0.0}, at::kDouble);
  ASSERT_TRUE(at::cumprod(nan, 0)[5].isnan().item<bool>());
  EXPECT_EQ(noisy([&] { return at::cumprod(nan, 0); })[5].item<double>(), 0);
}

TEST_F(Noise, TakesRecurrentLayersForConvolutions) {
  const Tensor x = draw({5, 3, 8}), h = draw({1, 3, 16});
  const Tensors w{draw({64, 8}), draw({64, 16}), draw({64}), draw({64})};
  const auto run = [&] {
    return std::get<0>(at::lstm(x, {h, h}, w, true, 1, 0, false, false, false));
  };
  EXPECT_LT(moved(run, {.matmul_operand = 0x1p-11}), 100 * u);
  EXPECT_GT(moved(run, {.convolution_operand = 0x1p-11}), 0x1p-13);
}

TEST_F(Noise, TakesAttentionApartAndSetsTheSwitchesBack) {
  const Tensor q = draw({2, 4, 16, 8});
  const bool before = at::globalContext().userEnabledFlashSDP();
  const auto run = [&] { return at::scaled_dot_product_attention(q, q, q); };
  EXPECT_GT(moved(run, {.matmul_operand = 0x1p-11}), 0x1p-12);
  EXPECT_EQ(at::globalContext().userEnabledFlashSDP(), before);
  EXPECT_THROW(noisy([&]() -> Tensor {
                 return at::matmul(q, at::ones({3, 3}, at::kDouble));
               }),
               c10::Error);
  EXPECT_EQ(at::globalContext().userEnabledFlashSDP(), before);
  EXPECT_TRUE(at::equal(q * 3, q * 3));
}

TEST_F(Noise, StoresWhatA16BitContractStores) {
  const Roundings fp16{.storage = 0x1p-11, .largest = 65504, .smallest = 0x1p-25};
  const Tensor x = draw({100, 100});
  EXPECT_NEAR(moved([&] { return x + 1; }, fp16), 0.6 * 0x1p-11, 0.1 * 0x1p-11);
  const Tensor y = noisy([&] { return (x * 0 + 300) * 300; }, fp16);
  EXPECT_TRUE(at::isinf(y).all().item<bool>());
  EXPECT_TRUE(at::isfinite(noisy([&] { return at::mean(x * 0 + 60000); }, fp16)).item<bool>())
      << "sums within an operator have fp32's range";
  const double norm = moved([&] { return at::layer_norm(x, {100}); }, fp16);
  EXPECT_NEAR(norm, 0.6 * 0x1p-11, 0.1 * 0x1p-11) << "its parts are not stored";
}

// Each operator that is taken apart is what its parts are.
TEST_F(Noise, MovesNoOperatorByMoreThanItsRoundings) {
  for (const at::Device device : devices()) {
    const auto d = [&](const at::IntArrayRef shape, double mean = 0) {
      return draw(shape, mean, device);
    };
    const Tensor x = d({6, 8, 5, 7}), scale = d({8}, 1), shift = d({8}), flat = d({12, 24});
    const Tensor last = d({7}, 1), other = d({12, 24}), m = d({24, 9}), bias = d({9});
    const Tensor labels = at::arange(12, at::TensorOptions(at::kLong).device(device));
    const Tensor steps = d({5, 3, 8}), h = d({1, 3, 16}), k = d({10, 8, 3, 3}), kb = d({10});
    const Tensor kt = d({8, 10, 3, 3});
    const Tensors lstm{d({64, 8}), d({64, 16}), d({64}), d({64})};
    const Tensors gru{d({48, 8}), d({48, 16}), d({48}), d({48})};
    Tensor mean = at::zeros({8}, x.options()), var = at::ones({8}, x.options());
    const std::vector<std::pair<const char*, std::function<Tensor()>>> operators = {
        {"batch_norm",
         [&] { return at::batch_norm(x, scale, shift, {}, {}, true, 0, 1e-5, true); }},
        {"batch_norm with statistics",
         [&] { return at::batch_norm(x, scale, shift, mean, var, true, 0.1, 1e-5, true); }},
        {"batch_norm of statistics",
         [&] { return at::batch_norm(x, scale, shift, mean, var, false, 0.1, 1e-5, true); }},
        {"instance_norm",
         [&] { return at::instance_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, true); }},
        {"layer_norm", [&] { return at::layer_norm(x, {7}, last, last); }},
        {"group_norm", [&] { return at::group_norm(x, 4, scale, shift); }},
        {"softmax", [&] { return at::softmax(x, 1); }},
        {"log_softmax", [&] { return at::log_softmax(x, 2); }},
        {"logsumexp", [&] { return at::logsumexp(x, {1}, true); }},
        {"logsumexp of two",
         [&] {
           return at::logsumexp(x, {1, 3}, false);
         }},
        {"var",
         [&] {
           return at::var(x, {1, 2}, true, true);
         }},
        {"std", [&] { return at::std(x, {0}, false, false); }},
        {"std of all", [&] { return at::std(x); }},
        {"var_mean", [&] { return std::get<1>(at::var_mean(x, {1}, false, true)); }},
        {"vector_norm", [&] { return at::linalg_vector_norm(x, 2, at::IntArrayRef{1}, true); }},
        {"norm", [&] { return at::norm(x); }},
        {"norm of a dimension", [&] { return at::norm(x, 2, {3}, true); }},
        {"sum of magnitudes", [&] { return at::norm(x, 1, {1}, false); }},
        {"norm of order 3", [&] { return at::norm(x, 3, {1}, false); }},
        {"largest magnitude", [&] { return at::norm(x, INFINITY, {1}, false); }},
        {"mse_loss", [&] { return at::mse_loss(flat, other); }},
        {"smooth_l1_loss",
         [&] { return at::smooth_l1_loss(flat, other, at::Reduction::Sum, 0.7); }},
        {"huber_loss", [&] { return at::huber_loss(flat, other, at::Reduction::Mean, 1.3); }},
        {"cross_entropy", [&] { return at::cross_entropy_loss(flat, labels); }},
        {"addmm", [&] { return at::addmm(bias, flat, m, 0.5, 2); }},
        {"addmm without summand", [&] { return at::addmm(bias, flat, m, 0, 1); }},
        {"baddbmm",
         [&] {
           return at::baddbmm(bias, flat.view({3, 4, 24}), m.expand({3, 24, 9}));
         }},
        {"conv2d", [&] { return at::conv2d(x, k, kb, 2, 1); }},
        {"conv_transpose2d", [&] { return at::conv_transpose2d(x, kt, kb, 2, 1); }},
        {"avg_pool2d", [&] { return at::avg_pool2d(x, 3, 1); }},
        {"adaptive_avg_pool2d",
         [&] {
           return at::adaptive_avg_pool2d(x, {2, 3});
         }},
        {"mean",
         [&] {
           return x.mean({1, 3});
         }},
        {"lstm",
         [&] {
           return std::get<1>(at::lstm(steps, {h, h}, lstm, true, 1, 0, false, false, false));
         }},
        {"gru",
         [&] { return std::get<0>(at::gru(steps, h, gru, true, 1, 0, false, false, false)); }},
        {"attention", [&] { return at::scaled_dot_product_attention(steps, steps, steps); }},
        {"gelu", [&] { return at::gelu(x); }},
        {"mish", [&] { return at::mish(x); }},
        {"softplus", [&] { return at::softplus(x); }},
        {"log_sigmoid", [&] { return at::log_sigmoid(x); }},
        {"hardswish", [&] { return at::hardswish(x); }}};
    for (const auto& [name, run] : operators) {
      const double moves = moved(run);
      EXPECT_LT(moves, 300 * u) << name << " on " << device;
      EXPECT_GT(moves, 0.1 * u) << name << " on " << device;
    }
    const auto all = [&] {
      for (const auto& [name, run] : operators) run();
    };
    EXPECT_EQ(operators_without_rule(all), std::vector<std::string>{}) << device;
  }
}

TEST_F(Noise, NamesOperatorsThatItDoesNotKnow) {
  const Tensor x = draw({6, 6});
  EXPECT_EQ(operators_without_rule([&] { at::relu(at::erfinv(x) + 1); }),
            std::vector<std::string>{"aten::erfinv"});
}

}  // namespace
}  // namespace kb
