// Orders by hash, so that a mutant's place does not depend on how many others there are.
#include "lab/mutate/selection.h"

#include <algorithm>
#include <map>

#include "base/sha256.h"

namespace kb {
namespace {

std::string rank(const std::string& what, uint64_t rng_seed) {
  return sha256_hex(std::to_string(rng_seed) + "\n" + what);
}

// Orders mutants by `rng_seed`.
auto by_rank(uint64_t rng_seed) {
  return [rng_seed](const Mutant& a, const Mutant& b) {
    return rank(a.id, rng_seed) < rank(b.id, rng_seed);
  };
}

// Takes one of each group in turn: all first ones, all second ones, ...
template <class T>
std::vector<T> in_turn(const std::vector<std::vector<T>>& groups) {
  std::vector<T> result;
  for (size_t i = 0, taken = 1; taken > 0; ++i) {
    taken = 0;
    for (const auto& group : groups) {
      if (i >= group.size()) continue;
      result.push_back(group[i]);
      ++taken;
    }
  }
  return result;
}

// The groups of equal keys, each ordered, and they among each other, by `rng_seed`.
template <class Key>
std::vector<std::vector<Change>> grouped(const std::vector<Change>& changes, uint64_t rng_seed,
                                         Key key) {
  std::map<std::string, std::vector<Change>> groups;
  for (const Change& c : changes) groups[rank(key(c.front()), rng_seed)].push_back(c);
  std::vector<std::vector<Change>> result;
  for (auto& [_, group] : groups) {
    std::sort(group.begin(), group.end(), [&](const Change& a, const Change& b) {
      return by_rank(rng_seed)(a.front(), b.front());
    });
    result.push_back(std::move(group));
  }
  return result;
}

}  // namespace

std::vector<Change> by_change(const std::vector<Mutant>& mutants, size_t kernels,
                              uint64_t rng_seed) {
  std::map<std::string, Change> changes;
  for (const Mutant& m : mutants) {
    changes[m.file + ":" + std::to_string(m.line) + "\n" + m.mistake + "\n" + m.before + "\n" +
            m.after]
        .push_back(m);
  }
  std::vector<Change> result;
  for (auto& [_, change] : changes) {
    std::sort(change.begin(), change.end(), by_rank(rng_seed));
    if (kernels > 0 && change.size() > kernels) change.resize(kernels);
    result.push_back(std::move(change));
  }
  return result;
}

std::vector<Change> sample(const std::vector<Change>& changes, size_t count, uint64_t rng_seed) {
  std::vector<std::vector<Change>> tasks;
  for (const auto& of_task : grouped(changes, rng_seed, [](const Mutant& m) { return m.task; })) {
    tasks.push_back(
        in_turn(grouped(of_task, rng_seed, [](const Mutant& m) { return m.task + m.mistake; })));
  }
  std::vector<Change> chosen = in_turn(tasks);
  if (chosen.size() > count) chosen.resize(count);
  return chosen;
}

}  // namespace kb
