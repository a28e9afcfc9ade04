// The clock of a unit starts when the request is published and stops when the answer is seen; the
// judge's own work lies between units, the same before each: new inputs, and their way to the
// runners. What the candidate's should have given is computed and compared afterwards.
#include "judge/duel.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "device/sm_clock.h"
#include "judge/expectation.h"
#include "judge/program.h"
#include "judge/quick_check.h"
#include "result/verdict.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

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

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Duel::Duel(const Task& task, const SizeBytes& sizes, DuelPlan plan, InputKind inputs,
           uint64_t rng_seed, SharedMemory& memory, RunnerSession& reference,
           RunnerSession& candidate, UnitSize size, std::optional<int64_t> calls, Phases& phases)
    : task_(task),
      sizes_(sizes),
      plan_(std::move(plan)),
      inputs_(inputs),
      rng_(make_rng(memory.device(), rng_seed)),
      choices_(rng_seed),
      memory_(memory),
      reference_(reference),
      candidate_(candidate),
      phases_(phases) {
  // Of each slot there are copies: of inputs one, of outputs the expected and the reference's own.
  const int64_t slot_bytes = std::min(max_slot_bytes, plan_.memory_bytes / 6);
  most_slots_ = std::max<int64_t>(1, slot_bytes / bytes_per_call(task_, sizes_));
  allocate(calls.value_or(1));
  {
    const auto phase = phases_.in("start");
    for (RunnerSession* runner : {&reference_, &candidate_}) runner->load();
  }
  bind();
  if (!calls) find_calls(size);
}

void Duel::find_calls(const UnitSize& size) {
  const Range none{0, 0}, only{0, 1};
  std::vector<double> reference, candidate;
  const int trials = is_functional() ? 1 : 3;
  unit(reference_, only);
  unit(candidate_, only);
  for (int i = 0; i < trials; ++i) {
    // What a unit costs without a call would make calls look longer and units come out short.
    reference.push_back(net_unit(reference_, only, unit(reference_, none)));
    candidate.push_back(net_unit(candidate_, only, unit(candidate_, none)));
  }
  fit_calls(size, median(std::move(reference)), median(std::move(candidate)), 1);
}

bool Duel::fit_calls(const UnitSize& size, double reference, double candidate, int64_t times) {
  const int64_t calls =
      std::min({size.calls_per_unit(reference, candidate), most_slots_ - 1, max_calls});
  if (calls <= times * calls_) return false;
  allocate(calls);
  bind();
  return true;
}

void Duel::allocate(int64_t calls) {
  const auto phase = phases_.in("inputs");
  calls_ = calls;
  const int64_t slots = std::min(calls + 1, most_slots_);
  TORCH_CHECK(calls >= 1 && calls <= slots, "a unit of ", calls, " calls needs as many slots, not ",
              slots);
  work_.reset();
  work_ = std::make_unique<Workload>(task_, sizes_, slots, memory_);
  work_->refill_weights(inputs_, rng_);
  for (int64_t s = 0; s < slots; ++s) work_->refill_slot(s, inputs_, rng_);
}

void Duel::bind() {
  const auto phase = phases_.in("inputs");
  work_->bind(reference_);
  work_->bind(candidate_);
  memory_.finish();
  for (RunnerSession* runner : {&reference_, &candidate_}) runner->prepare();
}

std::string Duel::select(LaunchMode mode) {
  const auto phase = phases_.in("recording");
  mode_ = mode;
  audited_ = surprised_ = false;
  blocks_ = 0;
  // A first call with a buffer is none to record or to time: a candidate sets something up, ATen
  // allocates what it keeps for a slot's outputs. One by one: the time limit is that of a call.
  for (int64_t s = 0; s < work_->slots(); ++s) {
    if (mode == LaunchMode::stream) reference_.run(s, 1);
    candidate_.run(s, 1);
  }
  memory_.finish();  // the judge's own work would share the device with the first units
  // The empty graph stands in for the unit's fixed cost.
  for (RunnerSession* runner : {&reference_, &candidate_}) {
    if (std::string why = record(*runner, {0, 0}); !why.empty()) return why;
  }
  const double empty = empty_reference_[index(mode)] = empty_unit(reference_);
  // Both runners do the same around a unit. What a candidate's takes longer than the reference's
  // over nothing is not taken off, or a candidate that slows its empty units would gain by it.
  constexpr double jitter_seconds = 3e-6;
  empty_candidate_ = std::min(empty_unit(candidate_), empty + jitter_seconds);
  recorded_ = random_range(calls_);
  for (RunnerSession* runner : {&reference_, &candidate_}) {
    if (std::string why = record(*runner, recorded_); !why.empty()) return why;
  }
  warm_up();
  return "";
}

