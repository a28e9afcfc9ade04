// Processes and their cores.
#include "judge/bench/pair.h"

#include <ATen/Parallel.h>

#include <utility>

#include "judge/device/gpu_choice.h"

namespace kb {
namespace {

// None on the CPU backend: times mean nothing there, and runners use all cores.
std::optional<Cores> own_cores(const CandidateEntry& entry, const std::vector<int>& allowed) {
  if (!times_count()) return std::nullopt;
  return choose_cores(allowed, position_of_given_gpu(scheduled_gpus(entry.build_dir)));
}

}  // namespace

Pair::Pair(const CandidateEntry& entry, const ProgramOptions& options, SharedMemory& memory)
    : entry_(entry), options_(options), memory_(memory), cores_(own_cores(entry, all_cores_)) {}

// Threads that start now, one for what each runner prints, must not wake up on the judge's core.
void Pair::spread() {
  if (cores_) pin_to(all_cores_);
}

void Pair::pin_judge() {
  if (!cores_) return;
  pin_to({cores_->judge});
  at::set_num_threads(1);  // more would take turns on that core
}

void Pair::start_ahead(const Baseline& baseline) {
  reference_.reset();
  candidate_.reset();
  // A core may be slower than another for the whole time, next to another guest of the host. What
  // is timed by several pairs must not hold that against one side.
  if (cores_) std::swap(cores_->reference, cores_->candidate);
  const std::string schedule = times_count() ? "" : "forward";
  RunnerOptions reference = reference_runner(options_, baseline);
  if (!options_.reference_module.empty()) {
    reference = candidate_runner(entry_, options_, schedule);
    reference.module = options_.reference_module;
    reference.who = "the reference module";
  }
  RunnerOptions candidate = candidate_runner(entry_, options_, schedule);
  if (cores_) {
    reference.cpu = cores_->reference;
    candidate.cpu = cores_->candidate;
  }
  spread();
  memory_.renew();
  reference_ = std::make_unique<RunnerSession>(reference, memory_);
  candidate_ = std::make_unique<RunnerSession>(candidate, memory_);
  ahead_ = true;
}

void Pair::start(const Baseline& baseline) {
  if (!ahead_) start_ahead(baseline);
  ahead_ = false;
}

void Pair::load() {
  for (RunnerSession* runner : {reference_.get(), candidate_.get()}) runner->load();
}

void Pair::end_candidate() {
  candidate_->end();
  printed_ += candidate_->output();
  candidate_.reset();
}

std::unique_ptr<RunnerSession> Pair::start_control() {
  RunnerOptions options = control_runner(entry_);
  if (cores_) options.cpu = cores_->candidate;
  spread();
  auto control = std::make_unique<RunnerSession>(options, memory_);
  pin_judge();
  return control;
}

std::string Pair::end() {
  if (reference_) reference_->end();
  if (candidate_) end_candidate();  // the last pair was not brought to its end
  return printed_;
}

}  // namespace kb
