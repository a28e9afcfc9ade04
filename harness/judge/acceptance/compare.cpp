// Works through outputs of gigabytes in slices, in fp64, on the device where they lie.
#include "judge/acceptance/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "judge/acceptance/precision.h"
#include "judge/acceptance/slices.h"

namespace kb {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double squared_norm(const Oracle& values) {
  double sum = 0;
  for_slices(values.numel(), [&](int64_t first, int64_t count) {
    sum += finite(values.range(first, count).to(at::kDouble)).square_().sum().item<double>();
  });
  return sum;
}

// What the oracle and LibTorch say about an output as a whole.
struct Norms {
  double oracle_squared = 0, torch_squared = 0, torch_max = 0;
};

Norms measure(const at::Tensor& torch, const Oracle& oracle) {
  Norms norms;
  for_slices(oracle.numel(), [&](int64_t first, int64_t count) {
    const at::Tensor values = oracle.range(first, count).to(at::kDouble);
    norms.oracle_squared += finite(values).square_().sum().item<double>();
    const at::Tensor off = finite(flat_slice(torch, first, count).to(values) - values);
    norms.torch_squared += off.square().sum().item<double>();
    norms.torch_max = std::max(norms.torch_max, off.abs().max().item<double>());
  });
  return norms;
}

double element(const at::Tensor& t, int64_t at) {
  return flat_slice(t, at, 1).to(at::kDouble).item<double>();
}

// The first wrong element of an output whose elements are right or wrong and nothing between.
// @param wrong  bool per element
std::optional<Worst> worst_position(const TensorSpec& spec, const at::Tensor& wrong,
                                    const at::Tensor& got, const at::Tensor& expected) {
  if (!wrong.any().item<bool>()) return std::nullopt;
  const auto value = [&](int64_t at) {
    return WrongElement{.got = element(got, at), .expected = element(expected, at)};
  };
  const auto marks = [&](int64_t from, int64_t count) { return wrong.narrow(0, from, count); };
  WrongElements all = wrong_elements(spec.shape, marks, value);
  const WrongElement first = all.first.front();
  return Worst{first.index, first.expected, first.got, 0, "integer", std::move(all)};
}

double share_of(const Comparison& c) {
  if (!c.worst) return 0;
  return static_cast<double>(c.worst->all.count) / static_cast<double>(c.elements);
}

// Elements that hold what the judge puts into outputs, whose bytes are 0xFF.
at::Tensor unwritten(const at::Tensor& elements) {
  const at::Tensor bytes = elements.contiguous().view(at::kByte).view({elements.numel(), -1});
  return bytes.eq(0xFF).all(1);
}

std::string reason_for(const at::Tensor& element) {
  if (!element.isnan().item<bool>()) return "value";
  return unwritten(element).item<bool>() ? "unwritten" : "nan";
}

Comparison compare_integers(const TensorSpec& spec, const at::Tensor& got, const Oracle& expected) {
  Comparison result;
  result.elements = spec.numel();
  // Bytes, because a bool that is neither 0 nor 1 must not pass for true.
  const auto bytes = [&](const at::Tensor& t) {
    return t.to(spec.dtype).contiguous().reshape(-1).view(at::kByte).view({result.elements, -1});
  };
  const at::Tensor whole = expected.range(0, result.elements);
  const at::Tensor wrong = bytes(got.to(whole.device())).ne(bytes(whole)).any(1);
  result.worst = worst_position(spec, wrong, got, whole);
  result.error = share_of(result);
  return result;
}

// printf writes a NaN with its sign.
std::string in_words(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  std::ostringstream text;
  text.precision(7);
  text << value;
  return text.str();
}

}  // namespace

at::Tensor finite(const at::Tensor& t) { return at::nan_to_num(t, 0.0, 0.0, 0.0); }

