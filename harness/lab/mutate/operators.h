// The mistakes that mutants make: each operator finds all places of a source where it applies.
#pragma once

#include <string>
#include <vector>

#include "lab/mutate/code.h"

namespace kb {

/// A kind of mistake. Operators know nothing of tasks.
struct Operator {
  const char* name;
  const char* mistake;  ///< what it does, for the report
  void (*find)(const Code&, std::vector<Edit>*);
};

/// All of them, in the order in which they claim an edit that two would make.
const std::vector<Operator>& operators();

// Bounds and threads (bounds.cpp)
void find_comparisons(const Code& code, std::vector<Edit>* edits);
void find_tails(const Code& code, std::vector<Edit>* edits);
void find_barriers(const Code& code, std::vector<Edit>* edits);
void find_partial_reductions(const Code& code, std::vector<Edit>* edits);
void find_swapped_sizes(const Code& code, std::vector<Edit>* edits);

// Values (values.cpp)
void find_initial_values(const Code& code, std::vector<Edit>* edits);
void find_extrema(const Code& code, std::vector<Edit>* edits);
void find_epsilons(const Code& code, std::vector<Edit>* edits);
void find_divisors(const Code& code, std::vector<Edit>* edits);

// Number formats (formats.cpp)
void find_narrow_sums(const Code& code, std::vector<Edit>* edits);
void find_fast_intrinsics(const Code& code, std::vector<Edit>* edits);
void find_narrow_indices(const Code& code, std::vector<Edit>* edits);

// What is left out (omissions.cpp)
void find_biases(const Code& code, std::vector<Edit>* edits);
void find_omissions(const Code& code, std::vector<Edit>* edits);

/// The condition, and both values, of the ?: whose question mark is token `i`. All are ranges of
/// tokens, the last one excluded.
struct Choice {
  size_t condition, first, second, end;
};
Choice choice_at(const Code& code, size_t i);

/// First and one behind the last token of each argument of the call whose bracket is token `open`.
std::vector<std::pair<size_t, size_t>> arguments_of(const Code& code, size_t open);

}  // namespace kb
