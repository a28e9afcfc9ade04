// The facts about one compilation that go into <object>.build.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/build/ptxas.h"

namespace kb {

/// How a compilation ended.
enum class BuildStatus {
  ok,
  compile_error,
  timeout,
  out_of_memory,
  unsupported,
  crash,
  policy_violation
};

/// As it is written in JSON, such as "compile_error".
std::string_view status_name(BuildStatus status);

/// Contents of build.json, schema 1. `reason` is one sentence, empty if the status is ok.
struct BuildRecord {
  BuildStatus status = BuildStatus::ok;
  std::string reason;
  int exit_code = 0;
  int signal = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  double spent_seconds = 0;  ///< by all compilers, linkers and disassemblers together
  double left_seconds = 0;   ///< of what they may take
  uint64_t peak_bytes = 0;
  std::string source;
  std::string source_sha256;
  std::string compiler;
  std::vector<std::string> command;
  std::string diagnostics;  ///< printable, at most 64 KiB
  uint64_t object_bytes = 0;
  std::string cuda_syntax = "unchecked";  ///< "ok": accepted by nvcc, "clang": by clang, "failed"
  std::string compile_sandbox = "none";
  std::string library = "none";      ///< the declared library policy
  std::vector<std::string> headers;  ///< names of the declared headers
  std::optional<int> static_constructors;
  std::vector<KernelResources> resources;
};

/// The record as JSON text.
std::string to_json(const BuildRecord& record);

}  // namespace kb
