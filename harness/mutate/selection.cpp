// Orders by hash, so that a mutant's place does not depend on how many others there are.
#include "mutate/selection.h"

#include <algorithm>
#include <map>

#include "base/sha256.h"

namespace kb {
namespace {

std::string rank(const std::string& what, uint64_t seed) {
  return sha256_hex(std::to_string(seed) + "\n" + what);
}

bool is_of_task(const Mutant& mutant) { return mutant.file.starts_with(mutant.task + "/"); }

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

// The groups of equal keys, each ordered, and they among each other, by the seed.
template <class Key>
std::vector<std::vector<Mutant>> grouped(const std::vector<Mutant>& mutants, uint64_t seed,
                                         Key key) {
  std::map<std::string, std::vector<Mutant>> groups;
  for (const Mutant& m : mutants) groups[rank(key(m), seed)].push_back(m);
  std::vector<std::vector<Mutant>> result;
  for (auto& [_, group] : groups) {
    std::sort(group.begin(), group.end(), [&](const Mutant& a, const Mutant& b) {
      return rank(a.id, seed) < rank(b.id, seed);
    });
    result.push_back(std::move(group));
  }
  return result;
}

}  // namespace

std::vector<Mutant> once_per_block(const std::vector<Mutant>& mutants, int kernels, uint64_t seed) {
  std::map<std::string, std::vector<std::string>> takers;  // by the mutation: ranks of its tasks
  const auto mutation = [](const Mutant& m) {
    return m.file + "\n" + m.mistake + "\n" + m.before + "\n" + m.after;
  };
  const auto place = [&](const Mutant& m) { return rank(m.task + mutation(m), seed); };
  for (const Mutant& m : mutants) takers[mutation(m)].push_back(place(m));
  for (auto& [_, ranks] : takers) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    ranks.resize(std::min(ranks.size(), static_cast<size_t>(kernels)));
  }
  std::vector<Mutant> result;
  for (const Mutant& m : mutants) {
    const auto& ranks = takers.at(mutation(m));
    if (is_of_task(m) || std::binary_search(ranks.begin(), ranks.end(), place(m))) {
      result.push_back(m);
    }
  }
  return result;
}

std::vector<Mutant> sample(const std::vector<Mutant>& mutants, size_t count, uint64_t seed) {
  std::vector<std::vector<Mutant>> tasks;
  for (const auto& of_task : grouped(mutants, seed, [](const Mutant& m) { return m.task; })) {
    tasks.push_back(
        in_turn(grouped(of_task, seed, [](const Mutant& m) { return m.task + m.mistake; })));
  }
  std::vector<Mutant> chosen = in_turn(tasks);
  if (chosen.size() > count) chosen.resize(count);
  return chosen;
}

}  // namespace kb
