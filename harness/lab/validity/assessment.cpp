// A mutant is killed if the rule rejects any of its outputs.
#include "lab/validity/assessment.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "judge/acceptance/canary.h"
#include "judge/acceptance/drawn_sizes.h"
#include "judge/acceptance/expectation.h"
#include "judge/acceptance/families.h"
#include "judge/acceptance/mixes.h"
#include "judge/acceptance/precision.h"
#include "judge/acceptance/rounding.h"
#include "lab/validity/mutants.h"
#include "lab/validity/stages.h"

namespace kb {
namespace {

using at::Tensor;

constexpr double fp64_per_fp32 = 0x1p-29;

// Relative distance of two results in the 2-norm; infinite if special values stand elsewhere.
double distance(const Tensor& a, const Tensor& b) {
  if (!at::isFloatingType(b.scalar_type())) return at::equal(a, b) ? 0.0 : INFINITY;
  if (!at::equal(a.isfinite(), b.isfinite())) return INFINITY;
  const auto norm = [](const Tensor& t) {
    return at::nan_to_num(t, 0.0, 0.0, 0.0).norm().item<double>();
  };
  const double off = norm(a - b);
  return off == 0 ? 0.0 : off / norm(b);
}

// Values other than a task's own, as a judging has them.
struct OtherValues {
  const Family* family = nullptr;  // of inputs
  double weight_scale = 1;
};

std::vector<OtherValues> other_values(const Task& task) {
  std::vector<OtherValues> all;
  for (const Family& family : families()) {
    if (family.fill) all.push_back({.family = &family});
  }
  if (weights_read(task) >= weights_of_network) {
    for (const WeightFamily& family : weight_families()) {
      all.push_back({.weight_scale = family.scale});
    }
  }
  return all;
}

// One task at one set of sizes with one draw of everything.
class Assessor {
 public:
  Assessor(const Task& task, const AssessmentOptions& options, const OtherValues& values = {})
      : values_(values),
        task_(task),
        sizes_(options.set == "odd" ? task.odd : task.smoke),
        inputs_(options.inputs == "compat" ? InputKind::compat : InputKind::standard),
        rng_(make_rng(at::kCPU, options.rng_seed)),
        specs_(task.given(sizes_)) {
    given_ = draw(inputs_);
    other_ = draw(inputs_);
    right_.emplace(task_, sizes_, given_, options.rng_seed);
    canary_ = Canary::find(task_, sizes_,
                           inputs_ == InputKind::standard ? given_ : draw(InputKind::standard));
  }

  /// Whether LibTorch holds for these values; where it does not, a judging leaves them out.
  bool holds() {
    for (size_t i = 0; i < right_->outputs().size(); ++i) {
      if (right_->whole_oracle(i).isnan().any().item<bool>()) return false;
    }
    return right_->says_something();
  }

  Assessment run() {
    for (size_t i = 0; i < right_->outputs().size(); ++i) check_honest(i);
    for (size_t i = 0; i < right_->outputs().size(); ++i) try_outputs(i);
    for (const ArgumentMutant& mutant : argument_mutants(specs_, given_, other_)) {
      try_arguments(mutant);
    }
    try_stages();
    if (canary_) try_canary();
    return std::move(result_);
  }

 private:
  std::vector<Tensor> draw(InputKind inputs) {
    std::vector<Tensor> values;
    for (const TensorSpec& spec : specs_) {
      values.push_back(at::empty(spec.shape, spec.dtype));
      Tensor& value = values.back();
      if (values_.family != nullptr && takes_families(spec)) {
        const Mix mix{.name = values_.family->name, .families = {*values_.family}};
        draw_values(
            value, [&](Tensor& out, at::Generator& g) { mix.fill(spec, out, g); }, rng_);
      } else {
        spec.draw(value, inputs, rng_);
        if (takes_scales(spec)) value.mul_(values_.weight_scale);
      }
    }
    return values;
  }

