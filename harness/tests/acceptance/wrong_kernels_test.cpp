// What the acceptance rule catches: kinds of wrong kernels, and of right ones, in tasks of the
// build tree. A kernel is its task's reference in fp32 with one habit.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "habits.h"
#include "judge/acceptance/mixes.h"
#include "judge/acceptance/precision.h"
#include "reference/task_library.h"

namespace kb {
namespace {

using at::Tensor;

/// How many kernels of one kind are wrong by the rule.
struct Count {
  int wrong = 0, all = 0;
};

/// A kind of wrong kernels, and how many of how many the rule caught in the simulation that its
/// limits come from (acceptance/spread.h).
struct Mistake {
  Habit habit;
  Count least;
};

struct Contract {
  std::string name;
  std::vector<std::string> tasks;
  std::vector<Habit> right;
  std::vector<Mistake> mistakes;
};

void PrintTo(const Contract& contract, std::ostream* out) { *out << contract.name; }

// What one call is given, as the judge draws it.
struct Call {
  std::vector<Tensor> given;
  Mix mix;
};

// The task's own values, each family, and all families in turn.
std::vector<Call> calls_of(const Task& task) {
  std::vector<Call> calls{{task.example(task.smoke), {}}};
  const std::vector<TensorSpec> tensors = task.tensors(task.smoke), given = task.given(task.smoke);
  const auto add = [&](const Mix& mix) {
    const uint64_t seed = calls.size() + 1;
    Call call{task.example(task.smoke, at::kCPU, seed), mix};
    at::Generator rng = make_rng(at::kCPU, seed);
    for (size_t i = 0; i < given.size(); ++i) {
      if (takes_families(given[i])) mix.fill(given[i], call.given[i], rng);
    }
    calls.push_back(std::move(call));
  };
  std::vector<Family> filling;
  for (const Family& family : families()) {
    if (!family.fill) continue;
    filling.push_back(family);
    add(divide({family}, 0, tensors));
  }
  add(divide(filling, 0, tensors));
  return calls;
}

class WrongKernels : public testing::TestWithParam<Contract> {
 protected:
  // Counts a kernel of each habit that is about one of the task's operators. It is wrong if one of
  // its calls is.
  void judge(const Task& task, const std::vector<Habit>& habits) {
    std::map<std::string, bool> wrong;
    uint64_t noise_seed = 0;
    for (const Call& call : calls_of(task)) {
      Expectation right(task, task.smoke, call.given, ++noise_seed, {}, first_rows(call.mix));
      for (const Habit& habit : habits) {
        const auto found = wrong.find(habit.name);
        if (found != wrong.end() && found->second) continue;
        const WithHabit kernel =
            with_habit(habit, [&] { return task.reference(task.smoke, call.given); });
        if (!kernel.is_about_any) continue;
        wrong[habit.name] = judge_mix(right, call.mix, kernel.outputs).has_value();
      }
    }
    for (const auto& [habit, is_wrong] : wrong) {
      ++counts_[habit].all;
      counts_[habit].wrong += is_wrong;
    }
  }

