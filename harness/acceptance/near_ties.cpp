// Two pairs of mirror images, worked through in slices.
#include "acceptance/near_ties.h"

#include <algorithm>

#include "acceptance/rounding.h"
#include "acceptance/slices.h"

namespace kb {
namespace {

constexpr int pairs = 2;
constexpr double roundings = 32 * float_roundoff;

// One of so many elements may be wrong: the output of a row that took another score is one of
// hundreds.
constexpr int64_t few = 16;

// By how much of itself each element is off. Each slice along each dimension is off together: a sum
// over some dimensions keeps what the others are off by, whereas errors of single elements cancel
// in it.
class RelativeErrors {
 public:
  RelativeErrors(const std::vector<at::Tensor>& given, at::Generator& rng) {
    for (const at::Tensor& t : given) {
      std::vector<at::Tensor> along;
      for (int64_t d = 0; at::isFloatingType(t.scalar_type()) && d < t.dim(); ++d) {
        along.push_back(at::empty({t.size(d)}, t.options().dtype(at::kDouble))
                            .uniform_(-roundings, roundings, rng));
      }
      along_.push_back(std::move(along));
    }
  }

  // See Change. @param sign -1 for the mirror image
  at::Tensor applied(size_t index, const at::Tensor& part, int64_t dim, int64_t first,
                     double sign) const {
    at::Tensor factor = at::ones_like(part);
    for (int64_t d = 0; d < static_cast<int64_t>(along_[index].size()); ++d) {
      std::vector<int64_t> shape(part.dim(), 1);
      shape[d] = part.size(d);
      const at::Tensor errors = along_[index][d].narrow(0, d == dim ? first : 0, shape[d]);
      factor.add_(errors.view(shape).to(factor.device()), sign);
    }
    return along_[index].empty() ? part : factor.mul_(part);
  }

 private:
  std::vector<std::vector<at::Tensor>> along_;
};

}  // namespace

void NearTies::find() {
  for (const TensorSpec& spec : right_.outputs()) {
    const bool is_floating = at::isFloatingType(spec.dtype);
    const at::Tensor& like = right_.library(between_.size());
    const at::Tensor none =
        is_floating ? at::zeros({spec.numel()},
                                like.options().dtype(at::promoteTypes(spec.dtype, at::kFloat)))
                    : at::Tensor();
    between_.push_back({none, is_floating ? none.clone() : none});
  }
  for (int pair = 0; pair < pairs; ++pair) {
    const RelativeErrors errors(right_.given(), rng_);
    const auto image = [&](double sign) {
      return right_.exact_with(
          task_, sizes_, [&errors, sign](size_t i, const at::Tensor& part, int64_t d, int64_t at) {
            return errors.applied(i, part, d, at, sign);
          });
    };
    const std::vector<Expected> one = image(1), other = image(-1);
    for (size_t i = 0; i < between_.size(); ++i) {
      if (!between_[i].low.defined()) continue;
      for_slices(right_.exact(i).numel(), [&](int64_t first, int64_t count) {
        const at::Tensor y = right_.exact(i).range(first, count).to(at::kDouble);
        const at::Tensor to_one = one[i].range(first, count).to(y) - y;
        const at::Tensor to_other = other[i].range(first, count).to(y) - y;
        const at::Tensor moved = at::maximum(to_one.abs(), to_other.abs());
        const at::Tensor in_proportion = (to_one + to_other).abs_().gt(moved / 4).logical_not_();
        const auto widen = [&](at::Tensor whole, const at::Tensor& bound, auto outermost) {
          at::Tensor slice = whole.narrow(0, first, count);
          slice.copy_(outermost(slice, bound.masked_fill(in_proportion, 0).to(slice)));
        };
        widen(between_[i].low, at::minimum(to_one, to_other),
              [](const auto& a, const auto& b) { return at::minimum(a, b); });
        widen(between_[i].high, at::maximum(to_one, to_other),
              [](const auto& a, const auto& b) { return at::maximum(a, b); });
      });
    }
  }
}

// As far from the oracle as it is from what lies between. NaN and infinity stay.
at::Tensor NearTies::settled(size_t output, const at::Tensor& got) const {
  const Expected& exact = right_.exact(output);
  const Range& between = between_[output];
  at::Tensor values = got.reshape(-1).clone();
  for_slices(exact.numel(), [&](int64_t first, int64_t count) {
    at::Tensor slice = values.narrow(0, first, count);
    const at::Tensor y = exact.range(first, count).to(at::kDouble);
    const at::Tensor low = between.low.narrow(0, first, count).to(y);
    const at::Tensor high = between.high.narrow(0, first, count).to(y);
    const at::Tensor off = slice.to(y) - y;
    const at::Tensor nearer = y + (off - at::minimum(at::maximum(off, low), high));
    const at::Tensor decided = low.eq(high).logical_or_(at::isfinite(off).logical_not_());
    slice.copy_(at::where(decided.to(slice.device()), slice, nearer.to(slice)));
  });
  return values.view(got.sizes());
}

bool NearTies::explain(size_t output, const Comparison& wrong, const at::Tensor& got,
                       const std::function<Comparison(const at::Tensor&)>& compare) {
  if (!at::isFloatingType(got.scalar_type())) return false;
  if (few * wrong.worst->all.count > wrong.elements) return false;
  try {
    if (between_.empty()) find();
    return !compare(settled(output, got)).worst;
  } catch (const c10::OutOfMemoryError&) {
    between_.clear();
    return false;
  }
}

}  // namespace kb
