// Sizes that are drawn: what changes, what changes together, and what is long.
#include "judge/acceptance/drawn_sizes.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "judge/acceptance/long_sizes.h"
#include "kb/reference.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

using LongValues = std::map<std::string, int64_t>;

constexpr uint64_t seeds = 30;

struct Sizes {
  int64_t batch_size = 64, rows = 32, kernel_size = 3;
  KB_FIELDS(batch_size, rows, kernel_size)
};
using Launch = void(const Sizes&, const float*, float*, cudaStream_t);

Task pooling(int64_t least_batch) {
  const auto tensors = [=](const Sizes& s) {
    TORCH_CHECK(s.batch_size >= least_batch, "too few");
    return std::tuple{input<float>("x", {s.batch_size, s.rows}),
                      output<float>("y", {s.batch_size, s.rows / s.kernel_size})};
  };
  const auto reference = [](const Sizes& s, Tensor x) {
    return std::get<0>(at::max(x.narrow(1, 0, s.rows / s.kernel_size * s.kernel_size)
                                   .view({s.batch_size, -1, s.kernel_size}),
                               -1));
  };
  const Sizes small{4, 9, 3};
  return define<Launch>("Pooling", tensors, reference, SizeSets<Sizes>{small, small});
}

// A linear layer and a norm of groups of its features, over rows that a stride leaves.
struct LayerSizes {
  int64_t batch_size = 64, length = 32, stride = 1, features = 256, out_features = 512, groups = 8;
  double eps = 1e-5;
  bool causal = false;
  KB_FIELDS(batch_size, length, stride, features, out_features, groups, eps, causal)
};
using LaunchLayer = void(const LayerSizes&, const float*, const float*, float*, cudaStream_t);

Task layer() {
  const auto tensors = [](const LayerSizes& s) {
    return std::tuple{
        input<float>("x", {s.batch_size, s.length, s.features}),
        weight<float>("fc.weight", {s.out_features, s.features}),
        output<float>("y", {s.batch_size, s.out_features, (s.length - 1) / s.stride + 1})};
  };
  const auto reference = [](const LayerSizes& s, Tensor x, Tensor weight) {
    x = at::linear(x.slice(1, 0, s.length, s.stride), weight).transpose(1, 2);
    return at::group_norm(x, s.groups, {}, {}, s.eps);
  };
  return define<LaunchLayer>(
      "Fusion", tensors, reference,
      SizeSets<LayerSizes>{{4, 9, 2, 12, 16, 4, 1e-5}, {3, 7, 3, 13, 15, 3, 0.01}});
}

TEST(DrawnSizes, AreOthersWithinWhatTheTaskAccepts) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    at::Generator rng = make_rng(at::kCPU, seed), again = make_rng(at::kCPU, seed);
    const Task task = pooling(3);
    const auto sizes = draw_sizes(task, rng);
    ASSERT_TRUE(sizes);
    EXPECT_NE(*sizes, task.smoke);
    const auto drawn = sizes_from<Sizes>(*sizes);
    EXPECT_GE(drawn.batch_size, 3);
    EXPECT_LE(drawn.batch_size, 16);
    EXPECT_LE(drawn.kernel_size, drawn.rows);
    EXPECT_EQ(sizes, draw_sizes(task, again)) << "the seed decides";
  }
}

TEST(DrawnSizes, HaveOtherParametersToo) {
  const Task task = layer();
  std::map<std::string, std::set<std::string>> values;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    at::Generator rng = make_rng(at::kCPU, seed);
    const auto sizes = draw_sizes(task, rng);
    ASSERT_TRUE(sizes);
    const auto fields = task.fields.to_json(*sizes);
    for (const auto& [name, value] : fields.items()) values[name].insert(value.dump());
    const auto drawn = sizes_from<LayerSizes>(*sizes);
    EXPECT_EQ(drawn.out_features % drawn.groups, 0) << "seed " << seed;
    EXPECT_EQ(task.tensors(*sizes)[1].shape, (Shape{drawn.out_features, drawn.features}));
    EXPECT_GE(drawn.eps, 0.5e-5);
    EXPECT_LE(drawn.eps, 2e-5);
  }
  constexpr size_t several = 2;
  for (const char* name : {"batch_size", "length", "stride", "features", "out_features", "groups"})
    EXPECT_GE(values[name].size(), several) << name;
  EXPECT_GT(values["eps"].size(), seeds / 2);
  EXPECT_EQ(values["causal"].size(), 1) << "a flag is no number";
}

struct Square {
  int64_t rows = 8, columns = 8;
  KB_FIELDS(rows, columns)
};