  std::map<std::string, Count> counts_;  ///< by habit
  const at::NoGradGuard no_grad_;
};

TEST_P(WrongKernels, AreCaughtAndRightOnesAreNot) {
  if (dtype_of<real> != at::kFloat) GTEST_SKIP() << "these kernels compute in fp32";
  at::set_num_threads(1);  // small sizes; threads would only wait for each other
  const Contract& contract = GetParam();
  apply_precision(contract.name);
  std::vector<Habit> habits = contract.right;
  for (const Mistake& mistake : contract.mistakes) habits.push_back(mistake.habit);
  for (const std::string& name : contract.tasks) judge(load_task(tasks_folder(), name), habits);
  apply_precision("fp32");

  std::printf("%-12s %-32s %8s %8s\n", contract.name.c_str(), "kernels", "wrong", "at least");
  for (const Habit& habit : contract.right) {
    const Count& count = counts_[habit.name];
    std::printf("%-12s %-32s %3d / %2d\n", "", habit.name.c_str(), count.wrong, count.all);
    EXPECT_GT(count.all, 0) << habit.name;
    EXPECT_EQ(count.wrong, 0) << habit.name;
  }
  for (const auto& [habit, least] : contract.mistakes) {
    const Count& count = counts_[habit.name];
    std::printf("%-12s %-32s %3d / %2d %3d / %2d\n", "", habit.name.c_str(), count.wrong, count.all,
                least.wrong, least.all);
    EXPECT_GT(count.all, 0) << habit.name;
    EXPECT_GE(count.wrong * least.all, least.wrong * count.all) << habit.name;
  }
}

// Tasks of many kinds of operators: norms, elementary functions, means, factors. Their outputs
// depend on all of these: a norm hides a factor before it, and some tasks' outputs are constant.
const std::vector<std::string> with_convolutions = {
    "level1/063_conv_standard_2d_square_input_square_kernel",
    "level2/003_conv_transpose3d_sum_layer_norm_avg_pool_gelu",
    "level2/005_conv_transpose2d_subtract_tanh",
    "level2/013_conv_transpose3d_mean_add_softmax_tanh_scaling",
    "level2/017_conv2d_instance_norm_divide",
    "level2/021_conv2d_add_scale_sigmoid_group_norm",
    "level2/042_conv_transpose2d_global_avg_pool_bias_add_logsumexp_sum_multiply",
    "level2/048_conv3d_scaling_tanh_multiply_sigmoid",
    "level2/050_conv_transpose3d_scaling_avg_pool_bias_add_scaling",
    "level2/073_conv2d_batch_norm_scaling",
    "level2/091_conv_transpose2d_softmax_bias_add_scaling_sigmoid",
    "level3/013_densenet121_transition_layer",
};
const std::vector<std::string> with_more_convolutions = {
    "level2/007_conv3d_relu_leaky_relu_gelu_sigmoid_bias_add",
    "level2/010_conv_transpose2d_max_pool_hardtanh_mean_tanh",
    "level2/034_conv_transpose3d_layer_norm_gelu_scaling",
    "level2/038_conv_transpose3d_avg_pool_clamp_softmax_multiply",
    "level2/047_conv3d_mish_tanh",
    "level2/052_conv2d_activation_batch_norm",
    "level2/079_conv3d_multiply_instance_norm_clamp_multiply_max",
    "level2/090_conv3d_leaky_relu_sum_clamp_gelu",
};
const std::vector<std::string> with_products = {
    "level1/002_standard_matrix_multiplication",
    "level2/012_gemm_multiply_leaky_relu",
    "level2/039_gemm_scale_batch_norm_large_batch",
    "level2/053_gemm_scaling_hardtanh_gelu",
    "level2/070_gemm_sigmoid_scaling_residual_add",
    "level2/094_gemm_bias_add_hardtanh_mish_group_norm",
    "level2/095_matmul_add_swish_tanh_gelu_hardtanh",
    "level2/099_matmul_gelu_softmax",
};

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Contract> contracts() {
  const std::vector<Habit> in_fp32 = {taken_apart(), fast_intrinsics(), sums_in_order(),
                                      folded_norms()};
  const auto and_tf32 = [&](bool matrix_products) {
    std::vector<Habit> all = in_fp32;
    all.push_back(tf32_operands(/*truncated=*/false, matrix_products));
    all.push_back(tf32_operands(/*truncated=*/true, matrix_products));
    return all;
  };
  return {{"fp32",
           joined(with_convolutions, with_products),
           in_fp32,
           {{tf32_operands(/*truncated=*/false, true), {66, 68}},
            {bf16_operands(), {67, 68}},
            {wrong_divisors(), {16, 16}},
            {small_eps(), {12, 14}},
            {rough_exponentials(), {32, 36}},
            {gelu_by_tanh(), {9, 10}},
            {sums_in_16_bits(), {64, 65}},
            {cancelling_variance(), {6, 14}},
            {factor_of_1001(), {22, 23}},
            {rough_tanh(), {16, 16}}}},
          {"kernelbench",
           joined(with_convolutions, with_more_convolutions),
           and_tf32(/*matrix_products=*/false),
           {{bf16_operands(), {63, 71}},
            {wrong_divisors(), {14, 14}},
            {small_eps(), {8, 18}},
            {rough_exponentials(), {6, 25}},
            {gelu_by_tanh(), {1, 9}},
            {sums_in_16_bits(), {56, 66}},
            {cancelling_variance(), {2, 18}},
            {factor_of_1001(), {6, 13}},
            {rough_tanh(), {7, 13}}}},
          {"tf32",
           joined(with_convolutions, with_products),
           and_tf32(/*matrix_products=*/true),
           {{bf16_operands(), {71, 83}},
            {wrong_divisors(), {9, 9}},
            {small_eps(), {8, 17}},
            {rough_exponentials(), {16, 41}},
            {gelu_by_tanh(), {2, 15}},
            {sums_in_16_bits(), {71, 80}},
            {cancelling_variance(), {2, 17}},
            {factor_of_1001(), {9, 22}},
            {rough_tanh(), {12, 22}}}}};
}

INSTANTIATE_TEST_SUITE_P(EachContract, WrongKernels, testing::ValuesIn(contracts()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kb
