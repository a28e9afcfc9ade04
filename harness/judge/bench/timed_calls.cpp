// The judge's own work lies between units, the same before each: new inputs, and their way to the
// runners. What outputs should have been is computed and compared afterwards.
#include "judge/bench/timed_calls.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/result/verdict.h"
#include "judge/acceptance/quick_check.h"

namespace kb {
namespace {

// More calls or bytes than these cost more to check than they add to the precision of a unit.
constexpr int64_t max_calls = 512;
constexpr int64_t max_slot_bytes = int64_t{16} << 30;

int64_t bytes_per_call(const Task& task, const SizeBytes& sizes) {
  int64_t bytes = 0;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role == Role::input || spec.role == Role::output) bytes += spec.bytes();
  }
  return std::max<int64_t>(bytes, 1);
}

}  // namespace

TimedCalls::TimedCalls(const TimedTask& timed, DuelPlan plan, int64_t calls)
    : timed_(timed),
      plan_(std::move(plan)),
      rng_(make_rng(timed.memory.device(), timed.rng_seed)),
      noise_seed_(timed.rng_seed) {
  // Of each slot there are copies: of inputs one, of outputs the expected and the reference's own.
  const int64_t slot_bytes = std::min(max_slot_bytes, plan_.memory_bytes / 6);
  most_slots_ = std::max<int64_t>(1, slot_bytes / bytes_per_call(timed.task, timed.sizes));
  allocate(calls);
}

void TimedCalls::allocate(int64_t calls) {
  const auto phase = timed_.phases.in("inputs");
  calls_ = calls;
  const int64_t slots = std::min(calls + 1, most_slots_);
  TORCH_CHECK(calls >= 1 && calls <= slots, "a unit of ", calls, " calls needs as many slots, not ",
              slots);
  work_.reset();
  work_ = std::make_unique<Workload>(timed_.task, timed_.sizes, slots, timed_.memory);
  work_->refill_weights(timed_.inputs, rng_);
  for (int64_t s = 0; s < slots; ++s) work_->refill_slot(s, timed_.inputs, rng_);
}

void TimedCalls::bind(RunnerSession& reference, RunnerSession& candidate) {
  const auto phase = timed_.phases.in("inputs");
  for (RunnerSession* runner : {&reference, &candidate}) work_->bind(*runner);
  timed_.memory.finish();
  reference.call_prepare();
  const std::optional<Preparing> preparing = candidate.call_prepare();
  if (!std::exchange(bound_, true))
    preparing_ = preparing;  // later ones find memory and code there
}

int64_t TimedCalls::most_per_unit() const { return std::min(most_slots_ - 1, max_calls); }

void TimedCalls::draw(SlotRange called) {
  const auto phase = timed_.phases.in("inputs");
  mixed_slot_ = -1;
  for (int64_t s = called.first; s < called.first + called.count; ++s) {
    work_->draw_slot(s, timed_.inputs, rng_);
  }
}

void TimedCalls::draw_mixed(SlotRange called, std::mt19937_64& choices) {
  draw(called);
  if (timed_.families.empty()) return;
  const auto phase = timed_.phases.in("inputs");
  std::shuffle(timed_.families.begin(), timed_.families.end(), choices);
  mix_ = divide(timed_.families, 0, timed_.task.tensors(timed_.sizes));
  std::uniform_int_distribution<int64_t> one(called.first, called.first + called.count - 1);
  mixed_slot_ = one(choices);
  work_->draw_slot(mixed_slot_, mix_, rng_);
}