void Duel::restart_clocks() {
  stream_seconds_ = clocks_ = probe_seconds_ = publishing_seconds_ = {};
  ready_ = {};
  beside_seconds_.clear();
}

Duel::Range Duel::random_range(int64_t count) {
  std::uniform_int_distribution<int64_t> first(0, work_->slots() - count);
  return {first(choices_), count};
}

// @return "", or why it cannot be recorded; calls on a stream need no recording.
std::string Duel::record(RunnerSession& runner, Range range) const {
  return mode_ == LaunchMode::stream ? "" : runner.capture(range.first, range.count);
}

// Leaves a graph that can be timed: its first launch has brought it to the device.
void Duel::record_again(RunnerSession& runner, Range range) {
  const std::string why = record(runner, range);
  if (!why.empty()) runner.fail(Verdict::runtime_error, why + ", although it could before");
  if (mode_ == LaunchMode::graph) unit(runner, range);
}

double Duel::empty_unit(RunnerSession& runner) {
  constexpr int samples = 25;
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) seconds.push_back(unit(runner, {0, 0}));
  return median(std::move(seconds));
}

// A recorded unit is the range that was recorded last.
double Duel::unit(RunnerSession& runner, Range range) {
  get_ready(runner);
  return go(runner, range);
}

void Duel::get_ready(RunnerSession& runner, const std::function<void()>& meanwhile) {
  const auto phase = phases_.in("waking");
  runner.wake(meanwhile);
  last_ready_seconds_ = runner.seconds();
  if (&runner == &reference_ && mode_ == LaunchMode::stream) runner.warm();
}

double Duel::go(RunnerSession& runner, Range range) {
  const auto phase = phases_.in(arm(runner) == 1 ? "candidate" : "reference");
  last_answer_ =
      mode_ == LaunchMode::graph ? runner.replay() : runner.run(range.first, range.count);
  return runner.seconds();
}

// By time, not by count: clocks and libraries settle over milliseconds, not over calls.
void Duel::warm_up() {
  constexpr double enough_seconds = 0.1;
  const auto start = Clock::now();
  do {
    unit(reference_, recorded_);
    unit(candidate_, recorded_);
  } while (seconds_since(start) < enough_seconds);
}

void Duel::draw(Range called) {
  const auto phase = phases_.in("inputs");
  for (int64_t s = called.first; s < called.first + called.count; ++s) {
    work_->draw_slot(s, inputs_, rng_);
  }
}

// The last thing before the first unit that is to read it, so that nobody can begin earlier.
// @return seconds
double Duel::publish(Range called) {
  const auto phase = phases_.in("inputs");
  memory_.finish();
  const auto start = Clock::now();
  for (int64_t s = 0; s < work_->slots(); ++s) {
    called.contains(s) ? work_->publish_slot(s) : work_->poison(s);
  }
  memory_.finish();
  return seconds_since(start);
}

// New inputs for these calls. @return seconds that publish() took
double Duel::renew(Range called) {
  draw(called);
  return publish(called);
}

void Duel::expect(Range called) {
  const auto phase = phases_.in("expected");
  expected_.assign(work_->slots(), {});
  for (int64_t s = called.first; s < called.first + called.count; ++s) {
    expected_[s] = task_.reference(sizes_, work_->arguments(s));
    // Attention comes as a view of another order; in one piece it is checked in one pass.
    for (at::Tensor& output : expected_[s]) output = output.contiguous();
  }
  memory_.finish();
}

void Duel::verify(Range called) {
  if (plan_.control) return;
  const auto phase = phases_.in("checks");
  candidate_.inspect();
  for (int64_t s = 0; s < work_->slots(); ++s) {
    called.contains(s) ? verify_call(s) : work_->check_untouched(s);
  }
  work_->check_inputs("timed");
  work_->check_guards("timed");
}

void Duel::verify_call(int64_t slot) {
  for (size_t i = 0; i < work_->outputs().size(); ++i) {
    verify_output(slot, i, work_->output(slot, i));
  }
}

