// Both runs of the reference, the noisy ones where they are needed, and the choice between the ways
// of comparing.
#include "acceptance/expectation.h"

#include <algorithm>
#include <utility>

#include "acceptance/noise.h"

namespace kb {

std::vector<at::Tensor> in_fp64(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& t : tensors) {
    out.push_back(at::isFloatingType(t.scalar_type()) ? t.to(at::kDouble) : t);
  }
  return out;
}

std::vector<at::Tensor> on_host(std::vector<at::Tensor> tensors, bool wanted) {
  if (!wanted) return tensors;
  for (at::Tensor& t : tensors) t = t.to(at::kCPU);
  return tensors;
}

Expectation::Expectation(Task task, SizeBytes sizes, std::vector<at::Tensor> given,
                         uint64_t noise_seed, const OraclePlan& plan, const FirstRows& first_rows)
    : task_(std::move(task)),
      sizes_(std::move(sizes)),
      given_(std::move(given)),
      library_(on_host(task_.reference(sizes_, given_), plan.on_host)),
      noise_seed_(noise_seed),
      noise_slicing_(plan.slicing),
      noise_on_host_(plan.oracle_on_host) {
  if (plan.slicing) {
    oracle_ = plan.slicing->oracle(task_, sizes_, given_);
  } else {
    const auto exact = task_.reference(sizes_, in_fp64(on_host(given_, plan.oracle_on_host)));
    oracle_ = {exact.begin(), exact.end()};
  }
  for (const TensorSpec& spec : task_.tensors(sizes_)) {
    if (spec.role == Role::input) inputs_.push_back(spec);
    if (spec.role == Role::output) outputs_.push_back(spec);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorSpec& spec = outputs_[i];
    TORCH_CHECK(library_.at(i).sizes() == c10::IntArrayRef(spec.shape) &&
                    oracle_.at(i).numel() == library_[i].numel(),
                task_.name, ": output '", spec.name,
                "' is declared with another shape than reference() returns");
    spreads_.emplace_back();
    if (!at::isFloatingType(spec.dtype)) continue;
    spreads_[i].emplace(spec, library_[i], oracle_[i],
                        first_rows ? first_rows(spec) : std::vector<int64_t>{});
  }
}

at::Tensor Expectation::oracle(size_t output) const {
  const Expected& oracle = oracle_.at(output);
  return oracle.range(0, oracle.numel()).view(outputs_[output].shape);
}

Comparison Expectation::compare(size_t output, const at::Tensor& got) {
  const TensorSpec& spec = outputs_.at(output);
  if (spec.argument_of) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].name == spec.argument_of->input) {
        return compare_argument(spec, got, oracle_.at(output), given_[i]);
      }
    }
    TORCH_CHECK(false, "output '", spec.name, "' names positions in '", spec.argument_of->input,
                "', which is no input");
  }
  auto& spread = spreads_[output];
  if (!spread) return compare_output(spec, got, oracle_.at(output), {});
  constexpr int most_pairs = 4;
  Comparison c = spread->compare(got);
  for (int pairs = 1; c.worst && pairs <= most_pairs; pairs *= 2) {
    while (pairs_ < pairs) add_noise();
    c = spread->compare(got);
  }
  return c;
}

void Expectation::add_noise() {
  // Odd multiples of it differ for all pairs.
  const uint64_t seed = noise_seed_ + 0x9E3779B97F4A7C15 * static_cast<uint64_t>(++pairs_);
  const std::vector<Expected> one = moves_of({seed, 1}), other = moves_of({seed, -1});
  for (size_t i = 0; i < spreads_.size(); ++i) {
    if (spreads_[i]) spreads_[i]->add({one[i], other[i]});
  }
}

// What noise moves the outputs by: as a whole, else in slices, else in the host's memory.
std::vector<Expected> Expectation::moves_of(const NoiseSeed& noise) {
  if (noise_slicing_) return moves_in_slices(noise);
  if (!noise_on_host_) {
    try {
      return moves_as_a_whole(noise);
    } catch (const c10::OutOfMemoryError&) {
      noise_slicing_ = Slicing::find(task_);
      noise_on_host_ = !noise_slicing_;
    }
  }
  return noise_slicing_ ? moves_in_slices(noise) : moves_as_a_whole(noise);
}

std::vector<Expected> Expectation::moves_in_slices(const NoiseSeed& noise) const {
  const std::vector<Expected> noisy = noise_slicing_->oracle(task_, sizes_, given_, noise);
  std::vector<Expected> moves;
  for (size_t i = 0; i < noisy.size(); ++i) {
    const at::ScalarType type = outputs_[i].dtype;
    moves.emplace_back(noisy[i].numel(),
                       [run = noisy[i], plain = oracle_[i], type](int64_t first, int64_t count) {
                         const at::Tensor z = run.range(first, count);
                         return in_range(z, type) - in_range(plain.range(first, count), type);
                       });
  }
  return moves;
}

std::vector<Expected> Expectation::moves_as_a_whole(const NoiseSeed& noise) const {
  const std::vector<at::Tensor> noisy = with_noise(roundings_of_contract(), noise, [&] {
    return task_.reference(sizes_, in_fp64(on_host(given_, noise_on_host_)));
  });
  std::vector<Expected> moves;
  for (size_t i = 0; i < noisy.size(); ++i) {
    const at::ScalarType type = outputs_[i].dtype;
    const at::Tensor plain = oracle(i).to(noisy[i].device());
    // fp32: half of the memory, and more digits than a move needs.
    moves.emplace_back(
        spreads_[i] ? (in_range(noisy[i], type) - in_range(plain, type)).to(at::kFloat) : noisy[i]);
  }
  return moves;
}

bool Expectation::says_something() {
  return std::any_of(spreads_.begin(), spreads_.end(),
                     [](auto& spread) { return !spread || spread->says_something(); });
}

Tolerance Expectation::tolerance(size_t output) {
  auto& spread = spreads_.at(output);
  return spread ? spread->tolerance() : Tolerance{};
}

Comparison Expectation::compare_exact(size_t output, const at::Tensor& got) const {
  return compare_output(outputs_.at(output), got, oracle_.at(output),
                        exact_tolerance(outputs_.at(output), library(output), oracle_.at(output)));
}

}  // namespace kb