double TimedCalls::publish(SlotRange called) {
  const auto phase = timed_.phases.in("inputs");
  timed_.memory.finish();
  const auto start = std::chrono::steady_clock::now();
  for (int64_t s = 0; s < slots(); ++s) {
    called.contains(s) ? work_->publish_slot(s) : work_->poison(s);
  }
  timed_.memory.finish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void TimedCalls::publish_slot(int64_t slot) {
  const auto phase = timed_.phases.in("inputs");
  work_->publish_slot(slot);
  timed_.memory.finish();
}

double TimedCalls::renew(SlotRange called) {
  draw(called);
  return publish(called);
}

std::function<void()> TimedCalls::hold_back(SlotRange called) {
  const auto phase = timed_.phases.in("inputs");
  return [this, reveal = work_->hold_back_inputs(called.first, called.count, rng_)] {
    reveal();
    timed_.memory.finish();
  };
}

void TimedCalls::expect(SlotRange called) {
  const auto phase = timed_.phases.in("expected");
  expected_.assign(slots(), {});
  for (int64_t s = called.first; s < called.first + called.count; ++s) {
    expected_[s] = timed_.task.reference(timed_.sizes, work_->arguments(s));
    // Attention comes as a view of another order; in one piece it is checked in one pass.
    for (at::Tensor& output : expected_[s]) output = output.contiguous();
  }
  timed_.memory.finish();
}

void TimedCalls::verify(SlotRange called) {
  const auto phase = timed_.phases.in("checks");
  for (int64_t s = 0; s < slots(); ++s) {
    called.contains(s) ? verify_call(s) : work_->check_untouched(s);
  }
  work_->check_inputs("timed");
  work_->check_guards("timed");
}

void TimedCalls::verify_call(int64_t slot) {
  const auto phase = timed_.phases.in("checks");
  if (slot == mixed_slot_) return verify_mixed();
  for (size_t i = 0; i < work_->outputs().size(); ++i) {
    verify_output(slot, i, work_->output(slot, i));
  }
}

bool TimedCalls::is_right(int64_t slot, size_t output, const at::Tensor& got) const {
  const TensorSpec& spec = work_->outputs()[output];
  const at::Tensor& torch = expected_[slot][output];
  if (spec.argument_of) {
    return !compare_argument(spec, got, torch, work_->input(spec.argument_of->input, slot)).worst;
  }
  if (slot != mixed_slot_) return surely_right(spec, got, torch, plan_.tolerances[output]);
  const std::vector<SampleRange> ranges = sample_ranges(mix_, spec);
  return std::all_of(ranges.begin(), ranges.end(), [&](const SampleRange& range) {
    return surely_right(range.of(spec), range.of(got), range.of(torch), plan_.tolerances[output]);
  });
}

// Tolerances are those of the task's own values: what they allow is right, what they do not is
// looked at again.
void TimedCalls::verify_mixed() {
  std::vector<at::Tensor> got;
  bool right = true;
  for (size_t i = 0; i < work_->outputs().size(); ++i) {
    got.push_back(work_->output(mixed_slot_, i));
    right = right && is_right(mixed_slot_, i, got[i]);
  }
  if (right) return;
  Expectation expected = expectation(mixed_slot_, first_rows(mix_));
  const auto found = judge_mix(expected, mix_, got);
  if (!found) return;
  refuse("a call among timed ones", found->wrong.output, found->wrong.comparison,
         "; inputs: " + found->inputs);
}

// What an output has been allowed, others are allowed at once.
void TimedCalls::verify_output(int64_t slot, size_t output, const at::Tensor& got) {
  if (is_right(slot, output, got)) return;
  Expectation expected = expectation(slot);
  const Comparison c = expected.compare(output, got);
  if (c.worst) refuse("a timed call", output, c);
  plan_.tolerances[output] = wider(plan_.tolerances[output], expected.tolerance(output));
}

Expectation TimedCalls::expectation(int64_t slot, const FirstRows& first_rows) {
  return {timed_.task,   timed_.sizes, work_->arguments(slot),
          ++noise_seed_, plan_.oracle, first_rows};
}

void TimedCalls::refuse(const std::string& what, size_t output, const Comparison& c,
                        const std::string& inputs) const {
  throw Decided(Verdict::incorrect, what + " was wrong although checked calls were right: " +
                                        describe_worst(work_->outputs()[output], c) + inputs);
}

void TimedCalls::choose_places(SlotRange called) {
  places_ = work_->output_places(called.first, called.count, rng_);
}

void TimedCalls::read_places() { left_ = work_->outputs_at(places_); }

void TimedCalls::check_unchanged() const {
  const auto phase = timed_.phases.in("checks");
  const std::vector<at::Tensor> now = work_->outputs_at(places_);
  for (size_t i = 0; i < now.size(); ++i) {
    if (same_bits(left_[i], now[i])) continue;
    throw Decided(Verdict::cheat,
                  "the output '" + work_->outputs()[i].name +
                      "' of a timed unit changed after the runner had said that it was done");
  }
}

}  // namespace kb
