// Operators that count are known by name and are taken whole: whatever they use inside is theirs.
#include "judge/acceptance/operators.h"

#include <ATen/Context.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "judge/acceptance/trace.h"

namespace kb {
namespace {

using Arguments = c10::ArrayRef<c10::IValue>;

at::Tensor tensor(Arguments arguments, size_t index) {
  return index < arguments.size() && arguments[index].isTensor() ? arguments[index].toTensor()
                                                                 : at::Tensor();
}

double count(const at::Tensor& t) { return static_cast<double>(t.numel()); }

// [.., m, k] times [.., k, n], or a matrix times a vector, or two vectors.
Operators product(const at::Tensor& a, const at::Tensor& b) {
  return {.flops = 2.0 * count(a) * static_cast<double>(b.dim() == 1 ? 1 : b.size(-1)),
          .matmul = b.dim() > 1};
}

// lstm(x, hx, weights, ...): x is [.., features], weights are matrices and vectors.
Operators recurrent(Arguments arguments) {
  Operators counted{.recurrent = true};
  constexpr size_t weights = 2;
  const at::Tensor x = tensor(arguments, 0);
  if (!x.defined() || !arguments[weights].isTensorList()) return counted;
  const double steps = count(x) / static_cast<double>(x.size(-1));
  for (const at::Tensor& weight : arguments[weights].toTensorVector()) {
    if (weight.dim() == 2) counted.flops += 2.0 * steps * count(weight);
  }
  return counted;
}

// The share of [L, S] pairs that a mask leaves.
double share_left(Arguments arguments, int64_t rows, int64_t columns) {
  constexpr size_t mask = 3, is_causal = 5;
  if (arguments[is_causal].toBool()) {
    double pairs = 0;
    for (int64_t i = 0; i < rows; ++i) pairs += static_cast<double>(std::min(i + 1, columns));
    return pairs / (static_cast<double>(rows) * static_cast<double>(columns));
  }
  const at::Tensor given = tensor(arguments, mask);
  if (!given.defined()) return 1;
  const at::Tensor left = given.scalar_type() == at::kBool ? given : given.ne(-INFINITY);
  return left.to(at::kDouble).mean().item<double>();
}

// scaled_dot_product_attention(q [.., L, E], k [.., S, E], v [.., S, Ev], mask, dropout, causal)
Operators attention(Arguments arguments) {
  const at::Tensor q = tensor(arguments, 0), k = tensor(arguments, 1), v = tensor(arguments, 2);
  const int64_t rows = q.size(-2), columns = k.size(-2);
  const double per_pair = 2.0 * static_cast<double>(q.size(-1) + v.size(-1));
  const double pairs = count(q) / static_cast<double>(q.size(-1)) * static_cast<double>(columns);
  return {.flops = per_pair * pairs * share_left(arguments, rows, columns), .attention = true};
}

// convolution(x, weight, bias, stride, padding, dilation, transposed, ...)
Operators convolution(Arguments arguments, const at::Tensor& y) {
  constexpr size_t transposed = 6;
  const at::Tensor grid = arguments[transposed].toBool() ? tensor(arguments, 0) : y;
  double positions = static_cast<double>(grid.size(0));
  for (int64_t d = 2; d < grid.dim(); ++d) positions *= static_cast<double>(grid.size(d));
  return {.flops = 2.0 * positions * count(tensor(arguments, 1)), .convolution = true};
}

bool is_recurrent(std::string_view name) {
  return name == "aten::lstm" || name == "aten::gru" || name == "aten::rnn_tanh" ||
         name == "aten::rnn_relu";
}

double elements_per(const at::Tensor& weight, int64_t outputs) {
  return count(weight) / static_cast<double>(std::max<int64_t>(outputs, 1));
}

// A transposed convolution's weight is [in, out / groups, ..], another's [out, in / groups, ..].
CountedCall convolution_call(Arguments arguments, const at::Tensor& y) {
  constexpr size_t transposed = 6, groups = 8;
  const at::Tensor weight = tensor(arguments, 1);
  CountedCall call{.work = convolution(arguments, y), .operands = {0, 1}};
  int64_t extent = std::numeric_limits<int64_t>::max();
  for (int64_t d = 2; d < weight.dim(); ++d) {
    call.taps *= static_cast<double>(weight.size(d));
    extent = std::min({extent, tensor(arguments, 0).size(d), y.size(d)});
  }
  call.extent = static_cast<double>(extent);
  call.depth = arguments[transposed].toBool()
                   ? elements_per(weight, weight.size(1) * arguments[groups].toInt())
                   : elements_per(weight, weight.size(0));
  return call;
}

CountedCall product_call(Arguments arguments, size_t first) {
  const at::Tensor a = tensor(arguments, first);
  return {.work = product(a, tensor(arguments, first + 1)),
          .operands = {first, first + 1},
          .depth = static_cast<double>(a.size(-1))};
}

// Counts each call, for the sum of all or of those that are needed.
class Counter final : public Tracer {
 public:
  explicit Counter(double most_flops = INFINITY) : most_flops_(most_flops) {}

