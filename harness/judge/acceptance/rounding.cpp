// TF32 is fp32 without its 13 last bits.
#include "judge/acceptance/rounding.h"

namespace kb {

at::Tensor rounded_to_tf32(const at::Tensor& t) {
  constexpr int dropped = 13;
  const at::Tensor bits = t.to(at::kFloat).contiguous().view(at::kInt).to(at::kLong);
  const at::Tensor last_kept = bits.bitwise_right_shift(dropped).bitwise_and_(1);
  at::Tensor rounded = bits + last_kept + ((1 << (dropped - 1)) - 1);
  rounded = rounded.bitwise_right_shift(dropped).bitwise_left_shift(dropped);
  rounded = at::where(t.isfinite(), rounded, bits);
  return rounded.to(at::kInt).view(at::kFloat).to(t.scalar_type());
}

at::Tensor rounded_to_bf16(const at::Tensor& t) { return t.to(at::kBFloat16).to(t.scalar_type()); }

}  // namespace kb
