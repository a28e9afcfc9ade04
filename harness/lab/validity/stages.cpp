// Operators are traced whole, as a reference calls them.
#include "lab/validity/stages.h"

#include <map>
#include <optional>

#include "judge/acceptance/trace.h"

namespace kb {
namespace {

class Stages final : public Tracer {
 public:
  explicit Stages(std::optional<size_t> left_out = {}) : left_out_(left_out) {}

  bool opens(const c10::OperatorHandle&) override { return false; }
  void call(const c10::OperatorHandle& op, torch::jit::Stack& stack) override {
    const size_t arguments = op.schema().arguments().size();
    const c10::IValue first = arguments == 0 ? c10::IValue() : stack.at(stack.size() - arguments);
    const bool left_out = left_out_ == names_.size();
    if (left_out) {
      torch::jit::drop(stack, arguments);
      stack.push_back(first);
    } else {
      flow_.call(op, stack);
    }
    names_.push_back(left_out || is_stage(op.schema(), first, stack)
                         ? op.schema().name().substr(std::string("aten::").size())
                         : "");
  }

  std::vector<Stage> needed_by(const std::vector<at::Tensor>& outputs) const {
    const std::vector<bool> needed = flow_.needed_by(outputs);
    std::vector<Stage> found;
    std::map<std::string, int> seen;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].empty() || !needed[i]) continue;
      const int count = ++seen[names_[i]];
      found.push_back({names_[i] + (count > 1 ? "." + std::to_string(count) : ""), i});
    }
    return found;
  }

 private:
  // Whether an operator, which has just been called, hands on its first argument when left out.
  static bool is_stage(const c10::FunctionSchema& schema, const c10::IValue& first,
                       const torch::jit::Stack& stack) {
    if (schema.returns().size() != 1 || !first.isTensor() || !first.toTensor().defined())
      return false;
    const c10::AliasInfo* alias = schema.arguments()[0].alias_info();
    const bool in_place = alias != nullptr && alias->isWrite();
    if (schema.is_mutable() != in_place || !stack.back().isTensor()) return false;
    // These say where elements lie, not what they are.
    const std::string& name = schema.name();
    if (name == "aten::contiguous" || name == "aten::clone" || name == "aten::copy_") return false;
    const at::Tensor& result = stack.back().toTensor();
    return result.sizes() == first.toTensor().sizes() &&
           result.scalar_type() == first.toTensor().scalar_type();
  }

  std::optional<size_t> left_out_;  // among all calls
  std::vector<std::string> names_;  // of each call, empty if it cannot be left out
  DataFlow flow_;
};

}  // namespace

std::vector<Stage> stages(const Outputs& run) {
  Stages all;
  std::vector<at::Tensor> outputs;
  trace(all, [&] { outputs = run(); });
  return all.needed_by(outputs);
}

std::vector<at::Tensor> run_without(const Stage& stage, const Outputs& run) {
  Stages all(stage.call);
  std::vector<at::Tensor> outputs;
  trace(all, [&] { outputs = run(); });
  return outputs;
}

}  // namespace kb
