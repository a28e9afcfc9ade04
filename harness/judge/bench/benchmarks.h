// Google Benchmark runs the blocks of a bench: a chain is a benchmark, a block is a repetition.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "judge/bench/chain.h"

namespace kb {

/// What a program's `--benchmark_...` flags ask for, and what its benchmarks have shown. One at a
/// time: Google Benchmark's registry and flags belong to the process.
class Benchmarks {
 public:
  /// @param candidate what the benchmarks' names begin with: "seed.level1.019_relu/eager"
  /// @param program the name that the context gives
  /// @param flags `--benchmark_...`; one that Google Benchmark does not know ends the program
  Benchmarks(std::string candidate, const std::string& program, std::vector<std::string> flags);
  ~Benchmarks();

  /// Prints the lanes' benchmarks if --benchmark_list_tests asks for it. @return whether it did
  bool list(const std::vector<std::string>& lanes) const;
  /// The lanes that --benchmark_filter leaves. @throws std::runtime_error if it leaves none
  std::vector<std::string> chosen(const std::vector<std::string>& lanes) const;

  /// Adds blocks to a chain until it has as many as it wants. Replaces what earlier blocks of a
  /// chain of this name have shown. @param block times the next one @throws what it throws
  void run(Chain& chain, const std::function<Abba()>& block);
  /// Prints Google Benchmark's table, or what --benchmark_format asks for: of each chain the
  /// statistics, or its only block. Chains without blocks are left out.
  void print(const std::vector<const Chain*>& chains) const;
  /// Writes Google Benchmark's JSON, for its tools/compare.py, to `json` unless that is empty, and
  /// to the file of --benchmark_out. Its times are those of the candidate's calls, by the judge's
  /// clock.
  void write(const std::vector<const Chain*>& chains, const std::filesystem::path& json) const;

 private:
  class Kept;

  std::string name(const std::string& chain) const { return candidate_ + "/" + chain; }
  void repeat(Chain& chain, const std::function<Abba()>& block);
  const Kept* kept(const Chain& chain) const;

  std::string candidate_;
  std::string program_;  ///< Google Benchmark keeps a pointer to it
  bool list_ = false;
  std::filesystem::path out_;                          ///< of --benchmark_out, or empty
  std::map<std::string, std::unique_ptr<Kept>> kept_;  ///< by chain
};

}  // namespace kb
