// Estimates count whole tensors; what is small against them is covered by round numbers.
#include "judge/acceptance/memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/result/verdict.h"
#include "judge/acceptance/expectation.h"
#include "judge/acceptance/extents.h"

namespace kb {
namespace {

constexpr int64_t gib = int64_t{1} << 30;

// Tensors and the copies that judging keeps of them, in bytes.
struct Footprint {
  int64_t given = 0, outputs = 0;
};

Footprint footprint(const Task& task, const SizeBytes& sizes) {
  Footprint bytes;
  for (const TensorSpec& spec : task.tensors(sizes)) {
    if (spec.role == Role::unread) continue;
    (spec.role == Role::output ? bytes.outputs : bytes.given) += spec.bytes();
  }
  return bytes;
}

SizeBytes halved(const Task& task, SizeBytes sizes, const ExtentGroup& group) {
  for (const Extent& extent : group) {
    const int64_t value = value_at(task, sizes, extent);
    if (value > 1) sizes = with_value(task, sizes, extent, value / 2);
  }
  return sizes;
}

// Samples first, then the largest; nothing if there is nothing to halve.
std::optional<ExtentGroup> next_to_halve(const Task& task, const SizeBytes& sizes) {
  const std::vector<TensorSpec> specs = task.tensors(sizes);
  const auto counts_samples = [&](const Extent& extent) {
    for (size_t i = 0; i < specs.size(); ++i) {
      const auto& dims = extent.dims[i];
      if (specs[i].role == Role::input) return !dims.empty() && dims.front() == 0;
    }
    return false;
  };
  const auto rank = [&](const ExtentGroup& group) {
    return std::pair(counts_samples(group.front()), group.front().value);
  };
  std::optional<ExtentGroup> best;
  for (ExtentGroup& group : extent_groups(task, sizes)) {
    if (group.front().value < 2) continue;
    if (!best || rank(group) > rank(*best)) best = std::move(group);
  }
  return best;
}

Decided does_not_fit(int64_t needed, const std::string& whose, int64_t available) {
  return Decided(Verdict::skipped, "judging at full size needs " + std::to_string(needed >> 20) +
                                       " MiB of " + whose + " memory, " +
                                       std::to_string(available >> 20) + " MiB are free");
}

}  // namespace

int64_t peak_bytes(const Task& task, const SizeBytes& sizes) {
  const Footprint bytes = footprint(task, sizes);
  // Shared and private inputs and their fp64 copy (2x); output, snapshot, LibTorch's result,
  // oracle (2x), fp64 intermediate (2x); a gigabyte for comparing and workspaces.
  return 4 * bytes.given + 7 * bytes.outputs + gib;
}

int64_t sliced_peak_bytes(const Task& task, const SizeBytes& sizes, const Slicing& slicing) {
  const Footprint bytes = footprint(task, sizes);
  // Shared and private inputs; output, snapshot, LibTorch's result; one slice and what does not
  // shrink with it; two gigabytes for comparing and workspaces.
  return 2 * bytes.given + 3 * bytes.outputs + slicing.bytes(task, sizes) + 2 * gib;
}

int64_t host_bytes(const Task& task, const SizeBytes& sizes) {
  const Footprint bytes = footprint(task, sizes);
  // Inputs in fp64 (2x); output, LibTorch's result, oracle (2x), fp64 intermediate (2x).
  return 2 * bytes.given + 6 * bytes.outputs + gib;
}

int64_t free_host_bytes() {
  std::ifstream facts("/proc/meminfo");
  for (std::string name, unit, line; std::getline(facts, line);) {
    int64_t kilobytes = 0;
    if (std::istringstream(line) >> name >> kilobytes && name == "MemAvailable:") {
      return kilobytes << 10;
    }
  }
  return 0;
}

OraclePlan plan_oracle(const Task& task, const SizeBytes& sizes, int64_t available,
                       int64_t host_available) {
  const int64_t whole = peak_bytes(task, sizes);
  if (whole <= available / 4 * 3) return {};
  const Footprint bytes = footprint(task, sizes);
  if (const auto slicing = Slicing::find(task)) {
    const int64_t least = sliced_peak_bytes(task, sizes, *slicing);
    if (least <= available) return {.slicing = slicing};
    if (whole <= available) return {};
    throw does_not_fit(least, "device", available);
  }
  if (whole <= available) return {};
  if (whole - 2 * bytes.outputs <= available) return {.on_host = true};
  // Shared and private inputs; output and what it is compared with, or LibTorch at work.
  const int64_t least = 2 * bytes.given + 3 * bytes.outputs + gib;
  if (least > available) throw does_not_fit(least, "device", available);
  const int64_t host = host_bytes(task, sizes);
  if (host > host_available) throw does_not_fit(host, "the host's", host_available);
  return {.on_host = true, .oracle_on_host = true};
}

FullSizes::FullSizes(const std::string& choice) : choice_(choice) {
  if (choice == "full") return;
  constexpr int64_t reserve = 2 * gib, most = 4096;
  int64_t gigabytes = 0;
  const char* end = choice.data() + choice.size();
  const auto [stop, error] = std::from_chars(choice.data(), end, gigabytes);
  if (error != std::errc() || std::string(stop, end) != "g" || gigabytes < 4 || gigabytes > most) {
    throw std::invalid_argument(
        "sizes are 'full' or '<N>g' for a GPU with N GB of memory, such as "
        "'24g', not '" +
        choice + "'");
  }
  budget_ = gigabytes * 1'000'000'000 - reserve;
}

SizeBytes FullSizes::of(const Task& task) const {
  SizeBytes sizes = task.full;
  if (budget_ == 0) return sizes;
  while (peak_bytes(task, sizes) > budget_) {
    const auto group = next_to_halve(task, sizes);
    if (!group) break;
    sizes = halved(task, sizes, *group);
  }
  return sizes;
}

Task FullSizes::scaled(const Task& task) const {
  Task copy = task;
  copy.full = of(task);
  return copy;
}

std::string FullSizes::name(const Task& task) const {
  return of(task) == task.full ? "full" : "full@" + choice_;
}

}  // namespace kb
