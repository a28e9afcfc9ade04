// A part is what one family's samples give in one output.
#include "acceptance/mixes.h"

#include <algorithm>

#include "acceptance/compare.h"
#include "acceptance/near_ties.h"

namespace kb {
namespace {

// Where the rows of a family begin; those of the last one end at share_begin(rows, count, count).
int64_t share_begin(int64_t rows, int64_t family, int64_t count) { return rows * family / count; }

bool has_rows(const TensorSpec& tensor, int64_t rows) {
  return !tensor.shape.empty() && tensor.numel() > 0 && tensor.shape[0] == rows;
}

bool may_have_samples(const TensorSpec& tensor) {
  return tensor.role == Role::output && !tensor.argument_of && !tensor.shape.empty();
}

struct Part {
  size_t output;
  Share share;
  TensorSpec spec;
  at::Tensor library;
  Expected oracle;
  Tolerance tolerance;
};

Part part_of(const Expectation& right, size_t output, const Share& share) {
  const TensorSpec& spec = right.outputs()[output];
  if (share.whole) {
    return {
        output, share, spec, right.library(output), right.exact(output), right.tolerance(output)};
  }
  Part part{output, share, share.of(spec), share.of(right.library(output)), right.exact(output),
            {}};
  const int64_t begin = share.first * (spec.numel() / spec.shape[0]);
  part.oracle =
      Expected(part.spec.numel(), [whole = part.oracle, begin](int64_t at, int64_t count) {
        return whole.range(begin + at, count);
      });
  part.tolerance = right.allowed(output, tolerance_of(part.spec, part.library, part.oracle));
  return part;
}

Comparison compare(const Expectation& right, const Part& part, const at::Tensor& got) {
  if (part.spec.argument_of) return right.compare(part.output, got);
  return compare_output(part.spec, part.share.of(got), part.oracle, part.tolerance);
}

// The indices of the whole output. Where else its part is wrong is not put into words.
Comparison in_whole(const Part& part, Comparison c) {
  if (part.share.whole) return c;
  c.worst->index[0] += part.share.first;
  for (WrongElement& element : c.worst->all.first) element.index[0] += part.share.first;
  c.worst->all.where.clear();
  return c;
}

bool library_holds(const Expectation& right, const Part& part) {
  return says_something(part.library, part.tolerance) &&
         !compare(right, part, right.library(part.output)).worst;
}

// Widens what these parts allow by what roundings cost, and drops those in which they decide. False
// where memory is too short.
bool allow_for_rounding(const Expectation& right, std::vector<Part>& parts, const Task& task,
                        const SizeBytes& sizes, at::Generator& rng) {
  if (right.is_short_of_memory()) return false;
  try {
    const std::vector<at::Tensor> exact = in_fp64(right.given());
    for (const Rounding rounding : {Rounding::each, Rounding::together}) {
      const auto is_allowed = [&](const Part& part) { return part.share.rounding == rounding; };
      for (int trial = 0; trial < rounding_trials; ++trial) {
        if (std::none_of(parts.begin(), parts.end(), is_allowed)) break;
        const std::vector<at::Tensor> outputs =
            outputs_of_rounded(task, sizes, exact, rounding, rng);
        std::erase_if(parts, [&](Part& part) {
          if (!is_allowed(part)) return false;
          const Tolerance cost =
              tolerance_of(part.spec, part.share.of(outputs.at(part.output)), part.oracle);
          part.tolerance =
              wider(part.tolerance, right.cost_of_rounding(part.output, rounding, cost));
          return rounding_decides(cost);
        });
      }
    }
    return true;
  } catch (const c10::OutOfMemoryError&) {
    return false;
  }
}

// ", positive in b", for results.
std::string in_others(const Mix& mix) {
  return mix.others.empty() ? "" : ", " + mix.families.front().name + " in " + mix.others;
}

}  // namespace

Mix in_turn(const std::vector<Family>& families, int64_t dimension,
            const std::vector<TensorSpec>& tensors) {
  Mix mix{.families = families, .dimension = dimension};
  bool has_matrix = false;
  for (const TensorSpec& input : tensors) {
    if (families.size() < 2 || !takes_families(input)) continue;
    const bool has_samples =
        std::any_of(tensors.begin(), tensors.end(), [&](const TensorSpec& output) {
          return may_have_samples(output) && has_rows(input, output.shape[0]);
        });
    const bool is_matrix = input.shape.size() == 2;
    if (dimension > 0 || (has_samples && !(is_matrix && has_matrix))) {
      mix.divided.push_back(input.name);
      if (dimension == 0) mix.samples = input.shape[0];
    } else {
      mix.others += (mix.others.empty() ? "" : ", ") + input.name;
    }
    has_matrix = has_matrix || is_matrix;
  }
  if (mix.divided.empty()) mix.families.resize(1);
  for (const Family& family : mix.families) {
    mix.name += (mix.name.empty() ? "" : ", ") + family.name;
  }
  if (mix.divided.empty()) return mix;
  mix.name += " along dimension " + std::to_string(dimension);
  mix.name += in_others(mix);
  return mix;
}

void Mix::fill(const TensorSpec& input, at::Tensor& out, at::Generator& rng) const {
  const int64_t along = std::min(dimension, out.dim() - 1);
  if (along < 0 || std::find(divided.begin(), divided.end(), input.name) == divided.end()) {
    return families.front().fill(out, rng);
  }
  const auto count = static_cast<int64_t>(families.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = share_begin(out.size(along), i, count);
    const int64_t end = share_begin(out.size(along), i + 1, count);
    at::Tensor place = out.narrow(along, begin, end - begin);
    if (place.numel() == 0) continue;
    at::Tensor part = place.contiguous();  // itself, or a copy
    families[i].fill(part, rng);
    if (!place.is_same(part)) place.copy_(part);
  }
}

at::Tensor Share::of(const at::Tensor& tensor) const {
  return whole ? tensor : tensor.narrow(0, first, count);
}

TensorSpec Share::of(TensorSpec spec) const {
  if (!whole) spec.shape[0] = count;
  return spec;
}

std::vector<Share> shares_of(const Mix& mix, const TensorSpec& output) {
  const auto add_up = [](const Family& family) { return family.rounding == Rounding::together; };
  if (mix.samples == 0 || !may_have_samples(output) || !has_rows(output, mix.samples)) {
    const bool together = std::any_of(mix.families.begin(), mix.families.end(), add_up);
    return {{.inputs = mix.name, .rounding = together ? Rounding::together : Rounding::each}};
  }
  const bool together = !mix.others.empty() && add_up(mix.families.front());
  std::vector<Share> shares;
  const auto count = static_cast<int64_t>(mix.families.size());
  for (int64_t i = 0; i < count; ++i) {
    const Family& family = mix.families[i];
    const int64_t begin = share_begin(output.shape[0], i, count);
    const int64_t end = share_begin(output.shape[0], i + 1, count);
    if (begin == end) continue;
    shares.push_back({.inputs = family.name + " in samples " + std::to_string(begin) + " to " +
                                std::to_string(end - 1) + " (numbers are of these)" +
                                in_others(mix),
                      .rounding = together ? Rounding::together : family.rounding,
                      .whole = false,
                      .first = begin,
                      .count = end - begin});
  }
  return shares;
}

MixJudgement judge_mix(const Expectation& right, const Mix& mix, const std::vector<at::Tensor>& got,
                       const Task& task, const SizeBytes& sizes, at::Generator& rng) {
  MixJudgement judgement;
  std::vector<Part> suspects;
  for (size_t i = 0; i < right.outputs().size(); ++i) {
    for (const Share& share : shares_of(mix, right.outputs()[i])) {
      Part part = part_of(right, i, share);
      if (!library_holds(right, part)) continue;
      judgement.holds = true;
      if (compare(right, part, got[i]).worst) suspects.push_back(std::move(part));
    }
  }
  if (suspects.empty()) return judgement;
  const bool allowed = allow_for_rounding(right, suspects, task, sizes, rng);
  NearTies ties(right, task, sizes, rng);
  for (const Part& part : suspects) {
    const at::Tensor& values = got[part.output];
    const Comparison c = compare(right, part, values);
    if (!c.worst || (!allowed && is_little(c))) continue;
    if (ties.explain(part.output, c, values,
                     [&](const at::Tensor& others) { return compare(right, part, others); })) {
      continue;
    }
    judgement.wrong = Wrong{part.output, in_whole(part, c)};
    judgement.inputs = part.share.inputs;
    break;
  }
  return judgement;
}

}  // namespace kb
