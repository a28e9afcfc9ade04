// Canary values are functions of the bits of the task's own values, which keeps their structure.
#include "judge/acceptance/canary.h"

#include <algorithm>
#include <functional>

#include "judge/acceptance/expectation.h"
#include "judge/acceptance/operators.h"

namespace kb {
namespace {

constexpr int most_halvings = 16;

// How many bits the odd integers have, and how large an output may become.
struct Numbers {
  int bits;
  double largest_output;
};

// Outputs of fp32: small enough for algorithms that form intermediate sums and differences
// (Winograd, Strassen, FFT) to stay within half a unit, large enough for over a hundred terms of a
// sum. Of 16-bit types: integers that bf16 holds, and outputs that fp16 does.
constexpr Numbers numbers_for(at::ScalarType type) {
  return type == at::kFloat ? Numbers{13, 0x1p20} : Numbers{8, 0x1p15};
}

// 31 well mixed bits that depend on nothing but the element's value.
at::Tensor mixed_bits(const at::Tensor& t, int64_t salt) {
  constexpr int64_t mask = 0x7FFFFFFF;
  at::Tensor bits = t.to(at::kFloat).contiguous().view(at::kInt).to(at::kLong);
  bits = bits.bitwise_and(mask).mul_(0x45D9F3B).add_(salt).bitwise_and_(mask);
  bits = bits.bitwise_xor(bits.bitwise_right_shift(15)).mul_(0x2C1B3C6D).bitwise_and_(mask);
  return bits.bitwise_xor(bits.bitwise_right_shift(13));
}

// 4097 to 8191 if `bits` is 13.
at::Tensor odd_integers(const at::Tensor& t, int64_t salt, int bits) {
  const int64_t first = int64_t{1} << (bits - 1);
  const at::Tensor odd = mixed_bits(t, salt).bitwise_and_(first - 1).bitwise_or_(1).add_(first);
  return odd.mul(t.ne(0)).to(t.scalar_type());
}

at::Tensor zeros_and_ones(const at::Tensor& t, int64_t salt, int halvings) {
  const at::Tensor low = mixed_bits(t, salt).bitwise_and_((int64_t{1} << halvings) - 1);
  return low.eq(0).logical_and_(t.ne(0)).to(t.scalar_type());
}

using Tensors = std::vector<at::Tensor>;
using Reference = std::function<Tensors(const Tensors&)>;

bool same(const Tensors& a, const Tensors& b) {
  constexpr double rounding = 1e-11;
  for (size_t i = 0; i < a.size(); ++i) {
    const double scale = b[i].norm().item<double>();
    if (!((a[i] - b[i]).norm().item<double>() <= rounding * scale) || scale == 0) return false;
  }
  return true;
}

// a + scale * b
Tensors sum(Tensors a, const Tensors& b, double scale = 1) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = a[i].add(b[i], scale);
  return a;
}

Tensors changed(Tensors tensors, const std::vector<size_t>& positions,
                const std::function<at::Tensor(const at::Tensor&)>& change) {
  for (const size_t p : positions) tensors[p] = change(tensors[p]);
  return tensors;
}

at::Tensor shuffled(const at::Tensor& t) { return t.reshape(-1).roll(1).view(t.sizes()); }

// f(x + y) = f(x) + f(y), with everything else in place.
bool linear_in(const Reference& f, const Tensors& given, size_t x) {
  const Tensors together = changed(given, {x}, [](const at::Tensor& t) { return t + shuffled(t); });
  return same(f(together), sum(f(given), f(changed(given, {x}, shuffled))));
}

// What the added vectors contribute is the same for other factors, and in proportion to them.
bool only_added(const Reference& f, const Tensors& given, const std::vector<size_t>& added,
                const std::vector<size_t>& factors) {
  const auto zeros = [](const at::Tensor& t) { return at::zeros_like(t); };
  const auto contribution = [&](const Tensors& arguments) {
    return sum(f(arguments), f(changed(arguments, added, zeros)), -1);
  };
  const Tensors once = contribution(given);
  const Tensors twice =
      contribution(changed(given, added, [](const at::Tensor& t) { return t * 2; }));
  return same(contribution(changed(given, factors, shuffled)), once) &&
         same(twice, sum(once, once));
}

}  // namespace

