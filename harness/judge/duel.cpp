// The clock of a unit starts when the request is published and stops when the answer is seen; the
// judge's own work (inputs, expected values, checks) lies between units. Which arm comes first
// after it alternates within a block, so that both pay for the change of context alike.
#include "judge/duel.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "judge/expectation.h"
#include "judge/quick_check.h"
#include "result/verdict.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

// More calls or bytes than these cost more to check than they add to the precision of a unit.
constexpr int64_t max_calls = 512;
constexpr int64_t max_slot_bytes = int64_t{4} << 30;

int64_t bytes_per_call(const Task& task, const SizeBytes& sizes) {
  int64_t bytes = 0;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role == Role::input || spec.role == Role::output) bytes += spec.bytes();
  }
  return std::max<int64_t>(bytes, 1);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Duel::Duel(const Task& task, const SizeBytes& sizes, InputKind inputs, uint64_t rng_seed,
           SharedMemory& memory, RunnerSession& reference, RunnerSession& candidate,
           double unit_seconds)
    : task_(task),
      sizes_(sizes),
      inputs_(inputs),
      rng_(make_rng(memory.device(), rng_seed)),
      memory_(memory),
      reference_(reference),
      candidate_(candidate) {
  set_slots(1);
  double seconds = 0;
  constexpr int trials = 3;
  for (int i = 0; i < trials; ++i) seconds = std::min(unit(reference_), unit(candidate_));
  find_tolerances();
  const auto wanted = static_cast<int64_t>(std::ceil(unit_seconds / seconds));
  const int64_t room = std::max<int64_t>(1, max_slot_bytes / bytes_per_call(task_, sizes_));
  const int64_t slots = std::clamp<int64_t>(wanted, 1, std::min(room, max_calls));
  if (slots > 1) set_slots(slots);
}

void Duel::set_slots(int64_t slots) {
  work_.reset();
  work_ = std::make_unique<Workload>(task_, sizes_, slots, memory_);
  work_->bind(reference_);
  work_->bind(candidate_);
  work_->refill_weights(inputs_, rng_);
  for (int64_t s = 0; s < slots; ++s) work_->refill_slot(s, inputs_, rng_);
  memory_.finish();
  candidate_.prepare();
}

std::string Duel::select(LaunchMode mode) {
  mode_ = mode;
  const auto calls = static_cast<uint32_t>(work_->slots());
  if (mode == LaunchMode::graph) {
    // The empty graph stands in for the unit's fixed cost.
    if (!reference_.capture(0, 0) || !candidate_.capture(0, 0))
      return "graphs are not supported here";
  }
  empty_reference_ = empty_unit(reference_);
  empty_candidate_ = empty_unit(candidate_);
  if (mode == LaunchMode::graph) {
    if (!reference_.capture(0, calls)) return "the reference cannot be recorded as a graph";
    if (!candidate_.capture(0, calls)) return "the candidate cannot be recorded as a graph";
  }
  warm_up();
  return "";
}

double Duel::empty_unit(RunnerSession& runner) {
  constexpr int samples = 25;
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) {
    const auto start = Clock::now();
    if (mode_ == LaunchMode::graph) {
      runner.replay();
    } else {
      runner.run(0, 0);
    }
    seconds.push_back(seconds_since(start));
  }
  return median(std::move(seconds));
}

double Duel::unit(RunnerSession& runner) {
  const auto start = Clock::now();
  if (mode_ == LaunchMode::graph) {
    runner.replay();
  } else {
    runner.run(0, static_cast<uint32_t>(work_->slots()));
  }
  return seconds_since(start);
}

// By time, not by count: clocks and libraries settle over milliseconds, not over calls.
void Duel::warm_up() {
  constexpr double enough_seconds = 0.1;
  const auto start = Clock::now();
  do {
    unit(reference_);
    unit(candidate_);
  } while (seconds_since(start) < enough_seconds);
}

void Duel::find_tolerances() {
  const std::vector<at::Tensor> given = work_->arguments(0);
  const std::vector<at::Tensor> library = task_.reference(sizes_, given);
  const std::vector<at::Tensor> oracle = task_.reference(sizes_, in_fp64(given));
  for (size_t i = 0; i < work_->outputs().size(); ++i) {
    tolerances_.push_back(tolerance_of(work_->outputs()[i], library.at(i), oracle.at(i)));
  }
}

void Duel::refresh() {
  expected_.clear();
  for (int64_t s = 0; s < work_->slots(); ++s) {
    work_->refill_slot(s, inputs_, rng_);
    expected_.push_back(task_.reference(sizes_, work_->arguments(s)));
  }
  memory_.finish();
}

void Duel::verify() {
  candidate_.inspect();
  for (int64_t s = 0; s < work_->slots(); ++s) {
    for (size_t i = 0; i < work_->outputs().size(); ++i) verify_output(s, i, work_->output(s, i));
    work_->check_inputs(s, "timed");
  }
  work_->check_guards("timed");
}

void Duel::verify_output(int64_t slot, size_t output, const at::Tensor& got) {
  const TensorSpec& spec = work_->outputs()[output];
  const at::Tensor& library = expected_[slot][output];
  if (!spec.argument_of && surely_right(spec, got, library, tolerances_[output])) return;
  const at::Tensor oracle = task_.reference(sizes_, in_fp64(work_->arguments(slot))).at(output);
  const Comparison c =
      spec.argument_of
          ? compare_argument(spec, got, oracle, work_->input(spec.argument_of->input, slot))
          : compare_output(spec, got, oracle, tolerance_of(spec, library, oracle));
  if (!c.worst) return;
  throw Decided(Verdict::incorrect, "a timed call wrote a wrong '" + spec.name +
                                        "' although checked calls were right: relative error " +
                                        std::to_string(c.error) + ", allowed " +
                                        std::to_string(c.bound));
}

// What a unit took beyond an empty one. Noise must not turn a short unit into nothing.
double Duel::net_unit(RunnerSession& runner, double empty) {
  const double gross = unit(runner);
  return std::max(gross - empty, gross / 10);
}

Block Duel::block() {
  Block block{};
  refresh();
  block.a1 = net_unit(reference_, empty_reference_);
  block.b1 = net_unit(candidate_, empty_candidate_);
  verify();
  refresh();
  block.b2 = net_unit(candidate_, empty_candidate_);
  block.a2 = net_unit(reference_, empty_reference_);
  verify();
  return block;
}

}  // namespace kb
