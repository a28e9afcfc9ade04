// What all kernels of a task share: one runner, and for each call its values and what is right.
#include "lab/validity/frozen_fields.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "base/result/files.h"
#include "base/result/verdict.h"
#include "judge/acceptance/drawn_sizes.h"
#include "judge/acceptance/expectation.h"
#include "judge/acceptance/extents.h"
#include "judge/acceptance/families.h"
#include "judge/acceptance/mixes.h"
#include "judge/acceptance/size_search.h"
#include "judge/session/workload.h"

namespace kb {
namespace {

using at::Tensor;

std::string text_at(const Task& task, const SizeBytes& sizes, const Place& place) {
  const Json field = task.fields.to_json(sizes)[place.field];
  return field.is_array() ? field[place.element].dump() : field.dump();
}

struct Frozen {
  Place place;
  SizeField::Kind kind;
  FrozenField field;
};

std::vector<Frozen> fields_of(const Task& task) {
  std::vector<Frozen> found;
  for (const SizeField& field : task.fields.fields) {
    for (size_t i = 0; i < field.count; ++i) {
      const Place place{field.name, i};
      const std::string name =
          field.is_array ? field.name + "[" + std::to_string(i) + "]" : field.name;
      found.push_back(
          {place, field.kind, {.name = name, .frozen = text_at(task, task.smoke, place)}});
    }
  }
  return found;
}

// Values other than a task's own, as a judging has them.
struct OtherValues {
  std::string name;
  const Family* family = nullptr;  // of inputs
  double weight_scale = 1;
};

std::vector<OtherValues> other_values(const Task& task) {
  std::vector<OtherValues> all;
  for (const Family& family : families()) {
    if (family.fill) all.push_back({.name = family.name, .family = &family});
  }
  if (weights_read(task) >= weights_of_network) {
    for (const WeightFamily& family : weight_families()) {
      all.push_back({.name = family.name, .weight_scale = family.scale});
    }
  }
  return all;
}

std::vector<Tensor> draw(const Task& task, const SizeBytes& sizes, const OtherValues& values,
                         at::Device device, uint64_t rng_seed) {
  at::Generator rng = make_rng(device, rng_seed);
  std::vector<Tensor> given;
  for (const TensorSpec& spec : task.given(sizes)) {
    given.push_back(at::empty(spec.shape, at::TensorOptions(spec.dtype).device(device)));
    if (values.family != nullptr && takes_families(spec)) {
      const Mix mix{.name = values.name, .families = {*values.family}};
      draw_values(
          given.back(), [&](Tensor& out, at::Generator& g) { mix.fill(spec, out, g); }, rng);
    } else {
      spec.draw(given.back(), InputKind::standard, rng);
      if (takes_scales(spec)) given.back().mul_(values.weight_scale);
    }
  }
  task.settle(sizes, given);
  return given;
}

// What a network's kernel reads of its weights' shapes follows from the field, too. Where the task
// refuses such sizes, or has other weights, shapes stay.
void tell_shapes(const Task& task, const SizeBytes& told, std::vector<protocol::Tensor>& tensors) {
  std::map<std::string, std::vector<int64_t>> shapes;
  try {
    for (const TensorSpec& spec : task.given(told)) {
      if (spec.role == Role::weight) shapes[spec.name] = spec.shape;
    }
  } catch (const c10::Error&) {
    return;
  }
  for (protocol::Tensor& tensor : tensors) {
    if (tensor.role != protocol::TensorRole::weight) continue;
    const auto found = shapes.find(tensor.name);
    if (found == shapes.end() || static_cast<int32_t>(found->second.size()) != tensor.rank)
      continue;
    std::copy(found->second.begin(), found->second.end(), tensor.shape);
  }
}

// The shipped kernel's process.
class Kernel {
 public:
  explicit Kernel(RunnerOptions how) : how_(std::move(how)) {}

  SharedMemory& memory() { return *memory_; }

