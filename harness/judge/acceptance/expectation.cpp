// Both runs of the reference, the noisy ones where they are needed, and the choice between the ways
// of comparing.
#include "judge/acceptance/expectation.h"

#include <algorithm>
#include <random>
#include <utility>

#include "judge/acceptance/noise.h"

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

namespace {

// Eight slices that are off most and eight others, drawn, among those that hold an element beyond
// its limit; among all, if the output as a whole is off.
// @param excess  of each row
std::vector<Slicing::Units> some_of(const std::vector<Slicing::Units>& all,
                                    const std::vector<double>& excess, uint64_t seed) {
  constexpr size_t worst = 8;
  constexpr int64_t others = 8;
  const auto rows = static_cast<int64_t>(excess.size());
  std::vector<std::pair<double, Slicing::Units>> suspects;
  for (const bool beyond : {true, false}) {
    for (const Slicing::Units& units : all) {
      const int64_t each = units.rows_of_each(rows);  // 0 where all of an output is one row
      const auto first = excess.begin() + units.first * each;
      const double largest =
          each == 0 ? excess.front() : *std::max_element(first, first + units.count * each);
      if (largest > 1 || !beyond) suspects.emplace_back(largest, units);
    }
    if (!suspects.empty()) break;
  }
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Slicing::Units> some;
  const auto take = [&](const auto& suspect) { some.push_back(suspect.second); };
  const auto rest = suspects.begin() + static_cast<int64_t>(std::min(worst, suspects.size()));
  std::for_each(suspects.begin(), rest, take);
  std::shuffle(rest, suspects.end(), std::mt19937_64(seed));
  std::for_each(rest, rest + std::min<int64_t>(others, suspects.end() - rest), take);
  return some;
}

}  // namespace

Expectation::Expectation(Task task, SizeBytes sizes, std::vector<at::Tensor> given,
                         uint64_t noise_seed, const OraclePlan& plan, const FirstRows& first_rows)
    : task_(std::move(task)),
      sizes_(std::move(sizes)),
      given_(std::move(given)),
      torch_(on_host(task_.reference(sizes_, given_), plan.on_host)),
      noise_seed_(noise_seed),
      piece_bytes_(plan.piece_bytes),
      slicing_(plan.slicing),
      noise_on_host_(plan.oracle_on_host) {
  if (plan.slicing) {
    oracle_ = plan.slicing->oracle(task_, sizes_, given_);
  } else {
    const auto whole = task_.reference(sizes_, in_fp64(on_host(given_, plan.oracle_on_host)));
    oracle_ = {whole.begin(), whole.end()};
  }
  for (const TensorSpec& spec : task_.tensors(sizes_)) {
    if (spec.role == Role::input) inputs_.push_back(spec);
    if (spec.role == Role::output) outputs_.push_back(spec);
  }
  of_pieces_.resize(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorSpec& spec = outputs_[i];
    TORCH_CHECK(torch_.at(i).sizes() == c10::IntArrayRef(spec.shape) &&
                    oracle_.at(i).numel() == torch_[i].numel(),
                task_.name, ": output '", spec.name,
                "' is declared with another shape than reference() returns");
    spreads_.emplace_back();
    if (!at::isFloatingType(spec.dtype)) continue;
    spreads_[i].emplace(spec, torch_[i], oracle_[i],
                        first_rows ? first_rows(spec) : std::vector<int64_t>{});
  }
}

at::Tensor Expectation::whole_oracle(size_t output) const {
  const Oracle& oracle = oracle_.at(output);
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
  if (pairs_ == 0) {
    const Screening screening = spread->screen(got);
    if (screening.right) return screening.comparison;
    const std::vector<Slicing::Units> pieces =
        is_large() ? slices() : std::vector<Slicing::Units>{};
    if (pieces.size() > 1) return compare_in_pieces(output, got, screening, pieces);
  }
  return compare_with_noise(output, got);
}

// None if there is no way.
std::vector<Slicing::Units> Expectation::slices() {
  if (!slicing_) slicing_ = Slicing::find(task_);
  if (!slicing_) return {};
  slicing_->set_slice_bytes(piece_bytes_);
  return slicing_->pieces(task_, sizes_);
}

bool Expectation::is_large() const {
  int64_t bytes = 0;
  for (const at::Tensor& t : given_) bytes += static_cast<int64_t>(t.nbytes());
  for (const TensorSpec& spec : outputs_) bytes += spec.bytes();
  return bytes > 2 * piece_bytes_;
}

