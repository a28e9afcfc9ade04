// A boxed fallback on a dispatch key that LibTorch itself never uses. `Fake` lies below Autograd,
// where composite operators are already taken apart, and above all backends.
#include "judge/acceptance/noise.h"

#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <map>
#include <random>
#include <set>

#include "judge/acceptance/operator_rules.h"
#include "judge/acceptance/running_sums.h"
#include "kb/fill.h"

namespace kb {
namespace {

constexpr c10::DispatchKey key = c10::DispatchKey::Fake;

// The noise of one run.
struct Run {
  Roundings roundings;
  NoiseSeed noise;
  std::mt19937_64 coins{noise.seed};
  std::map<c10::DeviceType, at::Generator> generators = {};
  int taken_apart = 0;  // operators whose parts are being called: these are not stored
  int recurrent = 0;    // layers that are being called
  int einsums = 0;      // that are being called
  std::set<std::string>* unknown = nullptr;

  at::Generator& generator(const at::Tensor& t) {
    const auto found = generators.find(t.device().type());
    if (found != generators.end()) return found->second;
    return generators.emplace(t.device().type(), make_rng(t.device(), noise.seed)).first->second;
  }
};

thread_local Run* current = nullptr;

bool has_noise(const at::Tensor& t) {
  return t.defined() && t.scalar_type() == at::kDouble && t.numel() > 0;
}

// A random sign times a number of [0.5, 1.5] / sqrt(3), in units of `size`: on average as large as
// uniform errors, and never near zero.
at::Tensor xi(const at::Tensor& like, double size) {
  constexpr double per_uniform = 0.57735026918962576;
  at::Tensor r =
      at::empty_like(like, at::MemoryFormat::Contiguous).uniform_(-1, 1, current->generator(like));
  r.add_(r.sign(), 0.5);
  return r.mul_(per_uniform * size * noise_amplitude * current->noise.sign);
}

// As a factor, not as a summand: infinity stays what it is.
at::Tensor rounded_by(const at::Tensor& t, double roundoff) {
  return has_noise(t) && roundoff > 0 ? t * xi(t, roundoff).add_(1) : t;
}

// What a result of a 16-bit contract becomes in memory.
at::Tensor stored(const at::Tensor& t) {
  const Roundings& r = current->roundings;
  if (r.storage == 0 || current->taken_apart > 0 || !has_noise(t)) return t;
  at::Tensor result = rounded_by(t, r.storage);
  if (r.smallest > 0) result = result + xi(t, r.smallest);
  const at::Tensor beyond = (t.abs() * (1 + 2 * noise_amplitude * r.storage)).gt(r.largest);
  return at::where(beyond, at::full_like(t, INFINITY).copysign_(t), result);
}

// An operator that is being called: its arguments lie on the stack, then its results.
class Call {
 public:
  Call(const c10::OperatorHandle& op, torch::jit::Stack* stack)
      : op_(op), stack_(*stack), first_(stack->size() - op.schema().arguments().size()) {}

  at::ArrayRef<c10::IValue> arguments() const {
    return at::ArrayRef<c10::IValue>(stack_).slice(first_);
  }

  // Rounds an argument before the call; in place if the operator writes to it.
  void round_argument(size_t index, double roundoff) {
    c10::IValue& value = stack_[first_ + index];
    if (!value.isTensor() || !has_noise(value.toTensor())) return;
    const at::Tensor rounded = rounded_by(value.toTensor(), roundoff);
    if (writes_to(op_.schema().arguments()[index])) {
      value.toTensor().copy_(rounded);
    } else {
      value = rounded;
    }
  }

  void compute() { op_.callBoxed(&stack_); }

  // Replaces the results: all but views and integers.
  void change_results(const std::function<at::Tensor(const at::Tensor&)>& change) {
    const auto& returns = op_.schema().returns();
    for (size_t i = 0; i < returns.size(); ++i) {
      c10::IValue& value = stack_[stack_.size() - returns.size() + i];
      const bool view = returns[i].alias_info() != nullptr && !writes_to(returns[i]);
      if (view || !value.isTensor() || !has_noise(value.toTensor())) continue;
      const at::Tensor changed = change(value.toTensor());
      if (writes_to(returns[i])) {
        value.toTensor().copy_(changed);
      } else {
        value = changed;
      }
    }
  }