void Duel::verify_output(int64_t slot, size_t output, const at::Tensor& got) {
  const TensorSpec& spec = work_->outputs()[output];
  const at::Tensor& library = expected_[slot][output];
  const bool right =
      spec.argument_of
          ? !compare_argument(spec, got, library, work_->input(spec.argument_of->input, slot)).worst
          : surely_right(spec, got, library, plan_.tolerances[output]);
  if (right) return;
  Expectation expected(task_, sizes_, work_->arguments(slot), plan_.oracle);
  const Comparison c = expected.compare_with_rounding(output, got, task_, sizes_, rng_);
  if (!c.worst) return;
  throw Decided(Verdict::incorrect, "a timed call was wrong although checked calls were right: " +
                                        describe_worst(spec, c));
}

// What a unit took beyond an empty one. Noise must not turn a short unit into nothing.
double Duel::net_unit(RunnerSession& runner, Range range, double empty) {
  TORCH_CHECK(mode_ == LaunchMode::stream || runner.has_replayed(),
              "the first launch of a graph must not be timed");
  const double gross = unit(runner, range);
  return std::max(gross - empty, gross / 10);
}

// A part of the calls, chosen after whatever was recorded: one that had done its work for another
// leaves an output unwritten here, or writes one that nobody asked for.
void Duel::audit() {
  std::uniform_int_distribution<int> dice(1, 4);
  if (calls_ == 1 || (std::exchange(audited_, true) && dice(choices_) > 1)) return;
  std::uniform_int_distribution<int64_t> some(1, calls_ / 2);
  const Range range = random_range(some(choices_));
  record_again(candidate_, range);
  renew(range);
  unit(candidate_, range);
  expect(range);
  verify(range);
  record_again(candidate_, recorded_);
}

// A recorded unit keeps its places in memory, and some are faster than others: none may speak for a
// whole chain.
void Duel::record_elsewhere() {
  const auto phase = phases_.in("recording");
  const Range range = random_range(calls_);
  if (range.first == recorded_.first) return;
  recorded_ = range;
  for (RunnerSession* runner : {&reference_, &candidate_}) record_again(*runner, recorded_);
}

Block Duel::block() {
  constexpr int blocks_of_a_recording = 4;
  audit();
  if (mode_ == LaunchMode::graph && ++blocks_ % blocks_of_a_recording == 0) record_elsewhere();
  // A place in the block for late inputs, in each chain's first block and now and then later.
  std::uniform_int_distribution<int> place(0, std::exchange(surprised_, true) ? 23 : 2);
  const int late = place(choices_);
  Block block{};
  block.a1 = reference_unit(ready_.before);
  if (late == 0) late_inputs(next_range());
  block.b1 = candidate_unit();
  if (late == 1) late_inputs(next_range());
  block.b2 = candidate_unit();
  if (late == 2) late_inputs(next_range());
  block.a2 = reference_unit(ready_.after);
  return block;
}

// The same for both arms, or what comes before a unit would speak for one of them.
double Duel::timed_unit(RunnerSession& runner, double empty, std::vector<double>& ready,
                        Range range) {
  places_ = work_->output_places(range.first, range.count, rng_);
  publishing_seconds_[arm(runner)].push_back(renew(range));
  const double seconds = net_unit(runner, range, empty);
  ready.push_back(last_ready_seconds_);
  after_unit(runner);
  return seconds;
}

// What the inputs give the reference, nobody needs to know.
double Duel::reference_unit(std::vector<double>& ready) {
  return timed_unit(reference_, empty_reference(), ready, next_range());
}

// Its inputs come when the reference's unit is over, and its outputs are right before the next one
// begins: what it does in the reference's units is of no use to it.
double Duel::candidate_unit() {
  const Range range = next_range();
  const double seconds = timed_unit(candidate_, empty_candidate_, ready_.candidate, range);
  expect(range);
  verify(range);
  check_unchanged();
  return seconds;
}

// Not timed, but like a unit that is: some inputs get their values only while the runner gets
// ready, or when it is; one that had begun before is wrong. The first shows in nothing else, the
// second comes surely after whatever it does then, but keeps it waiting some microseconds longer.
void Duel::late_inputs(Range range) {
  draw(range);
  std::function<void()> give_back;
  {
    const auto phase = phases_.in("inputs");
    give_back = work_->hold_back_inputs(range.first, range.count, rng_);
  }
  publish(range);
  const auto reveal = [&] {
    give_back();
    memory_.finish();
  };
  std::bernoulli_distribution coin;
  if (coin(choices_)) {
    get_ready(candidate_, reveal);
  } else {
    get_ready(candidate_);
    reveal();
  }
  go(candidate_, range);
  expect(range);
  verify(range);
}