  /// The outputs of a call with tensors of one set of sizes, of which the kernel is told another.
  /// @throws Decided where the kernel ends, takes too long or writes where it may not
  std::vector<Tensor> call(const Task& task, const SizeBytes& sizes,
                           const std::vector<Tensor>& given, const SizeBytes& told) {
    if (!runner_) {
      memory_->renew();
      runner_.emplace(how_, *memory_);
    }
    std::vector<std::unique_ptr<SharedTensor>> in_order;
    std::vector<protocol::Tensor> described;
    size_t next = 0;
    for (const Role role : {Role::input, Role::weight, Role::output}) {
      for (const TensorSpec& spec : task.tensors(sizes)) {
        if (spec.role != role) continue;
        in_order.push_back(memory_->allocate(spec, 1));
        described.push_back(in_order.back()->describe());
        if (role != Role::output) in_order.back()->slot(0).copy_(given.at(next++));
      }
    }
    if (task.weight_table && told != sizes) tell_shapes(task, told, described);
    memory_->finish();
    runner_->bind(task, told, described);
    runner_->call_prepare();
    runner_->run(0, 1);
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < in_order.size(); ++i) {
      const SharedTensor& tensor = *in_order[i];
      if (tensor.damaged_guard_bytes().item<int64_t>() != 0 ||
          (i < given.size() && !same_bits(tensor.slot(0), given[i]))) {
        throw Decided(Verdict::incorrect, "it wrote where it may not: " + tensor.spec().name);
      }
      if (i >= given.size()) outputs.push_back(tensor.slot(0).clone());
    }
    return outputs;
  }

  /// What has gone wrong does not live on in the next call.
  void end() { runner_.reset(); }

 private:
  RunnerOptions how_;
  std::unique_ptr<SharedMemory> memory_ = make_shared_memory();
  std::optional<RunnerSession> runner_;
};

// One call, which all kernels get.
class Call {
 public:
  Call(const Task& task, const SizeBytes& sizes, const OtherValues& values, Kernel& kernel,
       uint64_t rng_seed)
      : task_(task),
        sizes_(sizes),
        kernel_(kernel),
        given_(draw(task, sizes, values, kernel.memory().device(), rng_seed)),
        right_(task, sizes, given_, rng_seed) {}

  bool says_something() { return right_.says_something(); }

  bool is_wrong(const SizeBytes& told) {
    try {
      const std::vector<Tensor> got = kernel_.call(task_, sizes_, given_, told);
      for (size_t i = 0; i < got.size(); ++i) {
        if (right_.compare(i, got[i]).worst) return true;
      }
      return false;
    } catch (const Decided&) {
      kernel_.end();
      return true;
    }
  }

 private:
  const Task& task_;
  const SizeBytes& sizes_;
  Kernel& kernel_;
  std::vector<Tensor> given_;
  Expectation right_;
};

class Check {
 public:
  Check(const Task& task, const RunnerOptions& kernel, const FrozenOptions& options)
      : task_(task), options_(options), kernel_(kernel), fields_(fields_of(task)) {}

  std::vector<FrozenField> run() {
    try_sizes();
    for (const OtherValues& values : other_values(task_)) {
      for (const Set& set : sets_) try_call(set, values, /*only_reals=*/true);
    }
    std::vector<FrozenField> found;
    for (const Frozen& frozen : fields_) found.push_back(frozen.field);
    return found;
  }

 private:
  struct Set {
    std::string name;
    SizeBytes sizes;
  };

  // Draws change a few fields of a network each. Odd sizes change all.
  void try_sizes() {
    const OtherValues own{.name = "own values"};
    at::Generator rng = make_rng(at::kCPU, options_.rng_seed);
    for (int i = 0; i < options_.draws && is_any_left(); ++i) {
      if (auto sizes = draw_sizes(task_, rng)) add_set("drawn", *std::move(sizes), own);
    }
    if (is_any_left()) add_set("odd", task_.odd, own);
    for (const Frozen& frozen : fields_) {
      if (frozen.field.shown_by.empty()) change_alone(frozen, own);
    }
    for (int i = 0; i < options_.more_draws && is_any_sought(); ++i) {
      if (auto sizes = draw_sizes(task_, rng)) add_set("one of more draws", *std::move(sizes), own);
    }
  }