std::string describe_worst(const TensorSpec& spec, const Comparison& c) {
  const Worst& worst = *c.worst;
  const auto place = [&](const std::vector<int64_t>& index) {
    std::string text = spec.name + "[";
    for (size_t i = 0; i < index.size(); ++i) text += (i ? ", " : "") + std::to_string(index[i]);
    return text + "]";
  };
  std::ostringstream text;
  text << place(worst.index) << " is ";
  if (worst.reason == "unwritten") {
    // NaN goes through arithmetic with its bits on some devices.
    text << "not written, or made from memory that nobody has written,";
  } else {
    text << in_words(worst.got);
  }
  text << " but must be " << in_words(worst.expected);
  text.precision(3);
  if (worst.bound > 0) text << " +- " << worst.bound;
  if (worst.all.count == 0) {
    text << "; no element alone is off by too much";
  } else {
    text << "; " << worst.all.count << " of " << c.elements << " elements are wrong";
    if (worst.all.first[0].index != worst.index) {
      text << ", the first is " << place(worst.all.first[0].index);
    }
    if (!worst.all.where.empty()) text << ", " << worst.all.where;
  }
  if (worst.reason != "integer" && std::isfinite(c.error)) {
    text << "; relative error of the whole output " << c.error << ", allowed " << c.bound;
  }
  return text.str();
}

Oracle::Oracle(const at::Tensor& whole)
    : numel_(whole.numel()),
      range_([whole](int64_t first, int64_t count) { return flat_slice(whole, first, count); }) {}

Tolerance wider(const Tolerance& a, const Tolerance& b) {
  return {.relative = std::max(a.relative, b.relative),
          .per_rms = std::max(a.per_rms, b.per_rms),
          .per_value = std::max(a.per_value, b.per_value)};
}

Tolerance integer_tolerance(const TensorSpec& spec, const at::Tensor& torch, const Oracle& oracle) {
  const Norms norms = measure(torch, oracle);
  const double rms = std::sqrt(norms.oracle_squared / static_cast<double>(oracle.numel()));
  if (spec.dtype == at::kHalf || spec.dtype == at::kBFloat16) {
    const double roundings = 2 * unit_roundoff(spec.dtype);
    return {.relative = roundings + 0.5 / rms, .per_rms = 0.5 / rms, .per_value = roundings};
  }
  const double per_rms = std::max(0.5, 8 * norms.torch_max) / rms;
  return {.relative = per_rms, .per_rms = per_rms};
}

namespace {

// How far the elements of a slice are off; infinitely where NaN or infinity stands elsewhere than
// it should or nothing was written, and not at all where nothing is known.
at::Tensor deviation(const at::Tensor& elements, const Allowance& allowed, double largest) {
  const at::Tensor& y = allowed.expected;
  const at::Tensor got = elements.to(y);
  const at::Tensor special = at::isfinite(y).logical_not();
  const at::Tensor same = got.eq(y).logical_or_(got.isnan().logical_and_(y.isnan()));
  at::Tensor off = (got - y).abs_();
  off.masked_fill_(special, infinity);
  off.masked_fill_(off.isnan(), infinity);
  off.masked_fill_(special.logical_and(same), 0.0);
  // Two right results can lie on both sides of the type's largest value.
  const at::Tensor overflow = got.isinf().logical_and_(y.sign().eq(got.sign()));
  off.masked_fill_(overflow.logical_and_((finite(y).abs_().add_(allowed.limit)).ge(largest)), 0.0);
  off.masked_fill_(allowed.limit.isinf(), 0.0);
  return off.masked_fill_(unwritten(elements).to(y.device()).logical_and_(y.isnan().logical_not_()),
                          infinity);
}

// The `count` largest of both, or all.
at::Tensor largest_of(const at::Tensor& some, const at::Tensor& more, int64_t count) {
  const auto top = [&](const at::Tensor& t) {
    return std::get<0>(t.topk(std::min(count, t.numel())));
  };
  return some.defined() ? top(at::cat({some, top(more)})) : top(more);
}

}  // namespace

bool is_right(const Totals& t, double whole_from, int64_t strays) {
  const bool whole_counts = t.allowed_squared * t.allowed_squared >= whole_from * t.allowed_fourth;
  if (whole_counts && !(t.error_squared <= t.allowed_squared)) return false;
  return t.worst_ratio <= 1 || (t.beyond <= strays && t.worst_ratio <= 2);
}

