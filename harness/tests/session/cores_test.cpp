// Benches side by side keep out of each other's way.
#include "judge/session/cores.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace kb {
namespace {

std::vector<int> cores_from(int first, int count) {
  std::vector<int> cores(count);
  std::iota(cores.begin(), cores.end(), first);
  return cores;
}

std::vector<int> all_of(const Cores& cores) {
  return {cores.judge, cores.reference, cores.candidate};
}

TEST(Cores, BenchesOfSeveralGpusShareNone) {
  const std::vector<int> allowed = cores_from(0, 32);
  std::set<int> taken;
  for (size_t gpu = 0; gpu < 8; ++gpu) {
    for (const int core : all_of(choose_cores(allowed, gpu).value())) {
      EXPECT_NE(core, 0) << "is left to everything else";
      EXPECT_TRUE(taken.insert(core).second) << core << " belongs to two";
    }
  }
}

TEST(Cores, NeighboursAreLeftFreeWhereThereAreEnough) {
  const std::vector<int> allowed = cores_from(4, 16);  // a container may start anywhere
  std::set<int> taken;
  for (size_t gpu = 0; gpu < 2; ++gpu) {
    for (const int core : all_of(choose_cores(allowed, gpu).value())) taken.insert(core);
  }
  ASSERT_EQ(taken.size(), 6);
  for (const int core : taken) EXPECT_FALSE(taken.contains(core + 1));
}

TEST(Cores, TooFewAreNotPinned) {
  EXPECT_FALSE(choose_cores(cores_from(0, 3), 0));
  const std::vector<int> four = all_of(choose_cores(cores_from(0, 4), 0).value());
  EXPECT_EQ(std::set(four.begin(), four.end()), (std::set{1, 2, 3}));
  EXPECT_TRUE(choose_cores(cores_from(0, 4), 7)) << "more GPUs than cores: they are shared";
}

}  // namespace
}  // namespace kb
