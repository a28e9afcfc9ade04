// Looks at a module with the loader's eyes: dynamic symbols, needed libraries, dynamic tags.
#include "sandbox/build/module_audit.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "base/printable.h"
#include "sandbox/build/demangler.h"
#include "sandbox/build/elf_file.h"

namespace kb {
namespace {

using Name = std::string_view;

constexpr std::array<Name, 2> allowed_exports = {"kb_launch", "kb_prepare"};

// In any version. libpthread, libdl and librt are part of libc since glibc 2.34 but stay NEEDED
// where an older one links.
constexpr std::array<Name, 11> allowed_needed = {
    "libcudart.so",       "libkb_cudacpu.so", "libstdc++.so", "libm.so",  "libgcc_s.so", "libc.so",
    "ld-linux-x86-64.so", "libpthread.so",    "libdl.so",     "librt.so", "libatomic.so"};

// True for the library itself and its versions: "libm.so" names libm.so and libm.so.6.
bool names_library(Name needed, Name library) {
  return needed.starts_with(library) &&
         needed.find_first_not_of(".0123456789", library.size()) == Name::npos;
}

std::optional<ModuleAudit> audit_exports(const ElfFile& file) {
  bool has_launch = false;
  for (const ElfSymbol& symbol : file.dynamic_symbols) {
    if (!symbol.defined() || symbol.local()) continue;
    if (std::find(allowed_exports.begin(), allowed_exports.end(), symbol.name) ==
        allowed_exports.end()) {
      return ModuleAudit{AuditVerdict::policy_violation,
                         "candidate's module exports " + demangled(symbol.name)};
    }
    has_launch |= symbol.name == "kb_launch";
  }
  if (has_launch) return std::nullopt;
  return ModuleAudit{AuditVerdict::compile_error,
                     "candidate's module has no entry point kb_launch: it did not compile"};
}

std::optional<ModuleAudit> audit_imports(const ElfFile& file, const ModulePolicy& policy) {
  for (const ElfSymbol& symbol : file.dynamic_symbols) {
    if (symbol.defined()) continue;
    if (const auto reason = forbidden_import(symbol.name, policy.library)) {
      return ModuleAudit{AuditVerdict::policy_violation,
                         "candidate " + *reason + " (" + demangled(symbol.name) + ")"};
    }
  }
  return std::nullopt;
}

std::optional<ModuleAudit> audit_libraries(const ElfFile& file, const ModulePolicy& policy) {
  for (const std::string& needed : file.needed) {
    if (may_need(needed, policy)) continue;
    const std::string name = printable(needed);
    return ModuleAudit{AuditVerdict::policy_violation,
                       "candidate's module needs " + std::string(first_bytes(name, 300)) +
                           ", which the library policy '" +
                           std::string(library_policy_name(policy.library)) + "' does not allow"};
  }
  for (const int64_t tag : file.dynamic_tags) {
    if (tag != DT_AUXILIARY && tag != DT_FILTER && tag != DT_AUDIT && tag != DT_DEPAUDIT) continue;
    return ModuleAudit{AuditVerdict::policy_violation,
                       "candidate's module makes the loader load another library"};
  }
  return std::nullopt;
}

}  // namespace

bool may_need(std::string_view needed, const ModulePolicy& policy) {
  const auto named = [&](Name prefix) { return names_library(needed, prefix); };
  if (std::any_of(allowed_needed.begin(), allowed_needed.end(), named)) return true;
  if (std::any_of(policy.extra_needed.begin(), policy.extra_needed.end(), named)) return true;
  const bool cublas = named("libcublas.so") || named("libcublasLt.so");
  if (cublas) return policy.library >= LibraryPolicy::cublas;
  // cuDNN 9 is split into libcudnn_graph.so, libcudnn_ops.so and others.
  const bool cudnn = needed.starts_with("libcudnn") && needed.find(".so.") != Name::npos;
  return cudnn && policy.library >= LibraryPolicy::cudnn;
}

ModuleAudit audit_module(const std::filesystem::path& module, const ModulePolicy& policy) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(module, error);
  if (error) {
    return {AuditVerdict::compile_error, "candidate has no module"};
  }
  if (bytes > policy.max_bytes) {
    return {AuditVerdict::policy_violation,
            "candidate's module has " + std::to_string(bytes) + " bytes, more than the " +
                std::to_string(policy.max_bytes) + " that are allowed"};
  }
  ElfFile file;
  try {
    file = read_elf(module);
  } catch (const std::runtime_error& problem) {
    return {AuditVerdict::compile_error,
            std::string("candidate's module is damaged: ") + problem.what()};
  }
  if (file.type != ET_DYN) {
    return {AuditVerdict::compile_error, "candidate's module is not a shared object"};
  }
  if (file.resolves_by_code) {
    return {AuditVerdict::policy_violation,
            "candidate's module has an indirect function (ifunc, target_clones), whose "
            "resolver would run before the walls around it stand"};
  }
  if (auto refused = audit_libraries(file, policy)) return *refused;
  if (auto refused = audit_imports(file, policy)) return *refused;
  if (auto refused = audit_exports(file)) return *refused;
  return {};
}

}  // namespace kb
