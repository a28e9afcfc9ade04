// The clock of a unit starts when the request is published and stops when the answer is seen; the
// judge's own work (inputs, expected values, checks) lies between units.
#include "judge/duel.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "judge/compare.h"
#include "result/verdict.h"

namespace kb {
namespace {

// Slots are bounded by memory that a unit could touch anyway, and by the time to check them.
constexpr int64_t max_calls = 64;
constexpr int64_t max_slot_bytes = int64_t{8} << 30;

int64_t bytes_per_call(const Task& task, const SizeBytes& sizes) {
  int64_t bytes = 0;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role == Role::input || spec.role == Role::output) bytes += spec.bytes();
  }
  return std::max<int64_t>(bytes, 1);
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
  work_ = std::make_unique<Workload>(task, sizes, 1, memory);
  work_->bind(reference_);
  work_->bind(candidate_);
  work_->refill_weights(inputs_, rng_);
  work_->refill_slot(0, inputs_, rng_);
  memory_.finish();
  candidate_.prepare();
  calibrate(unit_seconds);
}

void Duel::calibrate(double unit_seconds) {
  constexpr int warm_up = 3;
  double seconds = 0;
  for (int i = 0; i < warm_up; ++i) seconds = std::max(unit(reference_), unit(candidate_));
  find_tolerances();
  const auto wanted = static_cast<int64_t>(std::ceil(unit_seconds / seconds));
  const int64_t room = std::max<int64_t>(1, max_slot_bytes / bytes_per_call(task_, sizes_));
  const int64_t calls = std::clamp<int64_t>(wanted, 1, std::min(room, max_calls));
  if (calls == 1) return;
  work_.reset();
  work_ = std::make_unique<Workload>(task_, sizes_, calls, memory_);
  work_->bind(reference_);
  work_->bind(candidate_);
  work_->refill_weights(inputs_, rng_);
  memory_.finish();
  candidate_.prepare();
}

void Duel::find_tolerances() {
  const std::vector<at::Tensor> given = work_->arguments(0);
  const std::vector<at::Tensor> library = task_.reference(sizes_, given);
  const std::vector<at::Tensor> oracle = task_.reference(sizes_, in_fp64(given));
  for (size_t i = 0; i < work_->outputs().size(); ++i) {
    tolerances_.push_back(
        against_library(tolerance_of(work_->outputs()[i], library.at(i), oracle.at(i))));
  }
}

bool Duel::select(LaunchMode mode) {
  const auto calls = static_cast<uint32_t>(work_->slots());
  if (mode == LaunchMode::graph &&
      !(reference_.capture(0, calls) && candidate_.capture(0, calls))) {
    return false;
  }
  mode_ = mode;
  for (int64_t s = 0; s < work_->slots(); ++s) work_->refill_slot(s, inputs_, rng_);
  memory_.finish();
  constexpr int warm_up = 3;
  for (int i = 0; i < warm_up; ++i) {
    unit(reference_);
    unit(candidate_);
  }
  return true;
}

double Duel::unit(RunnerSession& runner) {
  const auto start = std::chrono::steady_clock::now();
  if (mode_ == LaunchMode::graph) {
    runner.replay();
  } else {
    runner.run(0, static_cast<uint32_t>(work_->slots()));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Duel::expect() {
  expected_.clear();
  for (int64_t s = 0; s < work_->slots(); ++s) {
    expected_.push_back(task_.reference(sizes_, work_->arguments(s)));
  }
}

void Duel::verify() {
  for (int64_t s = 0; s < work_->slots(); ++s) {
    const std::vector<at::Tensor> got = work_->snapshot(s);
    for (size_t i = 0; i < work_->outputs().size(); ++i) {
      const TensorSpec& spec = work_->outputs()[i];
      const Comparison c = spec.argument_of
                               ? compare_argument(spec, got[i], expected_[s][i],
                                                  work_->input(spec.argument_of->input, s))
                               : compare_output(spec, got[i], expected_[s][i], tolerances_[i]);
      if (c.worst) {
        throw Decided(Verdict::incorrect,
                      "a timed call wrote a wrong '" + spec.name +
                          "' although checked calls were right: relative difference " +
                          std::to_string(c.error));
      }
    }
    work_->check_untouched(s, "timed");
  }
}

Block Duel::block() {
  for (int64_t s = 0; s < work_->slots(); ++s) work_->refill_slot(s, inputs_, rng_);
  expect();
  memory_.finish();
  Block block{};
  block.a1 = unit(reference_);
  block.b1 = unit(candidate_);
  verify();
  for (int64_t s = 0; s < work_->slots(); ++s) work_->poison_outputs(s);
  memory_.finish();
  block.b2 = unit(candidate_);
  block.a2 = unit(reference_);
  verify();
  return block;
}

}  // namespace kb