// x [rows, n] * y [n], where rows and n are two sizes that upstream takes to be the same.
TEST(DrawnSizes, ChangeTogetherWhatBelongsTogether) {
  using LaunchOnSquare =
      void(const Square&, const float* x, const float* y, float* z, cudaStream_t);
  const auto tensors = [](const Square& s) {
    return std::tuple{input<float>("x", {s.rows, s.columns}), input<float>("y", {s.rows}),
                      output<float>("z", {s.rows, s.columns})};
  };
  const auto reference = [](const Square&, Tensor x, Tensor y) { return x * y; };
  const Task task =
      define<LaunchOnSquare>("Elementwise", tensors, reference, SizeSets<Square>{{8, 8}, {7, 7}});
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    at::Generator rng = make_rng(at::kCPU, seed);
    const auto sizes = draw_sizes(task, rng);
    ASSERT_TRUE(sizes);
    const auto drawn = sizes_from<Square>(*sizes);
    EXPECT_EQ(drawn.rows, drawn.columns) << "seed " << seed << ": a size of 1 is broadcast";
  }
}

struct Widths {
  int64_t batch_size = 8, width = 32, stride = 2, norm_shape = 16;
  KB_FIELDS(batch_size, width, stride, norm_shape)
};

// A norm over what a stride leaves: no field but batch_size can change alone.
TEST(DrawnSizes, MakeUpForWhatDependsOnOthers) {
  using LaunchOnWidths =
      void(const Widths&, const float* x, const float* w, float* y, cudaStream_t);
  const auto tensors = [](const Widths& s) {
    TORCH_CHECK(s.norm_shape * s.stride == s.width, "norm_shape must be what stride leaves");
    return std::tuple{input<float>("x", {s.batch_size, s.width}),
                      weight<float>("norm.weight", {s.norm_shape}),
                      output<float>("y", {s.batch_size, s.norm_shape})};
  };
  const auto reference = [](const Widths& s, Tensor x, Tensor weight) {
    return at::layer_norm(x.slice(1, 0, s.width, s.stride), {s.norm_shape}, weight);
  };
  const Task task = define<LaunchOnWidths>("Norm", tensors, reference,
                                           SizeSets<Widths>{{4, 16, 2, 8}, {3, 21, 3, 7}});
  std::set<int64_t> widths, strides, shapes;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    at::Generator rng = make_rng(at::kCPU, seed);
    const auto drawn = sizes_from<Widths>(draw_sizes(task, rng).value());
    widths.insert(drawn.width);
    strides.insert(drawn.stride);
    shapes.insert(drawn.norm_shape);
  }
  EXPECT_GT(widths.size(), 2);
  EXPECT_GT(strides.size(), 1);
  EXPECT_GT(shapes.size(), 2);
}

TEST(DrawnSizes, AreNoneWhereTheTaskHasOneSize) {
  at::Generator rng = make_rng(at::kCPU, 1);
  EXPECT_FALSE(draw_sizes(small_task({input<float>("x", {4}), output<float>("y", {4})},
                                     [](const std::vector<Tensor>& given) { return given; }),
                          rng));
}

TEST(LongSizes, AreRowsAndNeitherSamplesNorKernels) {
  std::vector<std::string> names;
  for (const auto& places : row_sizes(pooling(1))) names.push_back(places.front().field);
  EXPECT_EQ(names, std::vector<std::string>{"rows"});
}

TEST(LongSizes, AreEachLongOnce) {
  const Task task = layer();
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    at::Generator rng = make_rng(at::kCPU, seed);
    std::map<std::string, LongValues> found;
    for (const LongSizes& sizes : draw_long_sizes(task, rng)) {
      const auto s = sizes_from<LayerSizes>(sizes.sizes);
      found[sizes.field] = {{"batch_size", s.batch_size},
                            {"length", s.length},
                            {"features", s.features},
                            {"out_features", s.out_features}};
    }
    EXPECT_EQ(found.size(), 3);
    int longer = 0;
    for (const auto& [field, values] : found) {
      for (const auto& [name, value] : values) {
        if (name == field) continue;
        EXPECT_LE(value, 16) << name << " beside " << field << ", seed " << seed;
      }
      EXPECT_GE(values.at(field), long_row) << "seed " << seed;
      longer += values.at(field) >= longer_row;
    }
    EXPECT_EQ(longer, 1) << "seed " << seed;
  }
}

// A square matrix of 1025 rows would take seconds.
TEST(LongSizes, LeaveOutWhatIsExpensive) {
  using LaunchOnSquare = void(const Square&, const float* x, float* y, cudaStream_t);
  const auto tensors = [](const Square& s) {
    return std::tuple{input<float>("x", {s.rows, s.rows}), output<float>("y", {s.rows, s.rows})};
  };
  const auto reference = [](const Square&, Tensor x) { return at::matmul(x, x); };
  const Task task =
      define<LaunchOnSquare>("Product", tensors, reference, SizeSets<Square>{{8, 8}, {7, 7}});
  at::Generator rng = make_rng(at::kCPU, 1);
  EXPECT_TRUE(draw_long_sizes(task, rng).empty());
}

}  // namespace
}  // namespace kb