  // What a task refuses next to other sizes, it takes next to those of smoke: a published value, or
  // a multiple.
  void change_alone(const Frozen& frozen, const OtherValues& values) {
    constexpr int growth = 6;
    const SizeSearch search(task_, cost(task_, task_.smoke) * growth);
    std::vector<std::string> others{text_at(task_, task_.odd, frozen.place),
                                    text_at(task_, task_.full, frozen.place)};
    if (frozen.kind == SizeField::Kind::integer) {
      const int64_t value = value_at(task_, task_.smoke, frozen.place);
      for (const int64_t other : {2 * value, value / 2, value + value / 2, value + 1, value - 1}) {
        if (other > 0) others.push_back(std::to_string(other));
      }
    }
    for (const std::string& other : others) {
      const SizeBytes sizes = with_text(task_, task_.smoke, frozen.place, other);
      if (sizes == task_.smoke || !search.accepts(sizes)) continue;
      add_set("smoke but for it", sizes, values);
      if (!frozen.field.shown_by.empty()) return;
    }
  }

  void add_set(const std::string& name, SizeBytes sizes, const OtherValues& values) {
    try_call(sets_.emplace_back(Set{name, std::move(sizes)}), values);
  }

  bool is_any_left() const {
    return std::any_of(fields_.begin(), fields_.end(), [](const Frozen& frozen) {
      return frozen.field.shown_by.empty() && frozen.kind != SizeField::Kind::flag;
    });
  }

  bool is_any_sought() const {
    return std::any_of(fields_.begin(), fields_.end(), [this](const Frozen& frozen) {
      return frozen.field.shown_by.empty() && !options_.not_sought.contains(frozen.field.name);
    });
  }

  // Of the fields that nothing has shown yet, those that these sizes can show. An integer says
  // where values lie, so what they are matters to real numbers only: eps, slopes and bounds.
  void try_call(const Set& set, const OtherValues& values, bool only_reals = false) {
    std::optional<Call> call;
    for (Frozen& frozen : fields_) {
      if (only_reals && frozen.kind != SizeField::Kind::real) continue;
      if (text_at(task_, set.sizes, frozen.place) == frozen.field.frozen) continue;
      frozen.field.differed = true;
      if (!frozen.field.shown_by.empty()) continue;
      if (!call) {
        call.emplace(task_, set.sizes, values, kernel_, options_.rng_seed);
        if (!is_usable(*call, set, values)) return;
      }
      if (call->is_wrong(with_text(task_, set.sizes, frozen.place, frozen.field.frozen))) {
        frozen.field.shown_by = set.name + ", " + values.name;
      }
    }
  }

  // A judging leaves out values for which LibTorch does not hold.
  bool is_usable(Call& call, const Set& set, const OtherValues& values) const {
    if (values.family != nullptr && !call.says_something()) return false;
    if (!call.is_wrong(set.sizes)) return true;
    throw std::runtime_error(task_.name + ": the kernel is wrong with the judge's own sizes (" +
                             task_.fields.to_json(set.sizes).dump() + ", " + values.name +
                             "): judge it first");
  }

  const Task& task_;
  FrozenOptions options_;
  Kernel kernel_;
  std::vector<Frozen> fields_;
  std::deque<Set> sets_;  // which calls refer to
};

}  // namespace

std::vector<std::string> field_names(const Task& task) {
  std::vector<std::string> names;
  for (const Frozen& frozen : fields_of(task)) names.push_back(frozen.field.name);
  return names;
}

std::vector<FrozenField> check_frozen_fields(const Task& task, const RunnerOptions& kernel,
                                             const FrozenOptions& options) {
  return Check(task, kernel, options).run();
}

}  // namespace kb
