// Each mutant is made from the right values, so that it is as close to them as a lazy candidate
// could come.
#include "lab/validity/mutants.h"

#include <algorithm>
#include <optional>

#include "judge/acceptance/rounding.h"

namespace kb {
namespace {

using at::Tensor;

// In the output's type, as a candidate would write it.
Tensor as_output(const TensorSpec& spec, const Tensor& t) {
  if (at::isFloatingType(spec.dtype)) return t.to(spec.dtype);
  return (spec.dtype == at::kBool ? t.to(at::kDouble).ge(0.5) : t.to(at::kDouble).round())
      .to(spec.dtype);
}

Tensor mean_of(const Tensor& t, at::OptionalIntArrayRef dims, bool keep) {
  const Tensor finite = at::nan_to_num(t.to(at::kDouble), 0.0, 0.0, 0.0);
  return dims ? finite.mean(dims, keep) : finite.mean();
}

// The first hundredth right, the rest zero.
Tensor only_start(const Tensor& t) {
  const int64_t kept = std::max<int64_t>(1, t.numel() / 100);
  Tensor out = at::zeros_like(t, at::MemoryFormat::Contiguous);
  out.view(-1).narrow(0, 0, kept).copy_(t.reshape(-1).narrow(0, 0, kept));
  return out;
}

// Zero in place of the last hundredth of what is not zero.
std::optional<Tensor> without_end(const Tensor& t) {
  const Tensor at = t.reshape(-1).nonzero().view(-1);
  if (at.numel() == 0) return std::nullopt;
  const int64_t lost = std::max<int64_t>(1, at.numel() / 100);
  Tensor out = t.contiguous().clone();
  out.view(-1).index_fill_(0, at.narrow(0, at.numel() - lost, lost), 0);
  return out;
}

// A tensor that holds one value per channel, such as a bias of shape (C, 1, 1).
bool is_vector(const TensorSpec& spec) {
  return std::count_if(spec.shape.begin(), spec.shape.end(), [](int64_t e) { return e > 1; }) <= 1;
}

// Each stretch of `stride` elements along `dim` shows its first element: held, or in place of all
// of them scaled up, as an estimate from a sample would count it.
Tensor sampled(const Tensor& t, int64_t dim, int64_t stride, bool held) {
  const Tensor index = at::arange(t.size(dim), at::kLong);
  if (held) return t.index_select(dim, index.floor_divide(stride).mul_(stride));
  Shape along(t.dim(), 1);
  along[dim] = t.size(dim);
  return t * index.remainder(stride).eq(0).mul(stride).to(t.scalar_type()).view(along);
}

class Collector {
 public:
  Collector(const std::vector<TensorSpec>& specs, const std::vector<Tensor>& given)
      : specs_(specs), given_(given) {}

  void replace(const std::string& what, size_t position, Tensor value) {
    std::vector<Tensor> changed = given_;
    changed[position] = std::move(value);
    found.push_back({what + ":" + specs_[position].name, Aspect::value, std::move(changed)});
  }

  void round(const std::string& name, Tensor (*rounded)(const Tensor&)) {
    std::vector<Tensor> changed = given_;
    bool any = false;
    for (Tensor& t : changed) {
      if (t.scalar_type() != at::kFloat) continue;
      t = rounded(t);
      any = true;
    }
    if (any) found.push_back({name, Aspect::precision, std::move(changed)});
  }

  void add_input(size_t position) {
    const Tensor& t = given_[position];
    replace("input_as_zeros", position, at::zeros_like(t));
    if (t.scalar_type() == at::kBool) replace("input_as_ones", position, at::ones_like(t));
    if (t.numel() > 1) {
      replace("input_shifted", position, t.reshape(-1).roll(1).view(t.sizes()));
    }
    if (!at::isFloatingType(t.scalar_type())) return;
    constexpr int64_t largest_stride = 64, fewest = 4;
    for (int64_t dim = 0; dim < t.dim(); ++dim) {
      const int64_t stride = std::min(largest_stride, t.size(dim) / fewest);
      if (stride < 2) continue;
      const std::string where = "_along_" + std::to_string(dim);
      replace("input_held" + where, position, sampled(t, dim, stride, true));
      replace("input_sampled" + where, position, sampled(t, dim, stride, false));
    }
  }

  void add_weight(size_t position, const Tensor& other) {
    const Tensor& t = given_[position];
    if (!is_vector(specs_[position])) {
      replace("other_weight", position, other);
      return;
    }
    replace("weight_as_zeros", position, at::zeros_like(t));
    replace("weight_as_ones", position, at::ones_like(t));
  }

  std::vector<ArgumentMutant> found;

 private:
  const std::vector<TensorSpec>& specs_;
  const std::vector<Tensor>& given_;
};

}  // namespace

std::vector<OutputMutant> output_mutants(const TensorSpec& spec, const Tensor& right,
                                         const Tensor& other) {
  std::vector<OutputMutant> all;
  const bool several = right.numel() > 1;
  const auto add = [&](const char* name, const Tensor& value) {
    all.push_back({name, as_output(spec, value)});
  };
  add("zeros", at::zeros_like(right));
  add("ones", at::ones_like(right));
  add("other_call", other);
  if (several) {
    add("mean", mean_of(right, std::nullopt, false).expand(right.sizes()).contiguous());
    add("first_percent", only_start(right));
    if (const auto cut = without_end(right)) add("last_percent_zero", *cut);
  }
  if (right.dim() > 0 && right.size(0) > 1) {
    add("rows_shifted", right.roll(1, 0));
    if (right.numel() > right.size(0)) {
      add("batch_mean", mean_of(right, 0, true).expand(right.sizes()).contiguous());
    }
  }
  if (right.dim() > 1 && right.size(-1) > 1) add("columns_shifted", right.roll(1, -1));
  return all;
}

std::vector<OutputMutant> identity_mutants(const TensorSpec& output,
                                           const std::vector<TensorSpec>& specs,
                                           const std::vector<Tensor>& given) {
  std::vector<OutputMutant> all;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].numel() != output.numel()) continue;
    all.push_back({"identity:" + specs[i].name, as_output(output, given[i].view(output.shape))});
  }
  return all;
}

std::vector<ArgumentMutant> argument_mutants(const std::vector<TensorSpec>& specs,
                                             const std::vector<Tensor>& given,
                                             const std::vector<Tensor>& other) {
  constexpr size_t most_weights = 64;
  const auto is_weight = [](const TensorSpec& s) { return s.role == Role::weight; };
  const auto weights = static_cast<size_t>(std::count_if(specs.begin(), specs.end(), is_weight));
  const size_t every = (weights + most_weights - 1) / most_weights;
  Collector collector(specs, given);
  std::vector<Tensor> other_weights = given;
  size_t seen = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].role == Role::input) {
      collector.add_input(i);
      continue;
    }
    other_weights[i] = other[i];
    if (seen++ % every == 0) collector.add_weight(i, other[i]);
  }
  if (weights > 0) {
    collector.found.push_back({"other_weights", Aspect::value, std::move(other_weights)});
  }
  collector.round("tf32_operands", rounded_to_tf32);
  collector.round("bf16_operands", rounded_to_bf16);
  return std::move(collector.found);
}

}  // namespace kb
