// Values are made in place on the tensor's device.
#include "judge/acceptance/families.h"

#include <algorithm>
#include <iterator>

namespace kb {
namespace {

at::Tensor uniform_like(const at::Tensor& t, at::IntArrayRef shape, double low, double high,
                        at::Generator& rng) {
  return at::empty(shape, t.options()).uniform_(low, high, rng);
}

at::Tensor coins(const at::Tensor& t, at::IntArrayRef shape, double probability,
                 at::Generator& rng) {
  return at::empty(shape, t.options().dtype(at::kBool)).bernoulli_(probability, rng);
}

// Signed, magnitudes from 2^-20 to 2^20.
void wide(at::Tensor& out, at::Generator& rng) {
  out.uniform_(-20, 20, rng).exp2_();
  out.copysign_(uniform_like(out, out.sizes(), -1, 1, rng));
}

void negative(at::Tensor& out, at::Generator& rng) {
  out.normal_(0, 1, rng).abs_().add_(0.01).neg_();
}

void far_negative(at::Tensor& out, at::Generator& rng) {
  out.normal_(0, 1, rng).abs_().add_(1).mul_(-1e4);
}

void positive(at::Tensor& out, at::Generator& rng) { out.normal_(0, 1, rng).abs_().add_(0.01); }

void offset(at::Tensor& out, at::Generator& rng) { out.normal_(1000, 1, rng); }

// Exponentials of these differ by more than the largest float.
void large_deviation(at::Tensor& out, at::Generator& rng) { out.normal_(0, 100, rng); }

void ties(at::Tensor& out, at::Generator& rng) { out.random_(-2, 3, rng); }

// Zeros of both signs among other values.
void zeros(at::Tensor& out, at::Generator& rng) {
  out.normal_(0, 1, rng);
  out.mul_(at::empty_like(out).bernoulli_(0.3, rng));
}

// Every row (the last dimension; a vector is one) has one element that outweighs the others.
void dominated(at::Tensor& out, at::Generator& rng) {
  out.normal_(0, 1, rng);
  if (out.numel() == 0 || out.dim() == 0) return;
  const at::Tensor rows = out.view({-1, out.size(-1)});
  const at::Tensor places =
      at::empty({rows.size(0), 1}, out.options().dtype(at::kLong)).random_(0, rows.size(1), rng);
  at::Tensor(rows).scatter_(1, places, uniform_like(out, places.sizes(), -1e4, 1e4, rng));
}

// Half of the groups are nearly constant: their variances are from 1e-8 to 1e-3, or zero. The
// others keep the size of the errors that a norm of the whole output allows.
// @param groups  the tensor's shape, with 1 for dimensions that belong to one group
void make_nearly_constant(at::Tensor& out, const std::vector<int64_t>& groups, at::Generator& rng) {
  out.normal_(0, 1, rng);
  const at::Tensor centre = at::empty(groups, out.options()).normal_(0, 1, rng);
  at::Tensor deviation = uniform_like(out, groups, -8, -3, rng);
  deviation = at::pow(10, deviation).sqrt_();
  deviation.masked_fill_(coins(out, groups, 0.25, rng), 0);
  const at::Tensor chosen = coins(out, groups, 0.5, rng);
  out.copy_(at::where(chosen, centre + deviation * out, out));
}

// A group is a row (the last dimension) or a sample (all but the first).
Fill nearly_constant(bool rows) {
  return [rows](at::Tensor& out, at::Generator& rng) {
    std::vector<int64_t> groups(out.dim(), 1);
    const int64_t count = rows ? out.dim() - 1 : std::min<int64_t>(out.dim() - 1, 1);
    for (int64_t d = 0; d < count; ++d) groups[d] = out.size(d);
    make_nearly_constant(out, groups, rng);
  };
}

// Groups along dimension 1, which batch normalisation has.
void nearly_constant_channels(at::Tensor& out, at::Generator& rng) {
  std::vector<int64_t> groups(out.dim(), 1);
  if (out.dim() > 1) groups[1] = out.size(1);
  make_nearly_constant(out, groups, rng);
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"upstream", nullptr},
      {"wide", wide},
      {"negative", negative, false},
      {"far_negative", far_negative},
      {"positive", positive, false},
      {"offset", offset, false},
      {"large_deviation", large_deviation},
      {"ties", ties, false},
      {"zeros", zeros},
      {"dominated", dominated},
      {"nearly_constant_samples", nearly_constant(false), false},
      {"nearly_constant_rows", nearly_constant(true), false},
      {"nearly_constant_channels", nearly_constant_channels, false},
  };
  return all;
}

std::vector<Family> for_large_sizes(const std::vector<Family>& families) {
  std::vector<Family> kept;
  std::copy_if(families.begin(), families.end(), std::back_inserter(kept),
               [](const Family& family) { return family.at_large_sizes; });
  return kept;
}

const std::vector<WeightFamily>& weight_families() {
  static const std::vector<WeightFamily> all = {{"large_weights", 4}, {"small_weights", 0.25}};
  return all;
}

bool takes_families(const TensorSpec& spec) {
  return spec.role == Role::input && at::isFloatingType(spec.dtype) && !spec.restricted;
}

bool takes_scales(const TensorSpec& spec) {
  return spec.role == Role::weight && at::isFloatingType(spec.dtype) && !spec.restricted;
}

}  // namespace kb