// Where a choice decides (which score is the largest, which side of a clamp), one of some hundred
// right elements takes one that eight runs do not show, and hardly any one that thirty-two do not.
Comparison Expectation::compare_with_noise(size_t output, const at::Tensor& got) {
  constexpr int enough_pairs = 4, most_pairs = 16;
  constexpr int64_t few = 16;  // one of so many elements; one alone may always be such a choice
  Comparison c;
  for (int pairs = 1; pairs <= most_pairs; pairs *= 2) {
    if (pairs > enough_pairs && c.worst->all.count * few > std::max(c.elements, few)) break;
    for (; pairs_ < pairs; ++pairs_) add_pair();
    c = spreads_[output]->compare(got);
    if (!c.worst) break;
  }
  return c;
}

// Both runs of a pair have the same generator's numbers, so both run in one place.
void Expectation::add_pair() {
  // Odd multiples of it differ for all pairs.
  const uint64_t seed = noise_seed_ + 0x9E3779B97F4A7C15 * static_cast<uint64_t>(pairs_);
  const auto run = [&](double sign) {
    return with_noise(roundings_of_contract(), {seed, sign}, [&] {
      return task_.reference(sizes_, in_fp64(on_host(given_, noise_on_host_)));
    });
  };
  std::vector<at::Tensor> one, other;
  const auto both = [&] {
    one = run(1);
    other = run(-1);
    for (auto& spread : spreads_) {
      if (spread) spread->reserve(noise_on_host_);
    }
  };
  if (noise_on_host_) {
    both();
  } else {
    try {
      both();
    } catch (const c10::OutOfMemoryError&) {
      noise_on_host_ = true;
      both();
    }
  }
  for (size_t i = 0; i < spreads_.size(); ++i) {
    if (spreads_[i]) spreads_[i]->add(one[i], other[i]);
  }
}

// Samples are judged by themselves, so each slice that may be wrong is a smaller call. Those that
// are off most and some others, which nobody can foresee, stand for all.
Comparison Expectation::compare_in_pieces(size_t output, const at::Tensor& got,
                                          const Screening& screening,
                                          const std::vector<Slicing::Units>& pieces) {
  const TensorSpec& spec = outputs_[output];
  Comparison right = screening.comparison;
  for (const Slicing::Units& units : some_of(pieces, screening.excess, noise_seed_)) {
    const Slicing::Piece slice = slicing_->piece(task_, sizes_, given_, units);
    Expectation part(task_, slice.sizes, slice.given,
                     noise_seed_ + static_cast<uint64_t>(units.first),
                     {.piece_bytes = piece_bytes_});
    Comparison c = part.compare(output, units.rows(got).to(slice.given.front().device()));
    right.noisy_runs = std::max(right.noisy_runs, c.noisy_runs);
    of_pieces_[output] = wider(of_pieces_[output], part.tolerance(output));
    if (!c.worst) continue;
    const int64_t first_row = units.first * units.rows_of_each(spec.shape[0]);
    c.worst->index[0] += first_row;
    for (WrongElement& element : c.worst->all.first) element.index[0] += first_row;
    c.worst->all.where = "in " + std::to_string(units.count) + " of " + std::to_string(units.of) +
                         " " + slicing_->field();
    return c;
  }
  return right;
}

bool Expectation::says_something() {
  return std::any_of(spreads_.begin(), spreads_.end(),
                     [](auto& spread) { return !spread || spread->says_something(); });
}

// Of an output of gigabytes, a part says as much.
Tolerance Expectation::tolerance(size_t output) {
  auto& spread = spreads_.at(output);
  if (!spread) return {};
  const TensorSpec& spec = outputs_[output];
  constexpr int64_t enough = int64_t{1} << 26;
  const int64_t rows = spec.shape.size() < 2 ? 1 : spec.shape[0];
  const int64_t some = std::max<int64_t>(1, rows * enough / std::max(spec.numel(), enough));
  if (some >= rows) return wider(spread->tolerance(), of_pieces_[output]);
  TensorSpec part = spec;
  part.shape[0] = some;
  const Oracle& whole = oracle_[output];
  const Oracle first(part.numel(),
                     [&](int64_t at, int64_t count) { return whole.range(at, count); });
  return wider(Spread(part, torch_[output].narrow(0, 0, some), first).tolerance(),
               of_pieces_[output]);
}

Comparison Expectation::compare_integers(size_t output, const at::Tensor& got) const {
  return compare_output(outputs_.at(output), got, oracle_.at(output),
                        integer_tolerance(outputs_.at(output), torch(output), oracle_.at(output)));
}

}  // namespace kb