  // Whatever else is wrong, the right answer must pass.
  void check_honest(size_t output) {
    const TensorSpec& spec = right_->outputs()[output];
    TORCH_CHECK(!right_->whole_oracle(output).isnan().any().item<bool>(), task_.name, ": output '",
                spec.name, "' has NaN under its own inputs");
    TORCH_CHECK(!right_->compare(output, right_->torch(output)).worst &&
                    !right_->compare(output, right_->whole_oracle(output).to(spec.dtype)).worst,
                task_.name, ": the reference's own output '", spec.name, "' is rejected");
  }

  // Several outputs are spoiled one at a time; each must matter.
  std::string label(const std::string& mutant, size_t output) const {
    return right_->outputs().size() == 1 ? mutant : mutant + "@" + right_->outputs()[output].name;
  }

  void record(const std::string& name, Fate fate, const Comparison& c, bool may_survive = false) {
    result_.trials.push_back({name, fate, c.error, c.bound, may_survive});
  }

  void try_outputs(size_t i) {
    const TensorSpec& spec = right_->outputs()[i];
    if (spec.numel() == 0) return;
    const Tensor& oracle = right_->whole_oracle(i);
    std::vector<Tensor> other_inputs = given_;
    for (size_t k = 0; k < specs_.size(); ++k) {
      if (specs_[k].role == Role::input) other_inputs[k] = other_[k];
    }
    const Tensor other = task_.reference(sizes_, in_fp64(other_inputs)).at(i);
    std::vector<OutputMutant> mutants = output_mutants(spec, oracle, other);
    for (OutputMutant& m : identity_mutants(spec, specs_, given_)) mutants.push_back(std::move(m));
    for (const OutputMutant& mutant : mutants) {
      const Comparison c = right_->compare(i, mutant.value);
      record(label(mutant.name, i), c.worst ? Fate::killed : Fate::survived, c);
    }
    if (at::isFloatingType(spec.dtype)) {
      const Tensor rounded = rounded_to_bf16(oracle.to(spec.dtype));
      record_rounded(label("bf16_output", i), distance(rounded.to(at::kDouble), oracle),
                     right_->compare(i, rounded));
    }
  }

  // Rounding that leaves the result as it is within fp32's own error gives a right answer.
  void record_rounded(const std::string& name, double distance, const Comparison& c) {
    const Fate fate = c.worst                           ? Fate::killed
                      : distance <= 32 * float_roundoff ? Fate::equivalent
                                                        : Fate::survived;
    record(name, fate, c, /*may_survive=*/true);
  }

  void try_arguments(const ArgumentMutant& mutant) {
    try_results(mutant.name, mutant.aspect, task_.reference(sizes_, in_fp64(mutant.given)));
  }

  void try_stages() {
    const std::vector<Tensor> exact = in_fp64(given_);
    const Outputs run = [&] { return task_.reference(sizes_, exact); };
    for (const Stage& stage : stages(run)) {
      try_results("without_" + stage.name, Aspect::stage, run_without(stage, run));
    }
  }

  // All outputs of a reference that went wrong somewhere.
  void try_results(const std::string& name, Aspect aspect, const std::vector<Tensor>& got) {
    bool without_effect = true;
    std::optional<Comparison> decisive;
    for (size_t i = 0; i < right_->outputs().size(); ++i) {
      const TensorSpec& spec = right_->outputs()[i];
      const Comparison c = right_->compare(i, got.at(i).to(spec.dtype));
      if (!decisive || (c.worst && !decisive->worst)) decisive = c;
      const double limit = aspect == Aspect::precision
                               ? rounding_limit(spec)
                               : 64 * fp64_per_fp32 * std::max(c.torch_error, float_roundoff);
      if (distance(got.at(i), right_->whole_oracle(i)) > limit) without_effect = false;
    }
    record(name,
           decisive->worst  ? Fate::killed
           : without_effect ? Fate::equivalent
                            : Fate::survived,
           *decisive,
           aspect == Aspect::precision ||
               (aspect == Aspect::stage && weights_read(task_) >= weights_of_network));
  }

  // Where tensor cores could do the work, rounded operands must show: no excuse for drowning them.
  double rounding_limit(const TensorSpec& output) const {
    if (!at::isFloatingType(output.dtype)) return INFINITY;
    return uses_matrices() ? 0.0 : 32 * float_roundoff;
  }

