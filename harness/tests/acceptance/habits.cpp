// A boxed fallback, as noise.cpp has one, on another dispatch key that LibTorch never uses.
#include "habits.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <numeric>
#include <set>

#include "judge/acceptance/rounding.h"
#include "kb/fill.h"

namespace kb {
namespace {

using at::Tensor;
using Values = std::vector<c10::IValue>;
using Result = std::optional<Tensor>;

constexpr c10::DispatchKey key = c10::DispatchKey::DeferredInit;

struct Run {
  const Habit& habit;
  at::Generator coins = make_rng(at::kCPU, 1);
  int taken_apart = 0;
  bool is_about_any = false;
};
thread_local Run* current = nullptr;

std::string plain_name(std::string name) {
  constexpr std::string_view prefix = "aten::";
  if (name.starts_with(prefix)) name = name.substr(prefix.size());
  if (name.ends_with('_')) name.pop_back();
  return name;
}

bool is_real(const Values& arguments) {
  return !arguments.empty() && arguments[0].isTensor() && arguments[0].toTensor().defined() &&
         at::isFloatingType(arguments[0].toTensor().scalar_type());
}

// Puts results in place of an operator's arguments. Those that are not given are undefined.
void put(const c10::FunctionSchema& schema, Values results, torch::jit::Stack* stack) {
  const size_t first = stack->size() - schema.arguments().size();
  const auto* alias = schema.returns()[0].alias_info();
  if (alias != nullptr && alias->isWrite()) {
    const Tensor self = (*stack)[first].toTensor();
    self.copy_(results[0].toTensor());
    results[0] = self;
  }
  results.resize(schema.returns().size(), Tensor());
  stack->resize(first);
  for (c10::IValue& result : results) stack->push_back(std::move(result));
}

void fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) {
    return op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, key),
                              stack);
  }
  const c10::FunctionSchema& schema = op.schema();
  Operator call{.name = plain_name(schema.name()),
                .rule = rule_of(schema),
                .is_part = current->taken_apart > 0,
                .arguments = {stack->end() - static_cast<std::ptrdiff_t>(schema.arguments().size()),
                              stack->end()},
                .torch = [&op](Values arguments) {
                  op.callBoxed(&arguments);
                  return arguments.at(0).toTensor();
                }};
  if (is_real(call.arguments)) {
    {
      const c10::impl::ExcludeDispatchKeyGuard off(key);
      if (const Result result = current->habit.compute(call)) {
        current->is_about_any = true;
        return put(schema, {*result}, stack);
      }
    }
    if (call.rule != nullptr && call.rule->parts != nullptr) {
      ++current->taken_apart;
      auto results = call.rule->parts(call.arguments);
      --current->taken_apart;
      const c10::impl::ExcludeDispatchKeyGuard off(key);
      if (results) return put(schema, std::move(*results), stack);
    }
  }
  const c10::impl::ExcludeDispatchKeyGuard off(key);
  op.callBoxed(stack);
}

// --- products

// The operator with other operands.
template <class Change>
Tensor with_operands(const Operator& op, Change change) {
  Values arguments = op.arguments;
  for (size_t i = 0; i < 2; ++i) {
    c10::IValue& operand = arguments[op.rule->operands[i]];
    operand = change(operand.toTensor(), i);
  }
  return op.torch(std::move(arguments));
}

Tensor truncated_to_tf32(const Tensor& t) {
  constexpr int32_t kept = ~0x1FFF;
  return t.contiguous().view(at::kInt).bitwise_and(kept).view(at::kFloat);
}

Habit with_rounded_operands(std::string name, Tensor (*round)(const Tensor&),
                            bool matrix_products = true) {
  return {std::move(name), [=](const Operator& op) -> Result {
            if (!op.is(OperatorKind::product)) return {};
            if (!op.rule->is_convolution && !matrix_products) return {};
            return with_operands(op, [&](const Tensor& t, size_t) { return round(t); });
          }};
}

// Adds the products of so many terms at a time, and rounds the sum after each; a convolution's of
// whole channels. Nothing where that is one step.
Result in_steps(const Operator& op, int64_t terms, Tensor (*round)(const Tensor&)) {
  const Tensor a = op.tensor(op.rule->operands[0]), b = op.tensor(op.rule->operands[1]);
  int64_t along_a = a.dim() - 1, along_b = std::max<int64_t>(b.dim() - 2, 0), step = terms;
  if (op.rule->is_convolution) {
    constexpr size_t bias = 2, transposed = 6, groups = 8;
    if (op.arguments[groups].toInt() > 1 || op.arguments[bias].isTensor()) return {};
    along_a = 1;
    along_b = op.arguments[transposed].toBool() ? 0 : 1;
    step = std::max<int64_t>(1, terms * b.size(0) * b.size(1) / b.numel());
  }
  const int64_t depth = a.size(along_a);
  if (depth <= step) return {};
  Tensor sum;
  for (int64_t k = 0; k < depth; k += step) {
    const int64_t count = std::min(step, depth - k);
    const Tensor part = with_operands(op, [&](const Tensor& t, size_t operand) {
      return t.narrow(operand == 0 ? along_a : along_b, k, count);
    });
    sum = round(sum.defined() ? sum + part : part);
  }
  return sum;
}