  // Puts these in place of the arguments, as results.
  void replace(std::vector<c10::IValue> results) {
    if (writes_to(op_.schema().returns()[0])) {
      const at::Tensor self = arguments()[0].toTensor();
      self.copy_(results[0].toTensor());
      results[0] = self;
    }
    stack_.resize(first_);
    for (c10::IValue& value : results) stack_.push_back(std::move(value));
  }

 private:
  static bool writes_to(const c10::Argument& argument) {
    return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  }

  const c10::OperatorHandle& op_;
  torch::jit::Stack& stack_;
  size_t first_;
};

void round_product(Call& call, const OperatorRule& rule) {
  const auto [a, b] = rule.operands;
  const double terms = rule.terms(call.arguments());
  const bool is_matmul = !rule.is_convolution && current->recurrent == 0;
  const double operand =
      is_matmul ? current->roundings.matmul_operand : current->roundings.convolution_operand;
  const double sums = roundoff_of_products(terms);
  // Truncated operands move all of a result alike.
  const double sign = current->coins() % 2 == 0 ? 1 : -1;
  const double shift = 1 + sign * noise_amplitude * current->noise.sign * operand;
  call.round_argument(a, std::hypot(operand, sums));
  call.round_argument(b, operand);
  call.compute();
  call.change_results([&](const at::Tensor& y) { return stored(rounded_by(y, sums) * shift); });
}

// Sums of fewer terms lose no more in one direction than in any.
constexpr double few_terms = 64;

void round_sum(Call& call, const OperatorRule& rule) {
  const double terms = rule.terms(call.arguments());
  const double roundoff =
      rule.rows == nullptr ? roundoff_of_any_sum(terms) : roundoff_of_sum(terms);
  const std::vector<c10::IValue> arguments = call.arguments().vec();
  call.round_argument(0, roundoff);
  at::Tensor loss;
  if (rule.rows != nullptr && terms > few_terms && has_noise(arguments[0].toTensor())) {
    loss = losses_of_running_sums(rule.rows(arguments));
  }
  call.compute();
  call.change_results([&](const at::Tensor& y) {
    at::Tensor result = rounded_by(y, roundoff);
    if (loss.defined()) result = result + xi(y, 1) * loss.view(y.sizes());
    result = stored(result);
    return rule.in_range == nullptr ? result : rule.in_range(arguments, result);
  });
}

void round_elementary(Call& call, const OperatorRule& rule) {
  call.round_argument(0, float_roundoff);
  // Some operators overwrite their argument.
  const at::Tensor x = call.arguments()[0].toTensor().clone();
  const double roundoff = rule.roundings * float_roundoff;
  call.compute();
  call.change_results([&](const at::Tensor& y) {
    at::Tensor result = rounded_by(y, roundoff);
    if (rule.besides == Besides::one) result = result + xi(y, roundoff);
    if (rule.besides == Besides::argument) result = result + xi(y, roundoff) * x.abs();
    return stored(result);
  });
}

void fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  // The parts of a composite operator come back one by one.
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) {
    return op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, key),
                              stack);
  }
  Call call(op, stack);
  const OperatorRule* rule = rule_of(op.schema());
  if (rule == nullptr && current->unknown != nullptr) current->unknown->insert(op.schema().name());
  static const OperatorRule one_rounding{OperatorKind::one_rounding};
  if (rule == nullptr) rule = &one_rounding;
  if (current->einsums > 0 && op.schema().name() == "aten::mul") rule = &product_of_one_term();
  std::optional<std::vector<c10::IValue>> results;
  if (rule->parts != nullptr) {
    ++current->taken_apart;
    results = rule->parts(call.arguments());
    --current->taken_apart;
  }
  const c10::impl::ExcludeDispatchKeyGuard without_noise(key);
  if (results) {
    call.replace(std::move(*results));
    return call.change_results(stored);
  }
  switch (rule->kind) {
    case OperatorKind::exact:
      return call.compute();
    case OperatorKind::product:
      return round_product(call, *rule);
    case OperatorKind::sum:
      return round_sum(call, *rule);
    case OperatorKind::elementary:
      return round_elementary(call, *rule);
    case OperatorKind::one_rounding:
      call.compute();
      return call.change_results(
          [](const at::Tensor& y) { return stored(rounded_by(y, float_roundoff)); });
  }
}

