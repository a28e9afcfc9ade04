// Bytes and FLOPs of real tasks against numbers worked out by hand from their smoke sizes.
#include "judge/bench/work_count.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "reference/task_library.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

struct Row {
  const char* task;
  double elements;  ///< read or written at least, 4 bytes each
  double flops;
};

TEST(WorkCount, AgreesWithCountsByHand) {
  const Row rows[] = {
      {"level1/001_square_matrix_multiplication", 3 * 96 * 96, 2.0 * 96 * 96 * 96},
      {"level1/003_batched_matrix_multiplication", 4 * (32 * 64 + 64 * 128 + 32 * 128),
       2.0 * 4 * 32 * 64 * 128},
      {"level1/004_matrix_vector_multiplication", 64 * 4096 + 4096 + 64, 2.0 * 64 * 4096},
      {"level1/012_matmul_with_diagonal_matrices", 64 + 2 * 48 * 64, 0},
      // A triangle with its diagonal of both operands; the whole output.
      {"level1/013_matmul_for_symmetric_matrices", 96 * 97 + 96 * 96, 2.0 * 96 * 96 * 96},
      // One multiplication for each i <= k <= j: 96 * 97 * 98 / 6.
      {"level1/014_matmul_for_upper_triangular_matrices", 96 * 97 + 96 * 96, 2 * 152096},
      {"level1/015_matmul_for_lower_triangular_matrices", 96 * 97 + 96 * 96, 2 * 152096},
      {"level1/016_matmul_with_transposed_a", 48 * 192 + 192 * 96 + 48 * 96, 2.0 * 48 * 192 * 96},
      {"level1/019_relu", 2 * 16 * 1536, 0},
      // Every weight meets every position of the input, which is the smaller grid.
      {"level1/061_conv_transposed_3d_square_input_square_kernel",
       2 * 4 * 512 + 4 * 4 * 27 + 2 * 4 * 1000, 2.0 * (2 * 512) * (4 * 4 * 27)},
      {"level1/097_scaled_dot_product_attention", 4 * 2 * 2 * 32 * 64,
       2.0 * (2 * 2) * 32 * 32 * (64 + 64)},
      {"level2/001_conv2d_relu_bias_add", 2 * 8 * 144 + 16 + 16 * 8 * 9 + 16 + 2 * 16 * 100,
       2.0 * (2 * 100) * (16 * 8 * 9)},
      // 16 steps (2 sequences of 8) of three layers with 64 gates, then one product with fc.
      {"level3/035_lstm",
       2 * 8 * 12 + 2 * (3 * 2 * 16) + (64 * 12 + 5 * 64 * 16) + 3 * 2 * 64 + 10 * 16 + 10 + 2 * 10,
       2.0 * 16 * (64 * 12 + 5 * 64 * 16) + 2.0 * 2 * 16 * 10},
  };
  for (const Row& row : rows) {
    const Task task = load_task(tasks_folder(), row.task);
    const Work work = count_work(task, task.smoke, task.example(task.smoke));
    EXPECT_FALSE(work.weights_alone.most()) << row.task;
    EXPECT_EQ(work.bytes, 4 * row.elements) << row.task;
    EXPECT_EQ(work.flops, row.flops) << row.task;
  }
}

// What prepare() may do is not owed: an honest kernel of level2/018 once was a `cheat` by it.
TEST(WorkCount, WhatPrepareMayDoIsNotOwed) {
  const Task sums =
      load_task(tasks_folder(), "level2/018_matmul_sum_max_avg_pool_logsumexp_logsumexp");
  const Work work = count_work(sums, sums.smoke, sums.example(sums.smoke));
  constexpr double batch = 16, in = 512, out = 48;
  EXPECT_EQ(work.counted_flops, 2 * batch * in * out);
  EXPECT_EQ(work.flops, 2 * batch * in);
  EXPECT_EQ(work.counted_bytes, 4 * (batch * in + out * in + out + batch));
  EXPECT_LE(work.bytes, 4 * (batch * in + in + 1 + batch));
  EXPECT_TRUE(work.weights_alone.most());
  EXPECT_EQ(work.weights_alone.flops, 0);
}

TEST(WorkCount, MostOfAStateSpaceLayerDependsOnWeightsAlone) {
  const Task mamba = load_task(tasks_folder(), "level3/048_mamba2_return_y");
  SizeBytes one_block = mamba.full;
  mamba.fields.set(one_block, "batch_size", "1");
  mamba.fields.set(one_block, "n_heads", "1");
  const Work work = count_work(mamba, one_block, mamba.example(one_block));
  EXPECT_GT(work.weights_alone.flops, 0.5);
  EXPECT_GT(work.weights_alone.operator_bytes, 0.4);
  EXPECT_LT(work.flops, work.counted_flops);
  EXPECT_TRUE(work_to_json(work)["weights_alone"]["most"].get<bool>());
}

// Under `bf16` all three once declared the bytes of floats, more than were counted: no time.
TEST(WorkCount, WhatATaskDeclaresGoesWithTheElementType) {
  const auto folder = tasks_folder().parent_path() / "tests/bf16";
  const std::vector<std::string> names = task_names(folder);
  EXPECT_EQ(names.size(), 3);
  for (const std::string& name : names) {
    const Task halves = load_task(folder, name), floats = load_task(tasks_folder(), name);
    const Work work = count_work(halves, halves.smoke, halves.example(halves.smoke));
    const Work twice = count_work(floats, floats.smoke, floats.example(floats.smoke));
    EXPECT_EQ(2 * work.bytes, twice.bytes) << name;
    EXPECT_EQ(work.flops, twice.flops) << name;
  }
}

Task product() {
  return small_task(
      {input<float>("a", {4, 4}), input<float>("b", {4, 4}), output<float>("c", {4, 4})},
      [](const std::vector<Tensor>& given) {
        return std::vector<Tensor>{at::matmul(given[0], given[1])};
      });
}

TEST(WorkCount, WhatATaskDeclaresReplacesTheCount) {
  const std::vector<Tensor> given(2, at::ones({4, 4}));
  EXPECT_EQ(count_work(product(), {}, given).bytes, 3 * 16 * 4);
  EXPECT_EQ(count_work(product(), {}, given).flops, 128);
  EXPECT_EQ(count_work(product(), {}, given).counted_flops, 128);
  const Task less = product().needing(
      +[](const NoSizes&) { return LeastWork{.bytes = 100, .flops = std::nullopt}; });
  EXPECT_EQ(count_work(less, {}, given).bytes, 100);
  EXPECT_EQ(count_work(less, {}, given).flops, 128);
}

TEST(WorkCount, ATaskCannotDeclareMoreThanIsCounted) {
  const std::vector<Tensor> given(2, at::ones({4, 4}));
  const Task more = product().needing(+[](const NoSizes&) { return LeastWork{.flops = 129}; });
  EXPECT_ANY_THROW(count_work(more, {}, given));
}

}  // namespace
}  // namespace kb
