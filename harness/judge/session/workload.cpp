// The reference only ever reads the private copies: a candidate may scribble over the shared ones.
#include "judge/session/workload.h"

#include <optional>

#include "base/result/verdict.h"

namespace kb {
namespace {

// Whether two tensors differ in any bit, so that NaN equals itself: a scalar that the device may
// still be computing. In words where sizes and places allow, for speed.
at::Tensor differ(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor flat_a = a.reshape(-1), flat_b = b.reshape(-1);
  const auto is_words = [](const at::Tensor& t) {
    return t.nbytes() % 8 == 0 && t.storage_offset() * t.itemsize() % 8 == 0;
  };
  const auto unit = is_words(flat_a) && is_words(flat_b) ? at::kLong : at::kByte;
  return flat_a.view(unit).ne(flat_b.view(unit)).any();
}

// How much is wrong with a tensor: a scalar that the device may still be computing.
struct Finding {
  const SharedTensor& tensor;
  at::Tensor amount;
};

struct Wrong {
  const SharedTensor& tensor;
  int64_t amount;
};

// The first of which something is wrong. Waits once for all, of which there are hundreds in a
// network.
std::optional<Wrong> first_wrong(const std::vector<Finding>& findings) {
  if (findings.empty()) return std::nullopt;
  std::vector<at::Tensor> scalars;
  for (const Finding& finding : findings) scalars.push_back(finding.amount);
  const at::Tensor amounts = at::stack(scalars).to(at::kLong).cpu();
  for (size_t i = 0; i < findings.size(); ++i) {
    const int64_t amount = amounts.const_data_ptr<int64_t>()[i];
    if (amount != 0) return Wrong{findings[i].tensor, amount};
  }
  return std::nullopt;
}

}  // namespace

bool same_bits(const at::Tensor& a, const at::Tensor& b) { return !differ(a, b).item<bool>(); }

Workload::Workload(const Task& task, const SizeBytes& sizes, int64_t slots, SharedMemory& memory)
    : task_(task), sizes_(sizes), slots_(slots) {
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role == Role::unread) continue;
    auto& group = spec.role == Role::input    ? inputs_
                  : spec.role == Role::weight ? weights_
                                              : outputs_;
    Slots tensor;
    tensor.shared = memory.allocate(spec, spec.role == Role::weight ? 1 : slots);
    if (spec.role == Role::output) {
      output_specs_.push_back(spec);
    } else {
      for (int64_t i = 0; i < tensor.shared->slots(); ++i) {
        tensor.originals.push_back(
            at::empty(spec.shape, at::TensorOptions(spec.dtype).device(memory.device())));
      }
    }
    group.push_back(std::move(tensor));
  }
  task_.settle(sizes_, arguments(0));  // before they have values, which are written in place
}

void Workload::bind(RunnerSession& runner) const {
  std::vector<protocol::Tensor> tensors;
  for (const auto* group : {&inputs_, &weights_, &outputs_}) {
    for (const Slots& t : *group) tensors.push_back(t.shared->describe());
  }
  runner.bind(task_, sizes_, tensors);
}

void Workload::draw(Slots& tensor, int64_t slot, InputKind kind, at::Generator& rng) {
  tensor.shared->spec().draw(tensor.originals[slot], kind, rng);
}

void Workload::publish(Slots& tensor, int64_t slot) {
  tensor.shared->slot(slot).copy_(tensor.originals[slot]);
}

void Workload::refill_weights(InputKind kind, at::Generator& rng) {
  for (Slots& weight : weights_) {
    draw(weight, 0, kind, rng);
    publish(weight, 0);
  }
}

void Workload::scale_weights(double factor) {
  for (Slots& weight : weights_) {
    if (!takes_scales(weight.shared->spec())) continue;
    weight.originals[0].mul_(factor);
    publish(weight, 0);
  }
}

