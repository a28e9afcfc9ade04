// Contracts shared by reference, oracle and candidate.
#include "judge/precision.h"

#include <ATen/Context.h>

#include <stdexcept>

namespace kb {

void apply_precision(const std::string& contract) {
  if (contract != "fp32") {
    throw std::invalid_argument("unknown precision contract '" + contract + "'; known: fp32");
  }
  at::Context& context = at::globalContext();
  context.setAllowTF32CuBLAS(false);
  context.setAllowTF32CuDNN(false);
  context.setBenchmarkCuDNN(false);
  context.setAllowFP16ReductionCuBLAS(false);
  context.setAllowBF16ReductionCuBLAS(false);
}

}  // namespace kb
