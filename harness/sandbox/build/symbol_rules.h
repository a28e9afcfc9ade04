// Which names a candidate may neither define nor ask the loader for, and why.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kb {

/// Vendor libraries that a run has declared it uses; each level includes the ones before it.
enum class LibraryPolicy { none, cublas, cudnn };

/// "none", "cublas" or "cudnn"; nothing for another text.
std::optional<LibraryPolicy> parse_library_policy(std::string_view text);
std::string_view library_policy_name(LibraryPolicy policy);

/// Why a candidate's object may not define this symbol with external linkage, as the end of the
/// sentence "candidate defines X, ..."; nothing if it may. `weak`: an inline function or template,
/// which headers bring along, so some names are only refused when strong.
std::optional<std::string> forbidden_definition(std::string_view symbol, bool weak);

/// Why a candidate's module may not import this symbol, as the end of "candidate ..."; nothing if
/// it may.
std::optional<std::string> forbidden_import(std::string_view symbol, LibraryPolicy policy);

/// True if the mangled name lives in namespace `name` (functions, variables, type information).
bool in_namespace(std::string_view symbol, std::string_view name);

}  // namespace kb
