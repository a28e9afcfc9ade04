// Draws, asks the task, and draws less at the next attempt.
#include "acceptance/drawn_sizes.h"

#include <algorithm>
#include <vector>

#include "acceptance/extents.h"

namespace kb {
namespace {

int64_t elements(const std::vector<TensorSpec>& specs) {
  int64_t sum = 0;
  for (const TensorSpec& spec : specs) sum += spec.numel();
  return sum;
}

int64_t draw(int64_t from, int64_t to, at::Generator& rng) {
  return at::empty({1}, at::kLong).random_(from, to + 1, rng).item<int64_t>();
}

bool small_enough(const Task& task, const SizeBytes& sizes) {
  try {
    return elements(task.tensors(sizes)) <= 4 * elements(task.tensors(task.smoke));
  } catch (const c10::Error&) {
    return false;
  }
}

}  // namespace

size_t weights_read(const Task& task) {
  const std::vector<TensorSpec> specs = task.tensors(task.smoke);
  return std::count_if(specs.begin(), specs.end(),
                       [](const TensorSpec& spec) { return spec.role == Role::weight; });
}

std::optional<SizeBytes> draw_sizes(const Task& task, at::Generator& rng) {
  constexpr int attempts = 12, one_in = 6;
  const bool network = weights_read(task) >= weights_of_network;
  const std::vector<ExtentGroup> groups = extent_groups(task, task.smoke);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    SizeBytes sizes = task.smoke;
    for (const ExtentGroup& group : groups) {
      // The last attempts change a few sizes only, if others depend on each other.
      if (attempt >= attempts / 2 && draw(0, 1, rng) == 0) continue;
      const int64_t value = group.front().value;
      const int64_t most = value * (network || attempt > attempts / 4 ? 2 : 4);
      const bool least = !network && draw(1, one_in, rng) == 1;
      const int64_t drawn = least ? 1 : draw(network ? value : 1, most, rng);
      for (const Extent& extent : group) sizes = with_value(task, sizes, extent, drawn);
    }
    if (sizes != task.smoke && small_enough(task, sizes) && accepts(task, sizes)) return sizes;
  }
  return std::nullopt;
}

}  // namespace kb
