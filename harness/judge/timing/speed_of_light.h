// What no implementation of a task can beat on a device: bytes it must move, arithmetic it must do.
// After SOL-ExecBench's SOLAR (https://github.com/NVlabs/SOLAR), with measured instead of printed
// peaks.
#pragma once

#include <algorithm>
#include <string>

namespace kb {

/// How much of a task depends on its weights alone, so that prepare() may do it untimed.
struct WeightsAlone {
  /// Share of the counted multiply-adds: of weights, or of what is made of fewer weights.
  double flops = 0;
  double bytes = 0;           ///< share of the tensors' bytes: weights of which launch() needs less
  double operator_bytes = 0;  ///< share of what operators that compute read and write

  /// Whether most of the task may be done by prepare().
  bool most() const { return std::max({flops, bytes, operator_bytes}) > 0.5; }
};

/// Without which no call of launch() does, whatever prepare() has made of the weights.
struct LeastCall {
  double bytes = 0;
  double weight_bytes = 0;  ///< of these, what all calls of a unit read alike
  double flops = 0;
};

/// What a good kernel's call does when prepare() has done its part: every input read once, every
/// output written once, what is left of the weights, and the multiply-adds of its matrix products
/// and convolutions (counted as two operations each).
struct Work {
  double bytes = 0;
  double flops = 0;
  LeastCall sure;
  double counted_bytes = 0;  ///< every tensor once
  double counted_flops = 0;  ///< the reference's own
  WeightsAlone weights_alone;
  bool tf32 = false;     ///< the contract lets its products be rounded to TF32
  bool half = false;     ///< its tensors are of a 16-bit type
  bool library = false;  ///< cuBLAS or cuDNN have operators for it
};

/// What a device does at best. Measured by kb_measure_peaks, except for the limits, which follow
/// from clocks and widths and cannot be exceeded by any program.
struct Peaks {
  double bytes_per_second = 0;        ///< the fastest of copying, reading and writing
  double flops_per_second = 0;        ///< fp32 matrix product
  double tf32_flops_per_second = 0;   ///< the same with TF32 allowed
  double bf16_flops_per_second = 0;   ///< bf16 matrix product, as fast as one in fp16
  double limit_bytes_per_second = 0;  ///< memory clock x bus width
  double limit_flops_per_second = 0;  ///< see hard_floor()
  double l2_bytes = 0;
};

/// The reported bound. `fraction` of a time t is seconds / t.
struct Floor {
  double seconds = 0;
  std::string bound;  ///< "memory" or "compute"
};

Floor floor_of(const Work& work, const Peaks& peaks);

/// Seconds below which `calls` calls cannot honestly be done: what fits into L2 may have been there
/// before and need not leave it (twice its size is credited), for each call as far as they all read
/// the same; of weights half is credited, which prepare() may have packed; the arithmetic limit is
/// that of the tensor cores with a fourfold credit for algorithms that need fewer multiplications.
double hard_floor(const LeastCall& sure, double calls, const Peaks& peaks);

}  // namespace kb
