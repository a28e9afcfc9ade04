#include "judge/programs/given_weights.h"

#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "base/sha256.h"
#include "judge/acceptance/drawn_sizes.h"
#include "reference/safetensors.h"

namespace kb {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

// Under its own name, without the first part of it, or as kb_reference writes it.
const at::Tensor* find(const Tensors& file, const std::string& name) {
  for (const std::string& key :
       {name, name.substr(name.find('.') + 1), "param." + name, "buffer." + name}) {
    if (const auto found = file.find(key); found != file.end()) return &found->second;
  }
  return nullptr;
}

std::string describe(c10::IntArrayRef shape) {
  std::ostringstream text;
  text << shape;
  return text.str();
}

// What keeps the file from being the weights at these sizes; nothing if it is all of them.
std::optional<std::string> misfit(const std::vector<TensorSpec>& specs, const Tensors& file) {
  for (const TensorSpec& spec : specs) {
    if (spec.role != Role::weight) continue;
    const at::Tensor* given = find(file, spec.name);
    if (given == nullptr) return "it has no tensor '" + spec.name + "'";
    if (given->sizes() != c10::IntArrayRef(spec.shape)) {
      return "its '" + spec.name + "' is " + describe(given->sizes()) + ", not " +
             describe(spec.shape);
    }
    if (at::isFloatingType(given->scalar_type()) != at::isFloatingType(spec.dtype)) {
      return std::string("its '") + spec.name + "' is " + dtype_name(given->scalar_type()) +
             ", not " + dtype_name(spec.dtype);
    }
  }
  return std::nullopt;
}

}  // namespace

GivenWeights with_weights(Task task, const std::filesystem::path& file) {
  const auto given = std::make_shared<const Tensors>(read_safetensors(file));
  GivenWeights out{std::move(task), file_sha256(file), {}};
  const Task& declared = out.task;
  if (weights_read(declared) == 0) {
    throw std::runtime_error(declared.name + " has no weights, and " + file.string() +
                             " was given for them: judge it without KB_WEIGHTS");
  }
  for (const auto& [name, sizes] : std::initializer_list<std::pair<const char*, SizeBytes>>{
           {"smoke", declared.smoke}, {"odd", declared.odd}, {"full", declared.full}}) {
    if (!misfit(declared.tensors(sizes), *given)) out.sets.emplace_back(name);
  }
  if (out.sets.empty()) {
    throw std::runtime_error(file.string() + " does not hold the weights of " + declared.name +
                             " at any of its sizes; at full sizes " +
                             *misfit(declared.tensors(declared.full), *given));
  }
  out.task.tensors = [tensors = declared.tensors, given](const SizeBytes& sizes) {
    std::vector<TensorSpec> specs = tensors(sizes);
    if (misfit(specs, *given)) return specs;
    for (TensorSpec& spec : specs) {
      if (spec.role != Role::weight) continue;
      spec.fill = [value = *find(*given, spec.name)](at::Tensor& out, at::Generator&) {
        out.copy_(value);
      };
      spec.compat = spec.fill;
    }
    return specs;
  };
  return out;
}

Json to_json(const GivenWeights& weights) {
  if (weights.sha256.empty()) return nullptr;
  return {{"sha256", weights.sha256}, {"sets", weights.sets}};
}

}  // namespace kb
