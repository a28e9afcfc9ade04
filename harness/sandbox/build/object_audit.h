// Checks a candidate's object file before a linker hides what it defines.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kb {

/// What an object file showed.
struct ObjectAudit {
  /// Why the object is refused, one sentence; nothing if it is accepted.
  std::optional<std::string> problem;
  /// Functions that run when the module is loaded, without the one that nvcc adds to each object.
  int static_constructors = 0;
};

/// Audits the object of one candidate: it must define task::launch as declared and none of the
/// names in symbol_rules.h.
ObjectAudit audit_object(const std::filesystem::path& object);

}  // namespace kb
