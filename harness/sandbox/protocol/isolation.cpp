// The names are those of the bits; result files and env.json carry them.
#include "sandbox/protocol/isolation.h"

#include <array>
#include <utility>

namespace kb::protocol {
namespace {

constexpr std::array<std::pair<Layer, const char*>, 8> names{{
    {no_new_privileges, "no_new_privileges"},
    {limits, "limits"},
    {user_namespace, "user_namespace"},
    {network_namespace, "network_namespace"},
    {ipc_namespace, "ipc_namespace"},
    {process_namespace, "process_namespace"},
    {file_access, "file_access"},
    {system_calls, "system_calls"},
}};

constexpr uint32_t everywhere = no_new_privileges | limits;

}  // namespace

std::string to_string(const Isolation& isolation) {
  if (isolation.full()) return "full";
  if ((isolation.held & ~everywhere) == 0) return "basic";
  std::string missing;
  for (const auto& [layer, name] : names) {
    if ((isolation.wanted & ~isolation.held & layer) == 0) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  return "partial(" + missing + ")";
}

}  // namespace kb::protocol
