// Works through outputs of gigabytes in slices, in fp64, on the device where the oracle lies.
#include "acceptance/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "acceptance/noise.h"
#include "acceptance/precision.h"
#include "acceptance/slices.h"

namespace kb {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nothing_left = 1.0 / 16;  // S / Y of a sample that says nothing
constexpr double whole_from = 16;          // elements that have a say

at::Tensor ratio(const at::Tensor& a, const at::Tensor& b) {
  return at::where(b.gt(0), a / b, at::zeros_like(a));
}

// One rounding of an output; of a 16-bit one half, since errors of nearest rounding are that large
// on average.
double own_rounding(at::ScalarType type) {
  const double u = unit_roundoff(type);
  return type == at::kHalf || type == at::kBFloat16 ? u / 2 : u;
}

}  // namespace

at::Tensor in_range(const at::Tensor& values, at::ScalarType type) {
  const double beyond = largest_value(type) * (1 + unit_roundoff(type) / 2);
  return at::where(values.abs().gt(beyond), at::full_like(values, infinity).copysign_(values),
                   values);
}

// Per element.
struct Spread::Part {
  at::Tensor values, special;
  at::Tensor mean_square, largest_square;  // of the moves, the library's among them
  at::Tensor own_square;                   // of one rounding
  at::Tensor dead;                         // bool: says nothing
  at::Tensor tied;                         // bool: moves by a choice, not in proportion to noise
};

Spread::Spread(TensorSpec spec, at::Tensor library, Expected oracle,
               std::vector<int64_t> first_rows)
    : spec_(std::move(spec)), library_(std::move(library)), oracle_(std::move(oracle)) {
  if (spec_.numel() == 0) return;
  const int64_t rows = spec_.shape.empty() ? 1 : spec_.shape[0];
  row_elements_ = spec_.numel() / rows;
  std::vector<int64_t> sample_of_row(rows, 0);
  if (!first_rows.empty()) {
    samples_ = static_cast<int64_t>(first_rows.size());
    for (int64_t row = 0, sample = -1; row < rows; ++row) {
      while (sample + 1 < samples_ && first_rows[sample + 1] <= row) ++sample;
      sample_of_row[row] = std::max<int64_t>(sample, 0);
    }
  } else if (row_elements_ > 1) {
    samples_ = rows;
    for (int64_t row = 0; row < rows; ++row) sample_of_row[row] = row;
  }
  sample_of_row_ = at::tensor(sample_of_row, at::kLong).to(oracle_.range(0, 1).device());
}

int64_t Spread::at_a_time() const {
  return row_elements_ > slice_elements ? slice_elements
                                        : slice_elements / row_elements_ * row_elements_;
}

// Slices of rows that are longer than a slice do not begin a row within them.
template <class Work>
void Spread::for_parts(Work work) const {
  const int64_t rows = spec_.numel() / row_elements_;
  if (row_elements_ <= slice_elements) return for_slices(spec_.numel(), work, at_a_time());
  for (int64_t row = 0; row < rows; ++row) {
    for_slices(row_elements_,
               [&](int64_t first, int64_t count) { work(row * row_elements_ + first, count); });
  }
}

void Spread::add(const at::Tensor& one, const at::Tensor& other) {
  runs_ += 2;
  is_pooled_ = false;
  if (spec_.numel() == 0) return;
  if (!sum_squares_.defined()) {
    const at::TensorOptions numbers = sample_of_row_.options().dtype(at::kDouble);
    sum_squares_ = at::zeros({spec_.numel()}, numbers);
    largest_square_ = at::zeros_like(sum_squares_);
    wild_ = at::zeros({spec_.numel()}, numbers.dtype(at::kBool));
    tied_ = at::zeros_like(wild_);
    first_one_ = at::zeros_like(sum_squares_);
    first_other_ = at::zeros_like(sum_squares_);
  }
  for_slices(spec_.numel(), [&](int64_t first, int64_t count) {
    const at::Tensor y = in_range(oracle_.range(first, count).to(at::kDouble), spec_.dtype);
    const auto here = [&](at::Tensor& all) { return all.narrow(0, first, count); };
    const auto moves = [&](const at::Tensor& run) {
      const at::Tensor z = in_range(flat_slice(run, first, count).to(y), spec_.dtype);
      here(wild_).logical_or_(at::isfinite(z).ne(at::isfinite(y)));
      here(wild_).logical_or_(z.isnan().ne(y.isnan()));
      return finite(z - y).div_(noise_amplitude);
    };
    const at::Tensor p = moves(one), q = moves(other);
    here(tied_).logical_or_((p + q).abs_().gt(at::maximum(p.abs(), q.abs()) / 2));
    if (runs_ == 2) {
      here(first_one_).copy_(p);
      here(first_other_).copy_(q);
    } else {
      // Random moves do not come again, those to the end of a clamp do.
      const auto again = [&](const at::Tensor& move, at::Tensor& earlier) {
        here(tied_).logical_or_((move - here(earlier)).abs_().lt(move.abs() / 64));
      };
      again(p, first_one_);
      again(p, first_other_);
    }
    const at::Tensor p_squared = p.square(), q_squared = q.square();
    here(sum_squares_).add_(p_squared).add_(q_squared);
    at::Tensor largest = here(largest_square_);
    at::maximum_out(largest, largest, at::maximum(p_squared, q_squared));
  });
}