// Some elements of the outputs as the runner left them, before anything else; and how long that and
// a small kernel take, while the device's clock is counted.
void Duel::after_unit(const RunnerSession& runner) {
  const auto phase = phases_.in("checks");
  const size_t arm = this->arm(runner);
  const auto start = Clock::now();
  left_ = work_->outputs_at(places_);
  if (const auto mhz = sm_clock_mhz()) clocks_[arm].push_back(*mhz);
  probe_seconds_[arm].push_back(seconds_since(start));
  stream_seconds_[arm].push_back(1e-3 * last_answer_.event_ms);
  if (&runner == &candidate_) beside_seconds_.push_back(1e-3 * last_answer_.beside_ms);
}

void Duel::check_unchanged() const {
  const auto phase = phases_.in("checks");
  const std::vector<at::Tensor> now = work_->outputs_at(places_);
  for (size_t i = 0; i < now.size(); ++i) {
    if (same_bits(left_[i], now[i])) continue;
    throw Decided(Verdict::cheat,
                  "the output '" + work_->outputs()[i].name +
                      "' of a timed unit changed after the runner had said that it was done");
  }
}

// The calls of the next unit.
Duel::Range Duel::next_range() {
  return mode_ == LaunchMode::graph ? recorded_ : random_range(calls_);
}

ReferenceTimes Duel::reference_beside(double unit) const {
  return {.unit = unit,
          .empty = empty_reference(),
          .ready = ready_before_seconds(),
          .publishing = publishing_reference_seconds()};
}

ReferenceTimes Duel::reference_alone(LaunchMode mode, int samples) {
  // A graph keeps the memory of its outputs; on a stream each slot's are allocated anew then.
  if (mode_ == LaunchMode::graph && mode == LaunchMode::stream) reference_.capture(0, 0);
  if (mode == LaunchMode::stream) reference_.run(0, work_->slots());
  mode_ = mode;
  std::vector<double> units, ready, publishing;
  for (int i = 0; i < samples; ++i) {
    // All that comes before a unit of a block, so that it waits as long.
    const Range range = next_range();
    publishing.push_back(renew(range));
    units.push_back(net_unit(reference_, range, empty_reference()));
    ready.push_back(last_ready_seconds_);
  }
  record_again(reference_, {0, 0});
  return {.unit = median(std::move(units)),
          .empty = empty_unit(reference_),
          .ready = median(std::move(ready)),
          .publishing = median(std::move(publishing))};
}

// A kernel can tell that it is called alone: where its output lies no longer changes. So each
// sample must be right. What it does while it gets ready is part of the call.
double Duel::single_call() {
  constexpr int samples = 7;
  constexpr double enough_seconds = 1;  // where times count for nothing
  const Range only = random_range(1);
  record_again(candidate_, only);
  std::uniform_int_distribution<int> any(0, samples - 1);
  const int late = any(choices_);
  publish(only);  // and poison all others
  const auto start = Clock::now();
  std::vector<double> seconds, ready;
  for (int i = 0; i < samples; ++i) {
    if (i == late) late_inputs(only);
    draw(only);
    {
      const auto phase = phases_.in("inputs");
      work_->publish_slot(only.first);
      memory_.finish();
    }
    seconds.push_back(net_unit(candidate_, only, empty_candidate_));
    ready.push_back(last_ready_seconds_);
    expect(only);
    {
      const auto phase = phases_.in("checks");
      verify_call(only.first);
    }
    if (is_functional() && seconds_since(start) > enough_seconds) break;
  }
  verify(only);
  constexpr double jitter_seconds = 20e-6;
  const double later = median(std::move(ready)) - ready_candidate_seconds() - jitter_seconds;
  return median(std::move(seconds)) + std::max(0.0, later);
}

double Duel::reference_single_call() {
  constexpr int samples = 7;
  const Range only = random_range(1);
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) {
    renew(only);
    seconds.push_back(net_unit(reference_, only, empty_reference()));
  }
  return median(std::move(seconds));
}

}  // namespace kb