  bool opens(const c10::OperatorHandle& op) override { return !is_taken_whole(op.schema()); }
  void call(const c10::OperatorHandle& op, torch::jit::Stack& stack) override {
    const size_t first = stack.size() - op.schema().arguments().size();
    const std::vector<c10::IValue> arguments(stack.begin() + static_cast<std::ptrdiff_t>(first),
                                             stack.end());
    const bool by_result = op.schema().name() == "aten::convolution";
    if (!by_result) note(count_call(op.schema(), arguments, {}).work);
    flow_.call(op, stack);
    const c10::IValue result = stack.size() > first ? stack[first] : c10::IValue();
    if (by_result) note(count_call(op.schema(), arguments, result).work);
  }

  Operators all() const {
    Operators sum;
    for (const Operators& call : calls_) sum += call;
    return sum;
  }
  Operators needed_by(const std::vector<at::Tensor>& outputs) const {
    const std::vector<bool> needed = flow_.needed_by(outputs);
    Operators sum;
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (needed[i]) sum += calls_[i];
    }
    return sum;
  }

 private:
  void note(Operators call) {
    flops_ += call.flops;
    TORCH_CHECK(flops_ <= most_flops_, "more than ", most_flops_, " FLOPs");
    calls_.push_back(call);
  }

  DataFlow flow_;
  std::vector<Operators> calls_;
  double flops_ = 0, most_flops_;
};

}  // namespace

Operators& Operators::operator+=(const Operators& more) {
  flops += more.flops;
  matmul |= more.matmul;
  convolution |= more.convolution;
  recurrent |= more.recurrent;
  attention |= more.attention;
  return *this;
}

bool is_taken_whole(const c10::FunctionSchema& schema) {
  // On a CPU max_pool1d() computes by itself, on plain memory: what it reads would seem needless.
  return is_recurrent(schema.name()) || schema.name() == "aten::scaled_dot_product_attention" ||
         schema.name() == "aten::max_pool1d";
}

CountedCall count_call(const c10::FunctionSchema& schema, Arguments arguments,
                       const c10::IValue& result) {
  const std::string_view name = schema.name();
  if (name == "aten::mm" || name == "aten::bmm" || name == "aten::mv" || name == "aten::dot") {
    return product_call(arguments, 0);
  }
  if (name == "aten::addmm" || name == "aten::baddbmm" || name == "aten::addmv") {
    return product_call(arguments, 1);
  }
  if (is_recurrent(name)) return {.work = recurrent(arguments), .operands = {0, 2}};
  if (name == "aten::scaled_dot_product_attention") {
    return {.work = attention(arguments),
            .operands = {0, 1, 2},
            .depth = static_cast<double>(tensor(arguments, 0).size(-1))};
  }
  if (name == "aten::convolution") return convolution_call(arguments, result.toTensor());
  return {};
}

Operators watch_operators(const std::function<void()>& run, double most_flops) {
  Counter counter(most_flops);
  trace(counter, run);
  return counter.all();
}

Operators watch_needed_operators(const std::function<std::vector<at::Tensor>()>& run) {
  Counter counter;
  std::vector<at::Tensor> outputs;
  trace(counter, [&] { outputs = run(); });
  return counter.needed_by(outputs);
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
      watch_needed_operators([&] { return task.reference(task.smoke, task.example(task.smoke)); }));
}

}  // namespace kb