Spread::Part Spread::part(int64_t first, int64_t count) const {
  Part part;
  const at::Tensor y = in_range(oracle_.range(first, count).to(at::kDouble), spec_.dtype);
  const at::Tensor library = flat_slice(library_, first, count).to(y);
  part.values = y;
  part.special = at::isfinite(y).logical_not_();
  part.dead = at::isfinite(library).eq(part.special);
  part.dead.logical_or_(part.special.logical_and(library.isnan().ne(y.isnan())));
  part.own_square = (finite(y) * own_rounding(spec_.dtype)).square_();
  const at::Tensor off = finite(library - y).square_();
  part.mean_square = part.largest_square = off;
  part.tied = at::zeros_like(part.dead);
  if (runs_ == 0) return part;
  const auto here = [&](const at::Tensor& all) { return all.narrow(0, first, count); };
  part.dead.logical_or_(here(wild_));
  part.tied = here(tied_);
  part.mean_square = at::maximum(off, here(sum_squares_) / runs_);
  part.largest_square = at::maximum(off, here(largest_square_));
  return part;
}

// A number per sample for each of the elements.
at::Tensor Spread::spread_over(const at::Tensor& of_samples, int64_t first, int64_t count) const {
  const int64_t row = first / row_elements_, last = (first + count - 1) / row_elements_;
  if (row == last || samples_ == 1) {
    return of_samples.index_select(0, sample_of_row_.narrow(0, row, 1));
  }
  const at::Tensor of_rows =
      of_samples.index_select(0, sample_of_row_.narrow(0, row, last - row + 1)).view({-1, 1});
  return of_rows.expand({last - row + 1, row_elements_})
      .reshape({-1})
      .narrow(0, first - row * row_elements_, count);
}

// Adds numbers of elements to those of their samples.
void Spread::add_to_samples(at::Tensor& sums, const at::Tensor& numbers, int64_t first) const {
  const int64_t row = first / row_elements_, last = (first + numbers.numel() - 1) / row_elements_;
  const at::Tensor samples = sample_of_row_.narrow(0, row, last - row + 1);
  if (row == last || samples_ == 1) {
    sums.index_add_(0, samples.narrow(0, 0, 1), numbers.sum().view({1}));
  } else {
    sums.index_add_(0, samples, numbers.view({last - row + 1, row_elements_}).sum(1));
  }
}

void Spread::pool() {
  if (is_pooled_ || spec_.numel() == 0) return;
  is_pooled_ = true;
  const auto zeros = [&] {
    return at::zeros({samples_}, sample_of_row_.options().dtype(at::kDouble));
  };
  moved_ = zeros();
  value_ = zeros();
  at::Tensor counts = zeros();
  for_parts([&](int64_t first, int64_t count) {
    const Part p = part(first, count);
    const at::Tensor known = p.special.logical_or(p.dead).logical_not_().to(at::kDouble);
    add_to_samples(moved_, p.mean_square * known, first);
    add_to_samples(value_, finite(p.values).square_().mul_(known), first);
    add_to_samples(counts, known, first);
  });
  moved_squared_ = moved_.sum().item<double>();
  value_squared_ = value_.sum().item<double>();
  const at::Tensor some = counts.clamp_min(1);
  moved_.div_(some);
  value_.div_(some);
  dead_ = ratio(moved_, value_).gt(nothing_left * nothing_left).logical_or_(counts.eq(0));
}