void register_fallback() {
  static const c10::RegistrationHandleRAII registered =
      c10::Dispatcher::singleton().registerFallback(
          key, c10::KernelFunction::makeFromBoxedFunction<&fallback>(), "noise of roundings");
}

// What composite operators mean for their parts is known where they begin and end. Products of
// recurrent layers are rounded as convolutions are, and cuDNN would be one operator.
struct Layer final : at::ObserverContext {
  int* open = nullptr;
  bool cudnn = at::globalContext().userEnabledCuDNN();
};

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& f) {
  static const std::set<std::string_view> recurrent = {"aten::lstm", "aten::gru", "aten::rnn_tanh",
                                                       "aten::rnn_relu"};
  const bool is_recurrent = recurrent.contains(f.name());
  if (current == nullptr || !(is_recurrent || f.name() == std::string_view("aten::einsum"))) {
    return nullptr;
  }
  auto layer = std::make_unique<Layer>();
  layer->open = is_recurrent ? &current->recurrent : &current->einsums;
  ++*layer->open;
  if (is_recurrent) at::globalContext().setUserEnabledCuDNN(false);
  return layer;
}

void on_end(const at::RecordFunction&, at::ObserverContext* context) {
  if (context == nullptr) return;
  const auto* layer = static_cast<const Layer*>(context);
  --*layer->open;
  at::globalContext().setUserEnabledCuDNN(layer->cudnn);
}

// Makes attention come as products and a softmax.
class AttentionInParts {
 public:
  AttentionInParts() { set(false, false, false); }
  ~AttentionInParts() { set(flash_, efficient_, cudnn_); }
  AttentionInParts(const AttentionInParts&) = delete;  // one owner sets them back
  AttentionInParts& operator=(const AttentionInParts&) = delete;

 private:
  static void set(bool flash, bool efficient, bool cudnn) {
    at::Context& context = at::globalContext();
    context.setSDPUseFlash(flash);
    context.setSDPUseMemEfficient(efficient);
    context.setSDPUseCuDNN(cudnn);
  }
  const bool flash_ = at::globalContext().userEnabledFlashSDP();
  const bool efficient_ = at::globalContext().userEnabledMemEfficientSDP();
  const bool cudnn_ = at::globalContext().userEnabledCuDNNSDP();
};

// Everything that with_noise() switches on, and off again also when a reference throws.
class NoiseOn {
 public:
  explicit NoiseOn(Run& run)
      : layers_(at::addThreadLocalCallback(
            at::RecordFunctionCallback(on_start, on_end).scopes({at::RecordScope::FUNCTION}))) {
    current = &run;
  }
  ~NoiseOn() {
    current = nullptr;
    at::removeCallback(layers_);
  }
  NoiseOn(const NoiseOn&) = delete;  // one owner switches it off
  NoiseOn& operator=(const NoiseOn&) = delete;

 private:
  at::CallbackHandle layers_;
  AttentionInParts attention_;
  c10::impl::IncludeDispatchKeyGuard fallback_{key};
};

}  // namespace

std::vector<at::Tensor> with_noise(const Roundings& roundings, const NoiseSeed& noise,
                                   const std::function<std::vector<at::Tensor>()>& run) {
  register_fallback();
  Run state{.roundings = roundings, .noise = noise};
  const NoiseOn on(state);
  return run();
}

std::vector<std::string> operators_without_rule(const std::function<void()>& run) {
  register_fallback();
  std::set<std::string> unknown;
  Run state{.roundings = {}, .noise = {.seed = 1}, .unknown = &unknown};
  const NoiseOn on(state);
  run();
  return {unknown.begin(), unknown.end()};
}

}  // namespace kb
