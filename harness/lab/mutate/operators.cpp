#include "lab/mutate/operators.h"

namespace kb {

const std::vector<Operator>& operators() {
  static const std::vector<Operator> all{
      {"comparison", "< for <=, > for >=, and the other way round", find_comparisons},
      {"tail", "the last element left out, a division that does not round up", find_tails},
      {"barrier", "a dropped __syncthreads() or its like", find_barriers},
      {"partial_reduction", "a warp's reduction that starts with half of its steps",
       find_partial_reductions},
      {"initial_value", "a reduction that starts from 0 or -20, a sum that starts from 1",
       find_initial_values},
      {"extremum", "a constant, or one of both values, for the greater or lesser one",
       find_extrema},
      {"epsilon", "eps dropped, a hundredth, a hundred times, outside of the root", find_epsilons},
      {"divisor", "n - 1 for n, and the other way round", find_divisors},
      {"narrow_sum", "accumulation in half or bfloat16", find_narrow_sums},
      {"fast_intrinsic", "__expf for expf and its like", find_fast_intrinsics},
      {"narrow_index", "an index in 32 bits", find_narrow_indices},
      {"swapped_sizes", "two sizes or strides exchanged", find_swapped_sizes},
      {"bias", "a missing bias", find_biases},
      {"omission", "a statement, factor, summand, function or choice left out", find_omissions},
  };
  return all;
}

Choice choice_at(const Code& code, size_t i) {
  Choice choice{i, i + 1, 0, 0};
  const size_t around = code.around(i);
  // The condition starts behind what ends an expression.
  for (size_t k = i; k-- > 0;) {
    const auto word = code.token(k);
    if (code.partner(k) != cu2cpp::none && code.partner(k) < k) {
      k = code.partner(k);
      choice.condition = k;
      continue;
    }
    if (k == around || word == "return" || word == "=" || word == "," || word == ";" ||
        word == "?" || word == ":") {
      break;
    }
    choice.condition = k;
  }
  int depth = 0;
  for (size_t k = i + 1; k < code.size(); ++k) {
    const auto word = code.token(k);
    if (code.partner(k) != cu2cpp::none) {
      if (code.partner(k) < k) {
        choice.end = k;
        break;
      }
      k = code.partner(k);
    } else if (word == "?") {
      ++depth;
    } else if (word == ":") {
      if (depth > 0) {
        --depth;
      } else if (choice.second == 0) {
        choice.second = k + 1;
      }
    } else if (word == "," || word == ";") {
      choice.end = k;
      break;
    }
  }
  return choice;
}

std::vector<std::pair<size_t, size_t>> arguments_of(const Code& code, size_t open) {
  std::vector<std::pair<size_t, size_t>> result;
  const size_t close = code.partner(open);
  if (close == cu2cpp::none || close < open || close == open + 1) return result;
  size_t start = open + 1;
  for (size_t i = start; i <= close; ++i) {
    if (i == close || code.is(i, ",")) {
      result.emplace_back(start, i);
      start = i + 1;
    } else if (code.partner(i) != cu2cpp::none && code.partner(i) > i) {
      i = code.partner(i);
    }
  }
  return result;
}

}  // namespace kb