Allowance Spread::allowance(int64_t first, int64_t count) const {
  const Part p = part(first, count);
  const auto of_sample = [&](const at::Tensor& t) { return spread_over(t, first, count); };
  const at::Tensor y_squared = finite(p.values).square_();
  const at::Tensor sigma = (y_squared * of_sample(ratio(moved_, value_)))
                               .add_(of_sample(moved_))
                               .add_(p.largest_square)
                               .add_(p.own_square)
                               .sqrt_();
  const at::Tensor dead_sample = of_sample(dead_).logical_and(p.special.logical_not());
  const at::Tensor unknown = p.dead.logical_or(dead_sample);
  Allowance allowed{.expected = p.values,
                    .limit = (sigma * element_limit).masked_fill_(unknown, infinity),
                    .counted = unknown.logical_or(p.special).logical_or_(p.tied).logical_not_()};
  const at::Tensor squares = (p.mean_square + p.own_square).mul_(allowed.counted);
  const double limit_squared = whole_limit * whole_limit;
  allowed.squared = limit_squared * squares.sum().item<double>();
  allowed.fourth = limit_squared * limit_squared * squares.square_().sum().item<double>();
  return allowed;
}

// Whether no element is off by more than its own rounding allows, which is the least that a spread
// can be. A few passes over outputs of gigabytes, where elementwise kernels have them.
std::optional<Comparison> Spread::is_right_at_once(const at::Tensor& got) {
  const double own = own_rounding(spec_.dtype);
  Comparison c;
  c.elements = spec_.numel();
  double norm = 0, error = 0, library = 0;
  bool right = true;
  for_slices(spec_.numel(), [&](int64_t first, int64_t count) {
    if (!right) return;
    const at::Tensor y = oracle_.range(first, count).to(at::kDouble);
    const at::Tensor off = flat_slice(got, first, count).to(y).sub_(y).abs_();
    // False for NaN, and where both are infinite: these take the long way.
    right = off.le(y.abs().mul_(element_limit * own)).all().item<bool>();
    c.max_abs_error = std::max(c.max_abs_error, off.max().item<double>());
    error += off.square_().sum().item<double>();
    norm += y.square().sum().item<double>();
    library += flat_slice(library_, first, count).to(y).sub_(y).square_().sum().item<double>();
  });
  if (!right || !std::isfinite(library) || error > std::pow(whole_limit * own, 2) * norm) return {};
  c.error = error == 0 ? 0 : std::sqrt(error / norm);
  c.library_error = library == 0 ? 0 : std::sqrt(library / norm);
  c.bound = whole_limit * own;
  return c;
}

Comparison Spread::compare(const at::Tensor& got) {
  if (spec_.numel() == 0) return {};
  if (runs_ == 0) {
    if (const auto right = is_right_at_once(got)) {
      was_right_at_once_ = true;
      return *right;
    }
  }
  pool();
  Comparison c = compare_slices(
      spec_, got, [this](int64_t first, int64_t count) { return allowance(first, count); },
      at_a_time(), whole_from);
  c.library_error = library_error();
  c.noisy_runs = runs_;
  return c;
}

double Spread::library_error() {
  if (!library_squared_) {
    library_squared_ = 0;
    for_slices(spec_.numel(), [&](int64_t first, int64_t count) {
      const at::Tensor y =
          finite(in_range(oracle_.range(first, count).to(at::kDouble), spec_.dtype));
      const at::Tensor library = finite(flat_slice(library_, first, count).to(y));
      *library_squared_ += (library - y).square_().sum().item<double>();
    });
  }
  return *library_squared_ == 0 ? 0 : std::sqrt(*library_squared_ / value_squared_);
}

bool Spread::has_wrong(const at::Tensor& got, int64_t first, int64_t count) {
  pool();
  bool found = false;
  for_slices(count, [&](int64_t from, int64_t some) {
    const Allowance allowed = allowance(first + from, some);
    found = found || any_wrong(spec_, flat_slice(got, first + from, some), allowed);
  });
  return found;
}

bool Spread::says_something() {
  if (was_right_at_once_ || spec_.numel() == 0) return true;
  pool();
  return !dead_.all().item<bool>();
}

// The largest that any element has, in units of its sample.
Tolerance Spread::tolerance() {
  pool();
  const double own = own_rounding(spec_.dtype);
  if (spec_.numel() == 0 || value_squared_ == 0) return {};
  const double relative = std::sqrt(moved_squared_ / value_squared_ + own * own);
  Tolerance tolerance{.relative = whole_limit * relative, .per_value = element_limit * relative};
  const at::Tensor rms = value_.sqrt();
  for_parts([&](int64_t first, int64_t count) {
    const Allowance allowed = allowance(first, count);
    const at::Tensor more = (allowed.limit - finite(allowed.expected).abs_() * tolerance.per_value)
                                .div_(spread_over(rms, first, count));
    const double largest = at::nan_to_num(more, 0.0, 0.0, 0.0).max().item<double>();
    tolerance.per_rms = std::max(tolerance.per_rms, largest);
  });
  return tolerance;
}

}  // namespace kb
