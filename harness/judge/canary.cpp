// Canary values are functions of the bits of the task's own values, which keeps their structure.
#include "judge/canary.h"

#include <algorithm>
#include <functional>

#include "judge/expectation.h"
#include "judge/operators.h"

namespace kb {
namespace {

// Small enough for algorithms that form intermediate sums and differences (Winograd, Strassen, FFT)
// to stay within half a unit in fp32, large enough for over a hundred terms of a sum.
constexpr double largest_output = 0x1p20;
constexpr int most_halvings = 16;

// 31 well mixed bits that depend on nothing but the element's value.
at::Tensor mixed_bits(const at::Tensor& t, int64_t salt) {
  constexpr int64_t mask = 0x7FFFFFFF;
  at::Tensor bits = t.to(at::kFloat).contiguous().view(at::kInt).to(at::kLong);
  bits = bits.bitwise_and(mask).mul_(0x45D9F3B).add_(salt).bitwise_and_(mask);
  bits = bits.bitwise_xor(bits.bitwise_right_shift(15)).mul_(0x2C1B3C6D).bitwise_and_(mask);
  return bits.bitwise_xor(bits.bitwise_right_shift(13));
}

at::Tensor odd_integers(const at::Tensor& t, int64_t salt) {
  const at::Tensor odd = mixed_bits(t, salt).bitwise_and_(0xFFF).bitwise_or_(1).add_(0x1000);
  return odd.mul(t.ne(0)).to(t.scalar_type());  // 4097 to 8191
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
  const Operators operators = watch_operators([&] { task.reference(sizes, given); });
  if (may_round_to_tf32(operators)) return std::nullopt;
  Canary canary;
  for (const at::Tensor& t : given) canary.given_.push_back(t.clone());
  const Tensors exact = in_fp64(canary.given_);
  const Reference f = [&](const Tensors& arguments) { return task.reference(sizes, arguments); };

  constexpr size_t most_operands = 6;
  size_t position = 0;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role == Role::output) {
      if (spec.dtype != at::kFloat || spec.numel() == 0) return std::nullopt;
    } else if (spec.role != Role::unread) {
      // Named as biases are, so that a vector among the factors is not mistaken for one.
      if (spec.dtype == at::kFloat && spec.name.ends_with("bias")) {
        canary.added_.push_back(position);
      } else if (spec.dtype == at::kFloat) {
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
      if (largest <= largest_output) break;
    }
  }
  return canary;
}

Tensors Canary::arguments(size_t call) const {
  Tensors out = given_;
  for (size_t i = 0; i < factors_.size(); ++i) {
    at::Tensor& t = out[factors_[i].position];
    const auto salt = static_cast<int64_t>(i);
    t = i == call ? odd_integers(t, salt) : zeros_and_ones(t, salt, factors_[call].halvings);
  }
  for (const size_t p : added_) out[p] = odd_integers(out[p], static_cast<int64_t>(p));
  return out;
}

}  // namespace kb
