// Families get rows in their order.
#include "judge/acceptance/mixes.h"

#include <algorithm>

#include "judge/acceptance/precision.h"

namespace kb {
namespace {

// Where the rows of a family begin; those of the last one end at range_begin(rows, count, count).
int64_t range_begin(int64_t rows, int64_t family, int64_t count) { return rows * family / count; }

bool has_rows(const TensorSpec& tensor, int64_t rows) {
  return !tensor.shape.empty() && tensor.numel() > 0 && tensor.shape[0] == rows;
}

bool may_have_samples(const TensorSpec& tensor) {
  return tensor.role == Role::output && !tensor.argument_of && !tensor.shape.empty();
}

// ", positive in b", for results.
std::string in_others(const Mix& mix) {
  return mix.others.empty() ? "" : ", " + mix.families.front().name + " in " + mix.others;
}

}  // namespace

Mix divide(const std::vector<Family>& families, int64_t dimension,
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
  const bool is_divided =
      along >= 0 && std::find(divided.begin(), divided.end(), input.name) != divided.end();
  const auto count = is_divided ? static_cast<int64_t>(families.size()) : 0;
  if (!is_divided) families.front().fill(out, rng);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = range_begin(out.size(along), i, count);
    const int64_t end = range_begin(out.size(along), i + 1, count);
    at::Tensor place = out.narrow(along, begin, end - begin);
    if (place.numel() == 0) continue;
    at::Tensor part = place.contiguous();  // itself, or a copy
    families[i].fill(part, rng);
    if (!place.is_same(part)) place.copy_(part);
  }
  const double largest = largest_value(input.dtype);
  out.clamp_(-largest, largest);
}

at::Tensor SampleRange::of(const at::Tensor& tensor) const {
  return whole ? tensor : tensor.narrow(0, first, count);
}

TensorSpec SampleRange::of(TensorSpec spec) const {
  if (!whole) spec.shape[0] = count;
  return spec;
}

std::vector<SampleRange> sample_ranges(const Mix& mix, const TensorSpec& output) {
  if (mix.samples == 0 || !may_have_samples(output) || !has_rows(output, mix.samples)) {
    return {{.inputs = mix.name}};
  }
  std::vector<SampleRange> ranges;
  const auto count = static_cast<int64_t>(mix.families.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = range_begin(output.shape[0], i, count);
    const int64_t end = range_begin(output.shape[0], i + 1, count);
    if (begin == end) continue;
    ranges.push_back({.inputs = mix.families[i].name + " in samples " + std::to_string(begin) +
                                " to " + std::to_string(end - 1) + in_others(mix),
                      .whole = false,
                      .first = begin,
                      .count = end - begin});
  }
  return ranges;
}

FirstRows first_rows(const Mix& mix) {
  return [mix](const TensorSpec& output) {
    std::vector<int64_t> begins;
    if (output.shape.size() != 1) return begins;
    for (const SampleRange& range : sample_ranges(mix, output)) begins.push_back(range.first);
    return begins;
  };
}

std::optional<WrongInMix> judge_mix(Expectation& right, const Mix& mix,
                                    const std::vector<at::Tensor>& got) {
  for (size_t i = 0; i < right.outputs().size(); ++i) {
    Comparison c = right.compare(i, got[i]);
    if (!c.worst) continue;
    std::string inputs = mix.name;
    for (const SampleRange& range : sample_ranges(mix, right.outputs()[i])) {
      if (range.whole) break;
      const int64_t sample = c.worst->index.front();
      if (sample >= range.first && sample < range.first + range.count) inputs = range.inputs;
    }
    return WrongInMix{{i, std::move(c)}, std::move(inputs)};
  }
  return std::nullopt;
}

}  // namespace kb
