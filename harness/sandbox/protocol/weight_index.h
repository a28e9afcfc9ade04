// The hash table by which kb::Weights finds a weight.
#pragma once

#include <cstdint>
#include <vector>

#include "contract/include/kb/contract.h"

namespace kb {

/// Positions of weights by the hash of their names, at most half full.
class WeightIndex {
 public:
  explicit WeightIndex(const std::vector<Weight>& table) {
    size_t length = 1;
    while (length < 2 * table.size() + 1) length *= 2;
    places_.assign(length, 0);
    for (size_t i = 0; i < table.size(); ++i) {
      size_t place = Weights::hash(table[i].name) & (length - 1);
      while (places_[place] != 0) place = (place + 1) & (length - 1);
      places_[place] = static_cast<uint32_t>(i + 1);
    }
  }
  /// The table it was made from, which it and the result refer to.
  Weights weights(const std::vector<Weight>& table) const {
    return {table.data(), table.size(), places_.data(), places_.size() - 1};
  }

 private:
  std::vector<uint32_t> places_;
};

}  // namespace kb
