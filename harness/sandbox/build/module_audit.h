// Checks a candidate's linked module before anything loads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/build/symbol_rules.h"

namespace kb {

/// What a module may bring along.
struct ModulePolicy {
  LibraryPolicy library = LibraryPolicy::none;
  uint64_t max_bytes = 64ull << 20;
  /// Further libraries it may need, without version: "libasan.so" for a sanitizer build.
  std::vector<std::string> extra_needed;
};

/// True if a module may need the library `needed` ("libm.so.6") under the policy.
bool may_need(std::string_view needed, const ModulePolicy& policy);

/// How an audit ended; the names are those of the verdicts.
enum class AuditVerdict { ok, compile_error, policy_violation };

/// The first thing an audit refused.
struct ModuleAudit {
  AuditVerdict verdict = AuditVerdict::ok;
  std::string sentence;  ///< names the symbol or library, fit for a result; empty if ok
};

/// Audits the linked module of one candidate: what it exports, imports and needs, and its size.
ModuleAudit audit_module(const std::filesystem::path& module, const ModulePolicy& policy);

}  // namespace kb