void Workload::draw_slot(int64_t slot, InputKind kind, at::Generator& rng) {
  for (Slots& input : inputs_) draw(input, slot, kind, rng);
}

void Workload::publish_slot(int64_t slot) {
  for (Slots& input : inputs_) publish(input, slot);
  poison(slot);
}

void Workload::refill_slot(int64_t slot, InputKind kind, at::Generator& rng) {
  draw_slot(slot, kind, rng);
  publish_slot(slot);
}

void Workload::refill_slot(int64_t slot, const Family& family, at::Generator& rng) {
  refill_slot(slot, Mix{.name = family.name, .families = {family}}, rng);
}

void Workload::refill_slot(int64_t slot, const Mix& mix, at::Generator& rng) {
  draw_slot(slot, mix, rng);
  publish_slot(slot);
}

void Workload::draw_slot(int64_t slot, const Mix& mix, at::Generator& rng) {
  for (Slots& input : inputs_) {
    const TensorSpec& spec = input.shared->spec();
    if (!takes_families(spec)) {
      draw(input, slot, InputKind::standard, rng);
    } else if (mix.families.front().fill == nullptr) {
      draw(input, slot, InputKind::compat, rng);
    } else {
      const auto fill = [&](at::Tensor& out, at::Generator& g) { mix.fill(spec, out, g); };
      draw_values(input.originals[slot], fill, rng);
    }
  }
}

void Workload::change_few(Slots& tensor, int64_t slot, int64_t count, at::Generator& rng) {
  const int64_t numel = tensor.shared->spec().numel();
  if (numel == 0) return;
  const at::Tensor elements = tensor.originals[slot].view(-1);
  const at::Tensor others = elements.index_select(0, random_indices(0, numel, count, rng));
  elements.index_copy_(0, random_indices(0, numel, count, rng), others);
  publish(tensor, slot);
}

bool Workload::change_few_inputs(int64_t slot, int64_t most, at::Generator& rng) {
  bool changed = false;
  for (Slots& input : inputs_) {
    const TensorSpec& spec = input.shared->spec();
    if (at::isFloatingType(spec.dtype) && !takes_families(spec)) continue;
    change_few(input, slot, random_indices(1, most + 1, 1, rng).item<int64_t>(), rng);
    changed = true;
  }
  poison(slot);
  return changed;
}

bool Workload::change_few_weights(int64_t most, at::Generator& rng) {
  bool changed = false;
  for (Slots& weight : weights_) {
    if (!takes_scales(weight.shared->spec())) continue;
    change_few(weight, 0, random_indices(1, most + 1, 1, rng).item<int64_t>(), rng);
    changed = true;
  }
  return changed;
}

void Workload::poison(int64_t slot) {
  for (Slots& output : outputs_) output.shared->poison_slot(slot);
}

void Workload::assign(int64_t slot, const std::vector<at::Tensor>& given) {
  TORCH_CHECK(given.size() == inputs_.size() + weights_.size(), task_.name,
              ": another number of inputs and weights than declared");
  size_t next = 0;
  for (auto* group : {&inputs_, &weights_}) {
    for (Slots& t : *group) {
      const int64_t copy = t.shared->slots() == 1 ? 0 : slot;
      t.originals[copy].copy_(given[next++]);
      publish(t, copy);
    }
  }
  poison(slot);
}

std::vector<at::Tensor> Workload::arguments(int64_t slot) const {
  std::vector<at::Tensor> out;
  for (const Slots& input : inputs_) out.push_back(input.originals[slot]);
  for (const Slots& weight : weights_) out.push_back(weight.originals[0]);
  return out;
}

std::vector<at::Tensor> Workload::snapshot(int64_t slot) const {
  std::vector<at::Tensor> out;
  for (const Slots& output : outputs_) out.push_back(output.shared->slot(slot).clone());
  return out;
}