Comparison compare_slices(const TensorSpec& spec, const at::Tensor& got,
                          const Allowances& allowances, int64_t at_a_time, double whole_from,
                          int64_t strays) {
  Comparison result;
  result.elements = spec.numel();
  const double largest = largest_value(spec.dtype);
  Totals totals;
  double norm_squared = 0;
  int64_t worst_at = 0;
  at::Tensor largest_squares;  // of errors that count, as many as there may be strays
  const auto slice_of = [&](const Allowance& allowed, int64_t first, int64_t count) {
    return deviation(flat_slice(got, first, count), allowed, largest);
  };
  for_slices(
      result.elements,
      [&](int64_t first, int64_t count) {
        const Allowance allowed = allowances(first, count);
        const at::Tensor off = slice_of(allowed, first, count);
        norm_squared += finite(allowed.expected).square_().sum().item<double>();
        const at::Tensor left_out = allowed.counted.logical_not();
        const at::Tensor squares = off.square().masked_fill_(left_out, 0.0);
        totals.error_squared += squares.sum().item<double>();
        if (strays > 0) largest_squares = largest_of(largest_squares, squares, strays);
        totals.allowed_squared += allowed.squared;
        totals.allowed_fourth += allowed.fourth;
        result.max_abs_error = std::max(result.max_abs_error, off.max().item<double>());
        // An all-zero expectation has limit zero: 0/0 is right, anything else is infinitely wrong.
        const at::Tensor ratio = at::nan_to_num(off / allowed.limit, 0.0, infinity, infinity)
                                     .masked_fill_(off.isinf(), infinity);
        totals.beyond += ratio.gt(1).sum().item<int64_t>();
        const auto [top, where] = ratio.max(0);
        if (top.item<double>() > totals.worst_ratio) {
          totals.worst_ratio = top.item<double>();
          worst_at = first + where.item<int64_t>();
        }
      },
      at_a_time);

  if (strays > 0) totals.error_squared -= largest_squares.sum().item<double>();

  const auto relative = [&](double squared) {
    return squared == 0 ? 0.0 : std::sqrt(squared / norm_squared);
  };
  result.error = relative(totals.error_squared);
  result.bound = relative(totals.allowed_squared);
  if (is_right(totals, whole_from, strays)) return result;
  const auto value = [&](int64_t at) {
    return WrongElement{.got = element(got, at),
                        .expected = allowances(at, 1).expected.item<double>()};
  };
  const auto wrong = [&](int64_t first, int64_t count) {
    const Allowance allowed = allowances(first, count);
    const at::Tensor off = slice_of(allowed, first, count);
    return off.gt(allowed.limit).logical_or_(off.isinf());
  };
  const WrongElement worst = value(worst_at);
  result.worst = Worst{unravel(worst_at, spec.shape),
                       worst.expected,
                       worst.got,
                       allowances(worst_at, 1).limit.item<double>(),
                       reason_for(flat_slice(got, worst_at, 1)),
                       wrong_elements(spec.shape, wrong, value)};
  return result;
}

Comparison compare_output(const TensorSpec& spec, const at::Tensor& got, const Oracle& expected,
                          const Tolerance& tolerance) {
  if (spec.numel() == 0) return {};
  if (!at::isFloatingType(spec.dtype)) return compare_integers(spec, got, expected);
  const double rms = std::sqrt(squared_norm(expected) / static_cast<double>(spec.numel()));
  return compare_slices(
      spec, got,
      [&](int64_t first, int64_t count) {
        Allowance allowed{.expected = expected.range(first, count).to(at::kDouble)};
        const at::Tensor y = finite(allowed.expected);
        allowed.limit = y.abs().mul_(tolerance.per_value).add_(tolerance.per_rms * rms);
        allowed.counted = at::ones_like(y, at::kBool);
        allowed.squared = std::pow(tolerance.relative, 2) * y.square().sum().item<double>();
        return allowed;
      },
      slice_elements);
}

Comparison compare_argument(const TensorSpec& spec, const at::Tensor& there, const Oracle& expected,
                            const at::Tensor& input) {
  Comparison result;
  result.elements = spec.numel();
  const at::Tensor oracle = expected.range(0, result.elements).view(spec.shape);
  const at::Tensor got = there.to(oracle.device());
  const int64_t dim = spec.argument_of->dim;
  const int64_t extent = input.size(dim);
  const auto along = [&](const at::Tensor& t) {
    return t.dim() == input.dim() ? t : t.unsqueeze(dim);
  };
  const at::Tensor inside = got.ge(0).logical_and_(got.lt(extent));
  const at::Tensor at_got = input.gather(dim, along(got.clamp(0, extent - 1)));
  const at::Tensor at_oracle = input.gather(dim, along(oracle));
  const at::Tensor right =
      at_got.eq(at_oracle).view(oracle.sizes()).logical_and_(inside).reshape(-1);
  result.worst = worst_position(spec, right.logical_not(), got, oracle);
  result.error = share_of(result);
  return result;
}

}  // namespace kb
