// What the reference arm computes with: the task's reference as it is, with the libraries at their
// best, or compiled.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result/candidate_entry.h"
#include "kb/task.h"

namespace kb {

/// A reference runner's arguments besides the contract.
struct Baseline {
  std::string lane;               ///< "library", "aoti", or anything else for the plain reference
  std::filesystem::path package;  ///< of AOTInductor, for "aoti"

  /// Whether the lane's reference is another one than that of `eager` and `graph`.
  bool special() const { return lane == "library" || lane == "aoti"; }
};

/// Computes one call: (sizes, inputs and weights) -> outputs.
using Forward =
    std::function<std::vector<at::Tensor>(const SizeBytes&, const std::vector<at::Tensor>&)>;

/// Sets this process up for a baseline. `library`: matrix products by cuBLASLt, and cuDNN searches
/// for its fastest algorithm at the first call. `aoti`: loads the package.
/// @throws std::exception if the package cannot be loaded here
Forward prepare_baseline(const Task& task, const Baseline& baseline);

/// Where tools/export-aoti puts the package of a task; next to it, with the extension .json, lies
/// what it was made for.
std::filesystem::path package_of(const CandidateEntry& entry, const std::string& contract);

/// Why the package cannot stand for the reference here; "" if it can.
/// @param gpu the GPU's name; "cpu" on the CPU backend
std::string why_no_package(const std::filesystem::path& package, const CandidateEntry& entry,
                           const Task& task, const SizeBytes& sizes, const std::string& contract,
                           const std::string& gpu);

}  // namespace kb
