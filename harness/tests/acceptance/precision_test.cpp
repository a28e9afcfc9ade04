// Each contract sets every switch, whatever was set before, and what follows from the switches.
#include "judge/acceptance/precision.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "judge/acceptance/canary.h"
#include "judge/acceptance/expectation.h"
#include "judge/acceptance/operators.h"
#include "judge/acceptance/rounding.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

using Settings = std::map<std::string, bool>;

Settings settings(bool matmul, bool cudnn, bool reduced) {
  return {{"matmul_tf32", matmul},
          {"cudnn_tf32", cudnn},
          {"cudnn_benchmark", false},
          {"cudnn_deterministic", false},
          {"fp16_reduced_reductions", reduced},
          {"bf16_reduced_reductions", reduced}};
}

Task matmul_task() {
  return small_task({input<float>("a", {64, 300}).with(normal()),
                     input<float>("b", {300, 32}).with(normal()), output<float>("c", {64, 32})},
                    [](const std::vector<Tensor>& given) {
                      return std::vector<Tensor>{at::matmul(given[0], given[1])};
                    });
}

Task conv_task() {
  return small_task({input<float>("x", {2, 8, 10, 10}).with(normal()),
                     weight<float>("conv.weight", {4, 8, 3, 3}), output<float>("y", {2, 4, 8, 8})},
                    [](const std::vector<Tensor>& given) {
                      return std::vector<Tensor>{at::conv2d(given[0], given[1])};
                    });
}

std::vector<Tensor> rounded(std::vector<Tensor> tensors) {
  for (Tensor& t : tensors) t = rounded_to_tf32(t);
  return tensors;
}

// Whether a candidate that rounds its operands to TF32 is right.
bool accepts_tf32(const Task& task) {
  const std::vector<Tensor> given = task.example({});
  Expectation right(task, {}, given, 1);
  return !right.compare(0, task.reference({}, rounded(given)).at(0)).worst;
}

bool has_canary(const Task& task) { return Canary::find(task, {}, task.example({})).has_value(); }

TEST(Precision, KernelbenchIsWhatPyTorchStartsWith) {
  const Settings initial = precision_settings();  // of this process, before any other test
  apply_precision("kernelbench");
  EXPECT_EQ(precision_settings(), initial);
  EXPECT_EQ(initial, settings(false, true, true));
  EXPECT_EQ(at::globalContext().float32MatmulPrecision(), at::Float32MatmulPrecision::HIGHEST);
}

TEST(Precision, EachContractSetsEverySwitch) {
  const std::map<std::string, Settings> wanted{{"fp32", settings(false, false, false)},
                                               {"tf32", settings(true, true, false)},
                                               {"kernelbench", settings(false, true, true)},
                                               {"fp16", settings(false, false, true)},
                                               {"bf16", settings(false, false, true)}};
  ASSERT_EQ(contract_names().size(), wanted.size());
  for (const std::string& before : contract_names()) {
    for (const std::string& contract : contract_names()) {
      apply_precision(before);
      at::globalContext().setBenchmarkCuDNN(true);
      setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
      apply_precision(contract);
      EXPECT_EQ(precision_settings(), wanted.at(contract)) << before << " -> " << contract;
      EXPECT_EQ(std::getenv("NVIDIA_TF32_OVERRIDE"), nullptr);
    }
  }
  EXPECT_THROW(apply_precision("fp8"), std::invalid_argument);
  EXPECT_THROW(apply_precision(""), std::invalid_argument);
}

TEST(Precision, ABuildHasTensorsOfOneType) {
  EXPECT_NO_THROW(require_element_type("fp32"));
  EXPECT_NO_THROW(require_element_type("kernelbench"));
  EXPECT_THROW(require_element_type("bf16"), std::invalid_argument);
  EXPECT_THROW(require_element_type("fp16"), std::invalid_argument);
}

struct Row {
  const char* contract;
  bool matmul, convolution;  ///< may be computed in TF32
};

// The tolerance follows the contract, and the canary, which finds TF32, is there only to forbid it.
TEST(Precision, AContractAllowsRoundingWhereItSaysSo) {
  for (const Row& row :
       {Row{"fp32", false, false}, Row{"tf32", true, true}, Row{"kernelbench", false, true}}) {
    apply_precision(row.contract);
    EXPECT_EQ(accepts_tf32(matmul_task()), row.matmul) << row.contract;
    EXPECT_EQ(accepts_tf32(conv_task()), row.convolution) << row.contract;
    EXPECT_EQ(has_canary(matmul_task()), !row.matmul) << row.contract;
    EXPECT_EQ(has_canary(conv_task()), !row.convolution) << row.contract;
  }
}

// At a depth of 1 ATen multiplies element by element, and a kernel still rounds.
TEST(Precision, RoundingIsAllowedAtSizesWhereTheReferenceCallsNoProduct) {
  Task task = small_task({}, [](const std::vector<Tensor>& given) {
    return std::vector<Tensor>{at::einsum("mk,kn->mn", {given[0], given[1]})};
  });
  task.smoke = size_bytes(int64_t{300});
  task.tensors = [](const SizeBytes& sizes) {
    const int64_t depth = sizes_from<int64_t>(sizes);
    return std::vector<TensorSpec>{input<float>("a", {64, depth}).with(normal()),
                                   input<float>("b", {depth, 32}).with(normal()),
                                   output<float>("c", {64, 32})};
  };
  const SizeBytes flat = size_bytes(int64_t{1});
  const std::vector<Tensor> given = task.example(flat);
  for (const char* contract : {"fp32", "tf32"}) {
    apply_precision(contract);
    Expectation right(task, flat, given, 1);
    EXPECT_EQ(right.compare(0, task.reference(flat, rounded(given)).at(0)).worst.has_value(),
              std::string(contract) == "fp32");
  }
}

// What a spike of the inputs made large is off in proportion, also where LibTorch does not round,
// as on the CPU, and so is not.
TEST(Precision, RoundingOfSpikesIsAllowedWhereRoundingIs) {
  const Task task =
      small_task({input<float>("a", {4096, 64}).with(normal()),
                  input<float>("b", {64, 4}).with(normal()), output<float>("c", {4096, 4})},
                 [](const std::vector<Tensor>& given) {
                   return std::vector<Tensor>{at::matmul(given[0], given[1])};
                 });
  std::vector<Tensor> given = task.example({});
  given[0][0] *= 1e4;
  apply_precision("tf32");
  Expectation right(task, {}, given, 1);
  EXPECT_FALSE(right.compare(0, task.reference({}, rounded(given)).at(0)).worst);
}

TEST(Precision, Tf32IsNoLicenceForElementwiseWork) {
  const Task task = small_task(
      {input<float>("x", {64, 300}), output<float>("y", {64, 300})},
      [](const std::vector<Tensor>& given) { return std::vector<Tensor>{at::relu(given[0])}; });
  apply_precision("tf32");
  EXPECT_FALSE(accepts_tf32(task));
}

}  // namespace
}  // namespace kb
