// Works through outputs of gigabytes in slices, in fp64, on the device where the oracle lies.
#include "judge/acceptance/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/acceptance/noise.h"
#include "judge/acceptance/precision.h"
#include "judge/acceptance/slices.h"

namespace kb {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nothing_left = 1.0 / 16;  // S / Y of a sample that says nothing
constexpr double whole_from = 16;          // elements that have a say

at::Tensor ratio(const at::Tensor& a, const at::Tensor& b) {
  return at::where(b.gt(0), a / b, at::zeros_like(a));
}

double relative(double squared, double norm_squared) {
  return squared == 0 ? 0 : std::sqrt(squared / norm_squared);
}

std::vector<double> to_host(const at::Tensor& numbers) {
  const at::Tensor there = numbers.cpu().contiguous();
  const double* const first = there.const_data_ptr<double>();
  return {first, first + there.numel()};
}

RowSums total(const std::vector<RowSums>& rows) {
  RowSums sums;
  for (const RowSums& row : rows) sums.add(row);
  return sums;
}

// From where on values are infinite in a type.
double beyond(at::ScalarType type) { return largest_value(type) * (1 + unit_roundoff(type) / 2); }

// One rounding of an output; of a 16-bit one half, since errors of nearest rounding are that large
// on average.
double own_rounding(at::ScalarType type) {
  const double u = unit_roundoff(type);
  return type == at::kHalf || type == at::kBFloat16 ? u / 2 : u;
}

}  // namespace

at::Tensor in_range(const at::Tensor& values, at::ScalarType type) {
  return at::where(values.abs().gt(beyond(type)), at::full_like(values, infinity).copysign_(values),
                   values);
}

// Per element.
struct Spread::Part {
  at::Tensor values, special;
  at::Tensor mean_square, largest_square;  // of the moves, LibTorch's among them
  at::Tensor own_square;                   // of one rounding
  at::Tensor dead;                         // bool: says nothing
  at::Tensor tied;                         // bool: moves by a choice, not in proportion to noise
};

