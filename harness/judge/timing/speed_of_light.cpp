// Bounds of time.
#include "judge/timing/speed_of_light.h"

#include <algorithm>

namespace kb {

Floor floor_of(const Work& work, const Peaks& peaks) {
  const double memory = work.bytes / peaks.bytes_per_second;
  const double peak = work.half   ? peaks.bf16_flops_per_second
                      : work.tf32 ? peaks.tf32_flops_per_second
                                  : peaks.flops_per_second;
  const double compute = work.flops / peak;
  return {std::max(memory, compute), memory >= compute ? "memory" : "compute"};
}

double hard_floor(const LeastCall& sure, double calls, const Peaks& peaks) {
  const double cache = 2 * peaks.l2_bytes;
  const double weights = std::min(sure.weight_bytes, sure.bytes) / 2;  // half of the bits may do
  const double each = sure.bytes - weights;
  const double kept = std::min(weights, cache);
  const double bytes = std::max(0.0, calls * (each - kept) + kept - cache);
  return std::max(bytes / peaks.limit_bytes_per_second,
                  calls * sure.flops / peaks.limit_flops_per_second);
}

}  // namespace kb
