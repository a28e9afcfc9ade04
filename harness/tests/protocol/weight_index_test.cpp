// How launch() finds a weight of hundreds.
#include "sandbox/protocol/weight_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kb {
namespace {

TEST(WeightIndex, FindsEachOfManyByName) {
  for (const size_t count : {size_t{1}, size_t{62}, size_t{600}}) {
    std::vector<std::string> names;
    std::vector<Weight> table;
    for (size_t i = 0; i < count; ++i) names.push_back("layer." + std::to_string(i) + ".weight");
    for (const std::string& name : names) {
      table.push_back({name.c_str(), nullptr, 1, {static_cast<int64_t>(table.size())}});
    }
    const WeightIndex index(table);
    const Weights weights = index.weights(table);
    EXPECT_EQ(weights.size(), count);
    for (size_t i = 0; i < count; ++i) {
      // Another copy of the name: what it is counts, not where it lies.
      EXPECT_EQ(weights.find(std::string(names[i]).c_str()).shape[0], static_cast<int64_t>(i));
    }
  }
}

TEST(WeightIndexDeathTest, NamesWhatIsMissing) {
  const std::vector<Weight> table{{"conv1.weight", nullptr, 1, {1}}};
  const WeightIndex index(table), none({});
  EXPECT_DEATH(index.weights(table).find("conv2.weight"), "no weight named 'conv2.weight'");
  EXPECT_DEATH(none.weights({}).find(""), "no weight named ''");
}

}  // namespace
}  // namespace kb