const at::Tensor& Workload::input(const std::string& name, int64_t slot) const {
  for (const Slots& input : inputs_) {
    if (input.shared->spec().name == name) return input.originals[slot];
  }
  TORCH_CHECK(false, task_.name, " declares no input named '", name, "'");
}

at::Tensor Workload::output(int64_t slot, size_t index) const {
  return outputs_.at(index).shared->slot(slot);
}

std::vector<at::Tensor> Workload::output_places(int64_t first, int64_t slots,
                                                at::Generator& rng) const {
  constexpr int64_t enough = 256;
  std::vector<at::Tensor> places;
  for (const Slots& output : outputs_) {
    const int64_t count = output.shared->spec().numel() > 0 ? enough : 0;
    places.push_back(output.shared->places(first, slots, count, rng));
  }
  return places;
}

std::vector<at::Tensor> Workload::outputs_at(const std::vector<at::Tensor>& places) const {
  std::vector<at::Tensor> values;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    values.push_back(outputs_[i].shared->elements(places.at(i)));
  }
  return values;
}

std::function<void()> Workload::hold_back_inputs(int64_t first, int64_t slots, at::Generator& rng) {
  constexpr int64_t few = 16;
  std::vector<std::function<void()>> steps;
  for (const Slots& input : inputs_) {
    const int64_t numel = input.shared->spec().numel();
    if (numel == 0) continue;
    const auto slot = random_indices(first, first + slots, 1, rng).item<int64_t>();
    const at::Tensor original = input.originals[slot].view(-1);
    const at::Tensor shared = input.shared->slot(slot).view(-1);
    const at::Tensor places = random_indices(0, numel, few, rng);
    const at::Tensor own = original.index_select(0, places);
    original.index_copy_(0, places, original.index_select(0, random_indices(0, numel, few, rng)));
    steps.emplace_back([original, shared, places, own] {
      at::Tensor(original).index_copy_(0, places, own);
      at::Tensor(shared).index_copy_(0, places, own);
    });
  }
  return [steps = std::move(steps)] {
    for (const auto& step : steps) step();
  };
}

void Workload::check_inputs(const std::string& set) const {
  std::vector<Finding> changed;
  for (const auto* group : {&inputs_, &weights_}) {
    for (const Slots& t : *group) {
      for (int64_t s = 0; s < t.shared->slots(); ++s) {
        changed.push_back({*t.shared, differ(t.shared->slot(s), t.originals[s])});
      }
    }
  }
  const auto wrong = first_wrong(changed);
  if (!wrong) return;
  const std::string& name = wrong->tensor.spec().name;
  throw Decided(Verdict::incorrect,
                "the candidate changed '" + name + "', which it may only read (" + set + " sizes)",
                {{"set", set}, {"output", name}, {"reason", "input_modified"}});
}

void Workload::check_untouched(int64_t slot) const {
  for (const Slots& output : outputs_) {
    if (output.shared->is_poisoned(slot)) continue;
    const std::string& name = output.shared->spec().name;
    throw Decided(Verdict::cheat, "the candidate wrote '" + name + "' of a call that was not made",
                  {{"set", "timed"}, {"output", name}, {"reason", "merged_calls"}});
  }
}

void Workload::check_guards(const std::string& set) const {
  std::vector<Finding> damaged;
  for (const auto* group : {&inputs_, &weights_, &outputs_}) {
    for (const Slots& t : *group) {
      damaged.push_back({*t.shared, t.shared->damaged_guard_bytes()});
    }
  }
  const auto wrong = first_wrong(damaged);
  if (!wrong) return;
  const std::string& name = wrong->tensor.spec().name;
  throw Decided(Verdict::incorrect,
                "the candidate wrote outside '" + name + "': " + std::to_string(wrong->amount) +
                    " bytes next to it changed, the nearest " + wrong->tensor.damage() + " (" +
                    set + " sizes)",
                {{"set", set}, {"output", name}, {"reason", "out_of_bounds"}});
}

}  // namespace kb
