// Contracts shared by reference, oracle and candidate.
#include "judge/acceptance/precision.h"

#include <ATen/Context.h>

#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "kb/tensors.h"

namespace kb {
namespace {

struct Contract {
  const char* name;
  bool matmul_tf32;
  bool cudnn_tf32;          // convolutions and recurrent layers
  bool reduced_reductions;  // partial sums of fp16 and bf16 products
  at::ScalarType element = at::kFloat;
};

constexpr Contract contracts[] = {{"fp32", false, false, false},
                                  {"tf32", true, true, false},
                                  {"kernelbench", false, true, true},
                                  {"fp16", false, false, true, at::kHalf},
                                  {"bf16", false, false, true, at::kBFloat16}};

const Contract& find(const std::string& name) {
  std::string known;
  for (const Contract& contract : contracts) {
    if (contract.name == name) return contract;
    known += (known.empty() ? "" : ", ") + std::string(contract.name);
  }
  throw std::invalid_argument("unknown precision contract '" + name + "'; known: " + known);
}

// LibTorch before 2.9 answers with a bool.
[[maybe_unused]] bool is_reduced(bool allowed) { return allowed; }
template <class Option>
bool is_reduced(Option option) {
  return option == Option::AllowReducedPrecisionWithSplitK;
}

}  // namespace

const std::vector<std::string>& contract_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Contract& contract : contracts) all.emplace_back(contract.name);
    return all;
  }();
  return names;
}

void apply_precision(const std::string& name) {
  const Contract& contract = find(name);
  unsetenv("NVIDIA_TF32_OVERRIDE");  // the CUDA libraries would heed it more than the switches
  at::Context& context = at::globalContext();
  context.setFloat32MatmulPrecision(contract.matmul_tf32 ? "high" : "highest");
  context.setAllowTF32CuBLAS(contract.matmul_tf32);
  context.setAllowTF32CuDNN(contract.cudnn_tf32);
  context.setAllowFP16ReductionCuBLAS(contract.reduced_reductions);
  context.setAllowBF16ReductionCuBLAS(contract.reduced_reductions);
  // Not numbers but algorithms, as in KernelBench; the lane `library` switches the search on.
  context.setBenchmarkCuDNN(false);
  context.setDeterministicCuDNN(false);
}

void require_element_type(const std::string& name) {
  const at::ScalarType wanted = find(name).element;
  if (wanted == dtype_of<real>) return;
  throw std::invalid_argument("the contract '" + name + "' is about tensors of " +
                              dtype_name(wanted) + ", but this build's hold " +
                              dtype_name(dtype_of<real>) +
                              ": configure another build folder with -DKB_CONTRACT=" + name);
}

double unit_roundoff(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return float_roundoff;
    case at::kHalf:
      return 0x1p-11;
    case at::kBFloat16:
      return 0x1p-8;
    case at::kDouble:
      return 0x1p-53;
    default:
      TORCH_CHECK(false, "no rounding is defined for ", toString(type));
  }
}

double largest_value(at::ScalarType type) {
  return type == at::kHalf ? 65504.0 : std::numeric_limits<float>::max();
}

Roundings roundings_of_contract() {
  constexpr double tf32 = 0x1p-11;
  const at::Context& context = at::globalContext();
  Roundings r;
  if (context.allowTF32CuBLAS()) r.matmul_operand = tf32;
  if (context.allowTF32CuDNN()) r.convolution_operand = tf32;
  constexpr at::ScalarType element = dtype_of<real>;
  if (element == at::kFloat) return r;
  // Operands have 16 bits already; the tensor cores keep fp32's range and sums.
  r = {.storage = unit_roundoff(element), .largest = largest_value(element)};
  if (element == at::kHalf) r.smallest = 0x1p-25;
  return r;
}

std::map<std::string, bool> precision_settings() {
  const at::Context& context = at::globalContext();
  return {{"matmul_tf32", context.allowTF32CuBLAS()},
          {"cudnn_tf32", context.allowTF32CuDNN()},
          {"cudnn_benchmark", context.benchmarkCuDNN()},
          {"cudnn_deterministic", context.deterministicCuDNN()},
          {"fp16_reduced_reductions", is_reduced(context.allowFP16ReductionCuBLAS())},
          {"bf16_reduced_reductions", is_reduced(context.allowBF16ReductionCuBLAS())}};
}

}  // namespace kb