std::optional<Canary> Canary::find(const Task& task, const SizeBytes& sizes, const Tensors& given) {
  if (may_round_to_tf32(task)) return std::nullopt;
  Canary canary;
  for (const at::Tensor& t : given) canary.given_.push_back(t.clone());
  const Tensors exact = in_fp64(canary.given_);
  const Reference f = [&](const Tensors& arguments) { return task.reference(sizes, arguments); };

  constexpr size_t most_operands = 6;
  const std::vector<TensorSpec> specs = task.tensors(sizes);
  const at::ScalarType element = specs.back().dtype;  // an output's
  if (!at::isFloatingType(element)) return std::nullopt;
  const Numbers numbers = numbers_for(element);
  canary.bits_ = numbers.bits;
  size_t position = 0;
  for (const TensorSpec& spec : specs) {
    if (spec.role == Role::output) {
      if (spec.dtype != element || spec.numel() == 0) return std::nullopt;
    } else if (spec.role != Role::unread) {
      // Named as biases are, so that a vector among the factors is not mistaken for one.
      if (spec.dtype == element && spec.name.ends_with("bias")) {
        canary.added_.push_back(position);
      } else if (spec.dtype == element) {
        canary.factors_.push_back({spec.name, position, 1});
      }
      ++position;
    }
  }
  if (canary.factors_.size() < 2 || canary.factors_.size() > most_operands) return std::nullopt;

  std::vector<size_t> factors;
  for (const Factor& factor : canary.factors_) factors.push_back(factor.position);
  const Tensors product =
      changed(exact, canary.added_, [](const at::Tensor& t) { return at::zeros_like(t); });
  for (const size_t x : factors) {
    if (!linear_in(f, product, x)) return std::nullopt;
  }
  if (!canary.added_.empty() && !only_added(f, exact, canary.added_, factors)) return std::nullopt;

  for (size_t call = 0; call < canary.calls(); ++call) {
    for (int& halvings = canary.factors_[call].halvings;; ++halvings) {
      double largest = 0;
      for (const at::Tensor& t : f(in_fp64(canary.arguments(call)))) {
        if (!t.eq(t.round()).all().item<bool>()) return std::nullopt;
        largest = std::max(largest, t.abs().max().item<double>());
      }
      if (largest == 0 || halvings > most_halvings) return std::nullopt;
      if (largest <= numbers.largest_output) break;
    }
  }
  if (element != at::kFloat && !canary.torch_is_exact(task, sizes)) return std::nullopt;
  return canary;
}

bool Canary::torch_is_exact(const Task& task, const SizeBytes& sizes) const {
  for (size_t call = 0; call < calls(); ++call) {
    const Expectation right(task, sizes, arguments(call), /*noise_seed=*/0);
    for (size_t i = 0; i < right.outputs().size(); ++i) {
      if (right.compare_integers(i, right.torch(i)).worst) return false;
    }
  }
  return true;
}

std::string Canary::describe(size_t call) const {
  const bool fp32 = bits_ == numbers_for(at::kFloat).bits;
  return "'" + operand(call) + "' held odd integers of " + std::to_string(bits_) +
         " bits and the rest zeros and ones, which fp32 multiplies and adds exactly, but " +
         (fp32 ? "TF32, fp16 and bf16 do not" : "sums in 16 bits are not");
}

Tensors Canary::arguments(size_t call) const {
  Tensors out = given_;
  for (size_t i = 0; i < factors_.size(); ++i) {
    at::Tensor& t = out[factors_[i].position];
    const auto salt = static_cast<int64_t>(i);
    t = i == call ? odd_integers(t, salt, bits_) : zeros_and_ones(t, salt, factors_[call].halvings);
  }
  for (const size_t p : added_) out[p] = odd_integers(out[p], static_cast<int64_t>(p), bits_);
  return out;
}

}  // namespace kb
