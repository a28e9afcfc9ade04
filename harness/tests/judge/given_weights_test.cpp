#include "judge/programs/given_weights.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "kb/reference.h"
#include "reference/safetensors.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

struct Sizes {
  int64_t features = 64;
  KB_FIELDS(features)
};
using Launch = void(const Sizes&, const float*, const float*, const int64_t*, float*, cudaStream_t);

// y = x * scale[order], with weights of as many elements as the size says.
Task scaling() {
  const auto tensors = [](const Sizes& s) {
    return std::tuple{input<float>("x", {s.features}), weight<float>("model.scale", {s.features}),
                      weight<int64_t>("model.order", {s.features}).with(constant(0)),
                      output<float>("y", {s.features})};
  };
  const auto reference = [](const Sizes&, Tensor x, Tensor scale, Tensor order) {
    return x * scale.index_select(0, order);
  };
  return define<Launch>("Elementwise", tensors, reference, {.smoke = {8}, .odd = {5}});
}

class GivenWeightsTest : public testing::Test {
 protected:
  GivenWeights given(const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
    write_safetensors(file_, tensors);
    return with_weights(scaling(), file_);
  }
  std::string refusal(const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
    try {
      given(tensors);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  const TemporaryDirectory folder_;
  const fs::path file_ = folder_.path() / "given_weights.safetensors";
  at::Tensor scale_ = at::arange(8).to(at::kFloat), order_ = at::arange(7, -1, -1);
};

TEST_F(GivenWeightsTest, ReplaceThoseThatAreDrawnWhereShapesFit) {
  const GivenWeights found = given({{"model.scale", scale_}, {"model.order", order_}});
  EXPECT_EQ(found.sets, std::vector<std::string>{"smoke"});
  EXPECT_EQ(found.sha256.size(), 64);
  const auto smoke = found.task.example(found.task.smoke);
  EXPECT_TRUE(smoke[1].equal(scale_));
  EXPECT_TRUE(smoke[2].equal(order_));
  EXPECT_FALSE(found.task.example(found.task.odd)[1].equal(scale_.slice(0, 0, 5)));
}

TEST_F(GivenWeightsTest, AreFoundWithoutTheModelsNameAndConverted) {
  const at::Tensor half = scale_.to(at::kHalf);
  const GivenWeights found = given({{"scale", half}, {"param.model.order", order_}});
  EXPECT_TRUE(found.task.example(found.task.smoke)[1].equal(scale_));
}

TEST_F(GivenWeightsTest, ThatFitNoSetAreRefusedByName) {
  EXPECT_NE(refusal({{"model.scale", at::zeros({64})}}).find("'model.order'"), std::string::npos);
  const at::Tensor longer = at::zeros({9});
  EXPECT_NE(refusal({{"model.scale", longer}, {"model.order", order_}}).find("[9], not [64]"),
            std::string::npos);
  EXPECT_NE(refusal({{"model.scale", order_}, {"model.order", order_}}).find("not"),
            std::string::npos);
}

}  // namespace
}  // namespace kb