  bool uses_matrices() const {
    return canary_ || std::any_of(specs_.begin(), specs_.end(), [](const TensorSpec& s) {
             return s.role == Role::weight && s.dtype == at::kFloat &&
                    std::count_if(s.shape.begin(), s.shape.end(), [](int64_t e) { return e > 1; }) >
                        1;
           });
  }

  void try_canary() {
    for (size_t call = 0; call < canary_->calls(); ++call) {
      result_.canary.push_back(canary_->operand(call));
      const Expectation right(task_, sizes_, canary_->arguments(call), /*noise_seed=*/0);
      try_canary(right, call, "canary_tf32:", rounded_to_tf32);
      try_canary(right, call, "canary_bf16:", rounded_to_bf16);
    }
  }

  void try_canary(const Expectation& right, size_t call, const std::string& name,
                  Tensor (*rounded)(const Tensor&)) {
    std::vector<Tensor> given = right.given();
    Tensor& operand = given[canary_->position(call)];
    operand = rounded(operand);
    const std::vector<Tensor> got = task_.reference(sizes_, in_fp64(given));
    for (size_t i = 0; i < got.size(); ++i) {
      const at::ScalarType dtype = right.outputs()[i].dtype;
      TORCH_CHECK(!right.compare_integers(i, right.torch(i)).worst, task_.name,
                  ": LibTorch fails the precision canary");
      const Comparison c = right.compare_integers(i, got[i].to(dtype));
      record(label(name + canary_->operand(call), i), c.worst ? Fate::killed : Fate::survived, c);
    }
  }

  OtherValues values_;
  const Task& task_;
  SizeBytes sizes_;
  InputKind inputs_;
  at::Generator rng_;
  std::vector<TensorSpec> specs_;  // inputs and weights, in reference()'s order
  std::vector<Tensor> given_, other_;
  std::optional<Expectation> right_;
  std::optional<Canary> canary_;
  Assessment result_;
};

}  // namespace

std::vector<std::string> Assessment::names(Fate fate) const {
  std::vector<std::string> found;
  for (const Trial& trial : trials) {
    if (trial.fate == fate) found.push_back(trial.name);
  }
  return found;
}

int64_t Assessment::killed() const { return static_cast<int64_t>(names(Fate::killed).size()); }

int64_t Assessment::applicable() const {
  return killed() + static_cast<int64_t>(names(Fate::survived).size());
}

// A kernel is wrong if one of its calls is, so what the task's own values do not show, others may.
Assessment assess(const Task& task, const AssessmentOptions& options) {
  Assessment result = Assessor(task, options).run();
  if (options.inputs != "default") return result;
  for (const OtherValues& values : other_values(task)) {
    const bool is_done = std::none_of(
        result.trials.begin(), result.trials.end(),
        [](const Trial& trial) { return trial.fate == Fate::survived && !trial.may_survive; });
    if (is_done) break;
    Assessor assessor(task, options, values);
    if (!assessor.holds()) continue;
    std::map<std::string, Trial> others;
    for (Trial& trial : assessor.run().trials) others.emplace(trial.name, trial);
    for (Trial& trial : result.trials) {
      const auto other = others.find(trial.name);
      if (trial.fate != Fate::survived || other == others.end()) continue;
      if (other->second.fate == Fate::killed) trial = other->second;
    }
  }
  return result;
}

Json to_json(const Task& task, const AssessmentOptions& options, const Assessment& assessment) {
  Json mutants = Json::array();
  for (const Trial& trial : assessment.trials) {
    mutants.push_back({{"name", trial.name},
                       {"fate", to_string(trial.fate)},
                       {"error", trial.error},
                       {"bound", trial.bound}});
  }
  return {{"schema", 1},
          {"level", task.level()},
          {"task", task.slug()},
          {"category", task.category},
          {"set", options.set},
          {"inputs", options.inputs},
          {"rng_seed", std::to_string(options.rng_seed)},
          {"killed", assessment.killed()},
          {"applicable", assessment.applicable()},
          {"survivors", assessment.names(Fate::survived)},
          {"equivalent", assessment.names(Fate::equivalent)},
          {"degenerate", task.degenerate.empty() ? Json() : Json(task.degenerate)},
          {"canary", assessment.canary},
          {"mutants", mutants}};
}

}  // namespace kb