Tensor rounded_to_fp16(const Tensor& t) { return t.to(at::kHalf).to(t.scalar_type()); }
Tensor as_it_is(const Tensor& t) { return t; }

// --- sums

std::vector<int64_t> reduced_dimensions(const Operator& op) {
  const int64_t dimensions = op.tensor(0).dim();
  std::vector<int64_t> dims;
  if (op.arguments.size() > 1 && op.arguments[1].isIntList()) dims = op.arguments[1].toIntVector();
  if (dims.empty()) {
    dims.resize(dimensions);
    std::iota(dims.begin(), dims.end(), 0);
  }
  for (int64_t& d : dims) d = d < 0 ? d + dimensions : d;
  return dims;
}

Result sum_in_order(const Operator& op) {
  if (op.name != "sum" && op.name != "mean") return {};
  const Tensor x = op.tensor(0);
  const std::vector<int64_t> dims = reduced_dimensions(op);
  const bool keep = op.arguments.size() > 2 && op.arguments[2].isBool() && op.arguments[2].toBool();
  // Terms come first.
  std::vector<int64_t> order = dims, shape;
  for (int64_t d = 0; d < x.dim(); ++d) {
    const bool is_reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!is_reduced) order.push_back(d);
    if (!is_reduced || keep) shape.push_back(is_reduced ? 1 : x.size(d));
  }
  int64_t terms = 1;
  for (const int64_t d : dims) terms *= x.size(d);
  const Tensor z = x.permute(order).reshape({terms, x.numel() / terms});
  Tensor sum = at::zeros({z.size(1)}, z.options());
  for (int64_t i = 0; i < terms; ++i) sum.add_(z[i]);
  if (op.name == "mean") sum.div_(static_cast<double>(terms));
  return sum.view(shape);
}

// --- elementary functions

Tensor off_by(const Tensor& y, double share) {
  return y * (1 + at::empty_like(y).uniform_(-share, share, current->coins));
}

Habit rough(std::string name, double share, std::set<std::string> functions) {
  return {std::move(name), [=](const Operator& op) -> Result {
            if (!functions.contains(op.name)) return {};
            return off_by(op.torch(op.arguments), share);
          }};
}

Tensor fast_exp(const Tensor& x) { return off_by(at::exp2(x * 1.4426950408889634), 0x1p-22); }

Result fast_function(const Operator& op) {
  const auto x = [&] { return op.tensor(0); };
  if (op.name == "exp") return fast_exp(x());
  if (op.name == "sigmoid") return 1 / (1 + fast_exp(-x()));
  if (op.name == "silu") return x() / (1 + fast_exp(-x()));
  if (op.name == "tanh") return 1 - 2 / (1 + fast_exp(2 * x()));
  if (op.name == "rsqrt") return off_by(at::rsqrt(x()), 0x1p-22);
  return {};
}

// --- norms

// A norm of any kind: x, and the means over its groups in a shape that fits x.
struct Norm {
  Tensor x, weight, bias;
  double eps;
  std::function<Tensor(const Tensor&)> means;
};

std::optional<Norm> norm_of(const Operator& op) {
  const Values& a = op.arguments;
  const auto optional = [&](size_t i) { return a[i].isTensor() ? a[i].toTensor() : Tensor(); };
  const auto per_channel = [&](const Tensor& t) {
    std::vector<int64_t> shape(op.tensor(0).dim(), 1);
    shape[1] = -1;
    return t.defined() ? t.view(shape) : t;
  };
  if (op.name == "native_batch_norm" && a[5].toBool()) {
    std::vector<int64_t> dims{0};
    for (int64_t d = 2; d < op.tensor(0).dim(); ++d) dims.push_back(d);
    return Norm{op.tensor(0), per_channel(optional(1)), per_channel(optional(2)), a[7].toDouble(),
                [dims](const Tensor& t) { return t.mean(dims, true); }};
  }
  if (op.name == "native_layer_norm") {
    std::vector<int64_t> dims(a[1].toIntVector().size());
    std::iota(dims.begin(), dims.end(), op.tensor(0).dim() - static_cast<int64_t>(dims.size()));
    return Norm{op.tensor(0), optional(2), optional(3), a[4].toDouble(),
                [dims](const Tensor& t) { return t.mean(dims, true); }};
  }
  if (op.name == "native_group_norm") {
    const int64_t groups = a[6].toInt(), channels = op.tensor(0).size(1);
    std::vector<int64_t> shape(op.tensor(0).dim(), 1);
    shape[0] = op.tensor(0).size(0);
    shape[1] = channels;
    return Norm{op.tensor(0), per_channel(optional(1)), per_channel(optional(2)), a[7].toDouble(),
                [=](const Tensor& t) {
                  const Tensor of_groups = t.reshape({t.size(0), groups, -1}).mean(2);
                  return of_groups.repeat_interleave(channels / groups, 1).view(shape);
                }};
  }
  return {};
}

