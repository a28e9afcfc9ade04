// An ATen observer sees every operator with its arguments; those that count are known by name.
#include "acceptance/operators.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace kb {
namespace {

// Observers are plain functions; references run in one thread.
Operators seen;
int inside = 0;  // operators whose own parts are not counted again

enum class Kind { convolution, recurrent, attention };

// An operator with parts, between its start, where its arguments are known, and its end.
struct Whole final : at::ObserverContext {
  Kind kind;
  at::Tensor x, weight;  // of a convolution, whose output is known at the end
  bool transposed = false;
};

at::Tensor tensor(const at::RecordFunction& f, size_t index) {
  const auto inputs = f.inputs();
  return index < inputs.size() && inputs[index].isTensor() ? inputs[index].toTensor()
                                                           : at::Tensor();
}

double count(const at::Tensor& t) { return static_cast<double>(t.numel()); }

// [.., m, k] times [.., k, n], or a matrix times a vector, or two vectors.
void add_product(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) return;
  if (b.dim() > 1) seen.matmul = true;
  seen.flops += 2.0 * count(a) * static_cast<double>(b.dim() == 1 ? 1 : b.size(-1));
}

// lstm(x, hx, weights, ...): x is [.., features], weights are matrices and vectors.
void add_recurrent(const at::RecordFunction& f) {
  seen.recurrent = true;
  constexpr size_t weights = 2;
  const at::Tensor x = tensor(f, 0);
  if (!x.defined() || f.inputs().size() <= weights || !f.inputs()[weights].isTensorList()) return;
  const double steps = count(x) / static_cast<double>(x.size(-1));
  for (const at::Tensor& weight : f.inputs()[weights].toTensorVector()) {
    if (weight.dim() == 2) seen.flops += 2.0 * steps * count(weight);
  }
}

// The share of [L, S] pairs that a mask leaves.
double share_left(const at::RecordFunction& f, int64_t rows, int64_t columns) {
  constexpr size_t mask = 3, is_causal = 5;
  if (f.inputs().size() > is_causal && f.inputs()[is_causal].toBool()) {
    double pairs = 0;
    for (int64_t i = 0; i < rows; ++i) pairs += static_cast<double>(std::min(i + 1, columns));
    return pairs / (static_cast<double>(rows) * static_cast<double>(columns));
  }
  const at::Tensor given = tensor(f, mask);
  if (!given.defined()) return 1;
  const at::Tensor left = given.scalar_type() == at::kBool ? given : given.ne(-INFINITY);
  return left.to(at::kDouble).mean().item<double>();
}

// scaled_dot_product_attention(q [.., L, E], k [.., S, E], v [.., S, Ev], mask, dropout, causal)
void add_attention(const at::RecordFunction& f) {
  seen.attention = true;
  const at::Tensor q = tensor(f, 0), k = tensor(f, 1), v = tensor(f, 2);
  if (!q.defined() || !k.defined() || !v.defined()) return;
  const int64_t rows = q.size(-2), columns = k.size(-2);
  const double per_pair = 2.0 * static_cast<double>(q.size(-1) + v.size(-1));
  const double pairs = count(q) / static_cast<double>(q.size(-1)) * static_cast<double>(columns);
  seen.flops += per_pair * pairs * share_left(f, rows, columns);
}

std::unique_ptr<at::ObserverContext> begin(Kind kind) {
  ++inside;
  auto whole = std::make_unique<Whole>();
  whole->kind = kind;
  return whole;
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& f) {
  if (inside > 0) return nullptr;
  const std::string_view name = f.name();
  if (name == "aten::mm" || name == "aten::bmm" || name == "aten::mv" || name == "aten::dot") {
    add_product(tensor(f, 0), tensor(f, 1));
  } else if (name == "aten::addmm" || name == "aten::baddbmm" || name == "aten::addmv") {
    add_product(tensor(f, 1), tensor(f, 2));
  } else if (name == "aten::lstm" || name == "aten::gru" || name == "aten::rnn_tanh" ||
             name == "aten::rnn_relu") {
    add_recurrent(f);
    return begin(Kind::recurrent);
  } else if (name == "aten::scaled_dot_product_attention") {
    add_attention(f);
    return begin(Kind::attention);
  } else if (name == "aten::convolution") {
    auto context = begin(Kind::convolution);
    auto& convolution = static_cast<Whole&>(*context);
    convolution.x = tensor(f, 0);
    convolution.weight = tensor(f, 1);
    constexpr size_t transposed = 6;
    convolution.transposed = f.inputs()[transposed].toBool();
    return context;
  }
  return nullptr;
}

void on_end(const at::RecordFunction& f, at::ObserverContext* context) {
  const auto* whole = static_cast<const Whole*>(context);
  if (whole == nullptr) return;
  --inside;
  if (whole->kind != Kind::convolution) return;
  seen.convolution = true;
  if (f.outputs().empty() || !f.outputs()[0].isTensor()) return;
  const at::Tensor y = f.outputs()[0].toTensor();
  const at::Tensor& grid = whole->transposed ? whole->x : y;
  double positions = static_cast<double>(grid.size(0));
  for (int64_t d = 2; d < grid.dim(); ++d) positions *= static_cast<double>(grid.size(d));
  seen.flops += 2.0 * positions * count(whole->weight);
}

// Removes the observer also when the reference throws.
class Observer {
 public:
  Observer()
      : handle_(at::addThreadLocalCallback(at::RecordFunctionCallback(on_start, on_end)
                                               .needsInputs(true)
                                               .needsOutputs(true)
                                               .scopes({at::RecordScope::FUNCTION}))) {}
  ~Observer() { at::removeCallback(handle_); }
  Observer(const Observer&) = delete;  // one owner removes it
  Observer& operator=(const Observer&) = delete;

 private:
  at::CallbackHandle handle_;
};

}  // namespace

Operators watch_operators(const std::function<void()>& run) {
  seen = {};
  inside = 0;
  const Observer observer;
  run();
  return seen;
}

bool may_round_to_tf32(const Operators& operators) {
  const at::Context& context = at::globalContext();
  return (context.allowTF32CuBLAS() && (operators.matmul || operators.attention)) ||
         (context.allowTF32CuDNN() && (operators.convolution || operators.recurrent));
}

bool may_round_to_tf32(const Task& task) {
  const at::Context& context = at::globalContext();
  if (!context.allowTF32CuBLAS() && !context.allowTF32CuDNN()) return false;
  return may_round_to_tf32(
      watch_operators([&] { task.reference(task.smoke, task.example(task.smoke)); }));
}

}  // namespace kb