Spread::Spread(TensorSpec spec, at::Tensor torch, Oracle oracle, std::vector<int64_t> first_rows)
    : spec_(std::move(spec)), torch_(std::move(torch)), oracle_(std::move(oracle)) {
  if (spec_.numel() == 0) return;
  int64_t rows = spec_.shape.empty() ? 1 : spec_.shape[0];
  if (spec_.shape.size() < 2 && first_rows.empty()) rows = 1;
  row_elements_ = spec_.numel() / rows;
  std::vector<int64_t>& sample_of_row = samples_of_rows_;
  sample_of_row.assign(rows, 0);
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

void Spread::reserve(bool on_host) {
  if (spec_.numel() == 0) return;
  const at::Device device = on_host ? at::Device(at::kCPU) : sample_of_row_.device();
  const auto place = [&](at::Tensor& kept, at::ScalarType type) {
    kept = kept.defined() ? kept.to(device)
                          : at::zeros({spec_.numel()}, at::TensorOptions(device).dtype(type));
  };
  for (at::Tensor* const numbers : {&sum_squares_, &largest_square_, &first_one_, &first_other_}) {
    place(*numbers, at::kDouble);
  }
  for (at::Tensor* const marks : {&wild_, &tied_}) place(*marks, at::kBool);
}

void Spread::add(const at::Tensor& one, const at::Tensor& other) {
  runs_ += 2;
  is_pooled_ = false;
  if (spec_.numel() == 0) return;
  if (!sum_squares_.defined()) reserve(false);
  for_slices(spec_.numel(), [&](int64_t first, int64_t count) {
    // Where the runs are kept.
    const at::Tensor y =
        in_range(oracle_.range(first, count).to(sum_squares_.options()), spec_.dtype);
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
  const at::Tensor torch = flat_slice(torch_, first, count).to(y);
  part.values = y;
  part.special = at::isfinite(y).logical_not_();
  part.dead = at::isfinite(torch).eq(part.special);
  part.dead.logical_or_(part.special.logical_and(torch.isnan().ne(y.isnan())));
  part.own_square = (finite(y) * own_rounding(spec_.dtype)).square_();
  const at::Tensor off = finite(torch - y).square_();
  part.mean_square = part.largest_square = off;
  part.tied = at::zeros_like(part.dead);
  if (runs_ == 0) return part;
  const auto here = [&](const at::Tensor& all) {
    return all.narrow(0, first, count).to(y.device());
  };
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
  if (runs_ == 0) return pool_rows(measure(torch_));
  const auto zeros = [&] {
    return at::zeros({samples_}, sample_of_row_.options().dtype(at::kDouble));
  };
  moved_ = zeros();
  value_ = zeros();
  at::Tensor known = zeros();
  for_parts([&](int64_t first, int64_t count) {
    const Part p = part(first, count);
    const at::Tensor here = p.special.logical_or(p.dead).logical_not_().to(at::kDouble);
    add_to_samples(moved_, p.mean_square * here, first);
    add_to_samples(value_, finite(p.values).square_().mul_(here), first);
    add_to_samples(known, here, first);
  });
  finish_pool(known);
}

// From sums to means.
void Spread::finish_pool(const at::Tensor& known) {
  is_pooled_ = true;
  moved_squared_ = moved_.sum().item<double>();
  value_squared_ = value_.sum().item<double>();
  const at::Tensor some = known.clamp_min(1);
  moved_.div_(some);
  value_.div_(some);
  dead_ = ratio(moved_, value_).gt(nothing_left * nothing_left).logical_or_(known.eq(0));
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

int64_t Spread::strays() const { return spec_.numel() / elements_of_a_stray; }

ComparedOutput Spread::compared(const at::Tensor& got) const {
  return {got.to(spec_.dtype), torch_, oracle_, row_elements_, sample_of_row_.device()};
}

std::vector<RowSums> Spread::measure(const at::Tensor& got) const {
  return pass_over_rows(
      compared(got), MeasureRows{beyond(spec_.dtype), element_limit * own_rounding(spec_.dtype)});
}

// Of LibTorch's error alone.
void Spread::pool_rows(const std::vector<RowSums>& rows) {
  std::vector<double> moved(samples_), value(samples_), known(samples_);
  for (size_t row = 0; row < rows.size(); ++row) {
    const int64_t sample = samples_of_rows_[row];
    moved[sample] += rows[row].torch_squared;
    value[sample] += rows[row].value_squared;
    known[sample] += static_cast<double>(rows[row].known);
  }
  const auto there = [&](const std::vector<double>& numbers) {
    return at::tensor(numbers, at::kDouble).to(sample_of_row_.device());
  };
  moved_ = there(moved);
  value_ = there(value);
  finish_pool(there(known));
}

double Spread::torch_error(const RowSums& all) {
  torch_error_ = relative(all.torch_squared, all.value_squared);
  return *torch_error_;
}

Screening Spread::screen(const at::Tensor& got) {
  Screening result;
  Comparison& c = result.comparison;
  c.elements = spec_.numel();
  if (c.elements == 0) {
    result.right = true;
    return result;
  }
  TORCH_INTERNAL_ASSERT(runs_ == 0);
  const double own = own_rounding(spec_.dtype);
  const std::vector<RowSums> rows = measure(got);
  const RowSums all = total(rows);
  if (!is_pooled_) pool_rows(rows);
  c.torch_error = torch_error(all);
  // What no element's own rounding forbids is right: the least that a spread can be.
  const double own_limit = whole_limit * own;
  if (all.off == 0 && all.error_squared <= own_limit * own_limit * all.value_squared) {
    was_right_at_once_ = result.right = true;
    c.error = relative(all.error_squared, all.value_squared);
    c.bound = own_limit;
    c.max_abs_error = all.largest_error;
    return result;
  }

  const std::vector<double> moved = to_host(moved_), per_value = to_host(ratio(moved_, value_)),
                            dead = to_host(dead_.to(at::kDouble));
  std::vector<RowLimit> limits;
  for (const int64_t sample : samples_of_rows_) {
    limits.push_back({moved[sample], per_value[sample], dead[sample] != 0});
  }
  RowExcess sum;
  const JudgeRows pass{.beyond = beyond(spec_.dtype),
                       .largest_value = largest_value(spec_.dtype),
                       .own_rounding = own,
                       .element_limit = element_limit,
                       .rows = nullptr};
  for (const RowExcess& row : pass_over_rows(compared(got), pass, limits)) {
    sum.add(row);
    result.excess.push_back(row.largest);
  }
  constexpr double limit_squared = whole_limit * whole_limit;
  const Totals totals{.error_squared = sum.error_squared,
                      .allowed_squared = limit_squared * sum.spread_squared,
                      .allowed_fourth = limit_squared * limit_squared * sum.spread_fourth,
                      .worst_ratio = sum.largest,
                      .beyond = sum.wrong};
  c.error = relative(totals.error_squared, all.value_squared);
  c.bound = relative(totals.allowed_squared, all.value_squared);
  c.max_abs_error = sum.largest_error;
  result.right = is_right(totals, whole_from, strays());
  return result;
}

Comparison Spread::compare(const at::Tensor& got) {
  if (spec_.numel() == 0) return {};
  if (runs_ == 0) {
    const Screening screening = screen(got);
    if (screening.right) return screening.comparison;
  }
  pool();
  Comparison c = compare_slices(
      spec_, got, [this](int64_t first, int64_t count) { return allowance(first, count); },
      at_a_time(), whole_from, strays());
  if (!torch_error_) torch_error(total(measure(torch_)));
  c.torch_error = *torch_error_;
  c.noisy_runs = runs_;
  return c;
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