Tensor variance(const Norm& n) { return n.means((n.x - n.means(n.x)).square()); }

Tensor normalised(const Norm& n, const Tensor& variance, double eps) {
  Tensor y = (n.x - n.means(n.x)) * at::rsqrt(variance + eps);
  if (n.weight.defined()) y = y * n.weight;
  return n.bias.defined() ? y + n.bias : y;
}

Habit with_norms(std::string name, Tensor (*compute)(const Norm&)) {
  return {std::move(name), [=](const Operator& op) -> Result {
            const auto norm = norm_of(op);
            return norm ? Result(compute(*norm)) : Result();
          }};
}

// Of a tensor and a number, not of two tensors.
bool has_number(const Operator& op) {
  return op.arguments.size() > 1 && op.tensor(0).dim() > 0 &&
         (!op.arguments[1].isTensor() || op.tensor(1).dim() == 0);
}

Result wrong_divisor(const Operator& op) {
  if (op.is_part) return {};
  const bool is_pool = op.name == "avg_pool2d" || op.name == "avg_pool3d";
  if (op.name != "mean" && !is_pool) return {};
  const double n = op.rule->terms(op.arguments);
  if (n < 3) return {};
  return op.torch(op.arguments) * (is_pool ? n / (n + 1) : n / (n - 1));
}

}  // namespace

WithHabit with_habit(const Habit& habit, const std::function<std::vector<at::Tensor>()>& run) {
  static const c10::RegistrationHandleRAII registered =
      c10::Dispatcher::singleton().registerFallback(
          key, c10::KernelFunction::makeFromBoxedFunction<&fallback>(), "habits of kernels");
  Run state{.habit = habit};
  current = &state;
  const c10::impl::IncludeDispatchKeyGuard on(key);
  WithHabit result{run()};
  result.is_about_any = state.is_about_any;
  current = nullptr;
  return result;
}

Habit taken_apart() {
  return {"taken apart", [](const Operator& op) -> Result {
            const bool has_parts = op.rule != nullptr && op.rule->parts != nullptr;
            if (has_parts || !op.is(OperatorKind::one_rounding)) return {};
            return op.torch(op.arguments);
          }};
}

Habit tf32_operands(bool truncated, bool matrix_products) {
  return with_rounded_operands(truncated ? "TF32 operands, truncated" : "TF32 operands",
                               truncated ? truncated_to_tf32 : rounded_to_tf32, matrix_products);
}

Habit fast_intrinsics() { return {"fast intrinsics", fast_function}; }

Habit sums_in_order() {
  return {"sums in order", [](const Operator& op) -> Result {
            if (op.is(OperatorKind::product)) return in_steps(op, 1, as_it_is);
            return sum_in_order(op);
          }};
}

Habit folded_norms() {
  return with_norms("folded norms", [](const Norm& n) {
    Tensor scale = at::rsqrt(variance(n) + n.eps);
    if (n.weight.defined()) scale = scale * n.weight;
    const Tensor shift = n.means(n.x) * scale;
    return n.x * scale + (n.bias.defined() ? n.bias - shift : -shift);
  });
}

Habit bf16_operands() { return with_rounded_operands("bf16 operands", rounded_to_bf16); }

Habit wrong_divisors() { return {"divisor n - 1, n + 1", wrong_divisor}; }

Habit small_eps() {
  return with_norms("eps / 100",
                    [](const Norm& n) { return normalised(n, variance(n), n.eps / 100); });
}

Habit rough_exponentials() {
  return rough("exponentials off by 1e-4", 1e-4,
               {"elu", "exp", "gelu", "mish", "sigmoid", "silu", "softplus", "tanh"});
}

Habit gelu_by_tanh() {
  return {"gelu's tanh form", [](const Operator& op) -> Result {
            return op.name == "gelu" ? Result(at::gelu(op.tensor(0), "tanh")) : Result();
          }};
}

Habit sums_in_16_bits() {
  return {"sums kept in 16 bits", [](const Operator& op) -> Result {
            constexpr int64_t terms = 16;
            return op.is(OperatorKind::product) ? in_steps(op, terms, rounded_to_fp16) : Result();
          }};
}

Habit cancelling_variance() {
  return with_norms("E[x^2] - E[x]^2", [](const Norm& n) {
    const Tensor difference = n.means(n.x.square()) - n.means(n.x).square();
    return normalised(n, difference.clamp_min(0), n.eps);
  });
}

Habit factor_of_1001() {
  return {"factor 1.001", [](const Operator& op) -> Result {
            const bool is_factor = (op.name == "mul" || op.name == "div") && !op.is_part;
            if (!is_factor || !has_number(op)) return {};
            return op.torch(op.arguments) * 1.001;
          }};
}

Habit rough_tanh() {
  return rough("tanh, sigmoid off by 2^-11", 0x1p-11, {"mish", "sigmoid", "tanh"});
}

}  // namespace kb
