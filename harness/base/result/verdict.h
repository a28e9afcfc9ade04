// The verdicts, and the exception by which any step of judging reaches one.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace kb {

/// Every candidate ends in exactly one of these.
enum class Verdict {
  pass,
  incorrect,
  compile_error,
  runtime_error,
  timeout,
  cheat,
  policy_violation,
  skipped,
  degenerate,
};

/// Exit status of a program that judged nothing; CTest shows it as "Skipped".
inline constexpr int exit_skipped = 77;

/// "pass", "incorrect", ...: the words of result files.
const char* to_string(Verdict verdict);

/// Thrown where a candidate's fate is decided.
class Decided : public std::runtime_error {
 public:
  /// @param evidence a sentence or a few that a person can act on
  /// @param worst for wrong outputs: set, output, index, expected, got, bound, reason, and of all
  ///   wrong elements wrong (how many), elements, where, first
  Decided(Verdict verdict, const std::string& evidence, nlohmann::ordered_json worst = nullptr)
      : std::runtime_error(evidence), verdict(verdict), worst(std::move(worst)) {}

  Verdict verdict;
  nlohmann::ordered_json worst;
};

}  // namespace kb
