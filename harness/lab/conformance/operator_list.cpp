// Arguments as JSON; Python's names of types, so that both sides print the same.
#include "lab/conformance/operator_list.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "judge/acceptance/trace.h"

namespace kb {
namespace {

constexpr std::array where{"device",        "layout",    "pin_memory",
                           "memory_format", "generator", "non_blocking"};

Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";  // JSON has none of these
}

Json number(const at::Scalar& value) {
  if (value.isBoolean()) return value.toBool();
  return value.isIntegral(false) ? Json(value.toLong()) : number(value.toDouble());
}

Json describe(const at::Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return number(tensor.item());
  return {{"shape", tensor.sizes().vec()},
          {"dtype", c10::getDtypeNames(tensor.scalar_type()).first}};
}

Json describe(const c10::IValue& value) {
  if (value.isTensor()) return describe(value.toTensor());
  if (value.isBool()) return value.toBool();
  if (value.isScalar()) return number(value.toScalar());
  if (value.isString()) return value.toStringRef();
  if (!value.isList()) return nullptr;
  Json all = Json::array();
  for (const c10::IValue& part : value.toListRef()) all.push_back(describe(part));
  return all;
}

// A function of where elements lie alone: its result is its argument's memory, unchanged.
bool is_view(const c10::FunctionSchema& schema) {
  return std::any_of(schema.returns().begin(), schema.returns().end(), [](const auto& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  });
}

class List final : public Tracer {
 public:
  bool opens(const c10::OperatorHandle&) override { return true; }
  void call(const c10::OperatorHandle& op, torch::jit::Stack& stack) override {
    const c10::FunctionSchema& schema = op.schema();
    const size_t first = stack.size() - schema.arguments().size();
    Json arguments = Json::object();
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      const std::string& name = schema.arguments()[i].name();
      const c10::IValue& value = stack[first + i];
      if (std::find(where.begin(), where.end(), name) != where.end()) continue;
      arguments[name] = name == "dtype" && value.isInt()
                            ? Json(c10::getDtypeNames(value.toScalarType()).first)
                            : describe(value);
    }
    Json line = {{"operator", schema.name()}, {"arguments", arguments}};
    if (is_view(schema)) line["view"] = true;
    lines.push_back(std::move(line));
    op.callBoxed(&stack);
  }
  Json lines = Json::array();
};

}  // namespace

Json list_operators(const Task& task, const SizeBytes& sizes) {
  const std::vector<Tensor> given = task.example(sizes);
  task.settle(sizes, given);
  List list;
  trace(list, [&] { task.reference(sizes, given); });
  return std::move(list.lines);
}

}  // namespace kb
