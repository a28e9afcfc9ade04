// A part is what one family's samples give in one output.
#include "acceptance/mixes.h"

#include <algorithm>

#include "acceptance/compare.h"

namespace kb {
namespace {

// Where the rows of a family begin; those of the last one end at share_begin(rows, count, count).
int64_t share_begin(int64_t rows, int64_t family, int64_t count) { return rows * family / count; }

bool has_samples_of_an_input(const TensorSpec& output, const std::vector<TensorSpec>& tensors) {
  return !output.shape.empty() && output.numel() > 0 && !output.argument_of &&
         std::any_of(tensors.begin(), tensors.end(), [&](const TensorSpec& input) {
           return takes_families(input) && !input.shape.empty() &&
                  input.shape[0] == output.shape[0];
         });
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
          part.tolerance = wider(part.tolerance, cost);
          return rounding_decides(cost);
        });
      }
    }
    return true;
  } catch (const c10::OutOfMemoryError&) {
    return false;
  }
}

}  // namespace

Mix in_turn(const std::vector<Family>& families, int64_t dimension) {
  Mix mix{.families = families, .divides_samples = families.size() > 1 && dimension == 0};
  for (const Family& family : families) mix.name += (mix.name.empty() ? "" : ", ") + family.name;
  if (families.size() > 1) mix.name += " along dimension " + std::to_string(dimension);
  mix.fill = [families, dimension](at::Tensor& out, at::Generator& rng) {
    const int64_t along = std::min(dimension, out.dim() - 1);
    if (along < 0) return families.front().fill(out, rng);
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
  };
  return mix;
}

at::Tensor Share::of(const at::Tensor& tensor) const {
  return whole ? tensor : tensor.narrow(0, first, count);
}

TensorSpec Share::of(TensorSpec spec) const {
  if (!whole) spec.shape[0] = count;
  return spec;
}

std::vector<Share> shares_of(const Mix& mix, const TensorSpec& output,
                             const std::vector<TensorSpec>& tensors) {
  if (!mix.divides_samples || !has_samples_of_an_input(output, tensors)) {
    const bool together =
        std::any_of(mix.families.begin(), mix.families.end(),
                    [](const Family& family) { return family.rounding == Rounding::together; });
    return {{.inputs = mix.name, .rounding = together ? Rounding::together : Rounding::each}};
  }
  std::vector<Share> shares;
  const auto count = static_cast<int64_t>(mix.families.size());
  for (int64_t i = 0; i < count; ++i) {
    const Family& family = mix.families[i];
    const int64_t begin = share_begin(output.shape[0], i, count);
    const int64_t end = share_begin(output.shape[0], i + 1, count);
    if (begin == end) continue;
    shares.push_back({.inputs = family.name + " in samples " + std::to_string(begin) + " to " +
                                std::to_string(end - 1) + " (numbers are of these)",
                      .rounding = family.rounding,
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
  const std::vector<TensorSpec> tensors = task.tensors(sizes);
  for (size_t i = 0; i < right.outputs().size(); ++i) {
    for (const Share& share : shares_of(mix, right.outputs()[i], tensors)) {
      Part part = part_of(right, i, share);
      if (!library_holds(right, part)) continue;
      judgement.holds = true;
      if (compare(right, part, got[i]).worst) suspects.push_back(std::move(part));
    }
  }
  if (suspects.empty()) return judgement;
  const bool allowed = allow_for_rounding(right, suspects, task, sizes, rng);
  for (const Part& part : suspects) {
    const Comparison c = compare(right, part, got[part.output]);
    if (!c.worst || (!allowed && is_little(c))) continue;
    judgement.wrong = Wrong{part.output, in_whole(part, c)};
    judgement.inputs = part.share.inputs;
    break;
  }
  return judgement;
}

}  // namespace kb
