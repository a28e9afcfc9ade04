// Writes build.json; a reader needs no knowledge of kb_cc beyond the key names.
#include "sandbox/build/build_record.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace kb {
namespace {

// Whole milliseconds, still in seconds: more digits would be noise.
double to_milliseconds(double seconds) { return std::round(seconds * 1000) / 1000; }

}  // namespace

std::string_view status_name(BuildStatus status) {
  switch (status) {
    case BuildStatus::ok:
      return "ok";
    case BuildStatus::compile_error:
      return "compile_error";
    case BuildStatus::timeout:
      return "timeout";
    case BuildStatus::out_of_memory:
      return "out_of_memory";
    case BuildStatus::unsupported:
      return "unsupported";
    case BuildStatus::crash:
      return "crash";
    case BuildStatus::policy_violation:
      return "policy_violation";
  }
  return "crash";
}

std::string to_json(const BuildRecord& record) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["schema"] = 1;
  json["status"] = status_name(record.status);
  json["reason"] = record.reason.empty() ? Json() : Json(record.reason);
  json["exit_code"] = record.exit_code;
  json["signal"] = record.signal == 0 ? Json() : Json(record.signal);
  json["seconds"] = to_milliseconds(record.seconds);
  json["cpu_seconds"] = to_milliseconds(record.cpu_seconds);
  json["spent_seconds"] = to_milliseconds(record.spent_seconds);
  json["left_seconds"] = to_milliseconds(record.left_seconds);
  json["peak_bytes"] = record.peak_bytes;
  json["source"] = record.source;
  json["source_sha256"] = record.source_sha256;
  json["compiler"] = record.compiler;
  json["command"] = record.command;
  json["diagnostics"] = record.diagnostics;
  json["object_bytes"] = record.object_bytes;
  json["cuda_syntax"] = record.cuda_syntax;
  json["compile_sandbox"] = record.compile_sandbox;
  json["library"] = record.library;
  json["headers"] = record.headers;
  json["static_constructors"] =
      record.static_constructors ? Json(*record.static_constructors) : Json();
  json["resources"] = Json::array();
  for (const KernelResources& kernel : record.resources) {
    const auto sass = [&](uint32_t SassFacts::*count) {
      return kernel.sass ? Json((*kernel.sass).*count) : Json();
    };
    json["resources"].push_back(
        {{"kernel", kernel.kernel},
         {"arch", kernel.arch},
         {"registers", kernel.registers},
         {"spill_stores_bytes", kernel.spill_stores_bytes},
         {"spill_loads_bytes", kernel.spill_loads_bytes},
         {"shared_bytes", kernel.shared_bytes},
         {"stack_bytes", kernel.stack_bytes},
         {"tensor_core_instructions", sass(&SassFacts::tensor_core_instructions)},
         {"vector_load_instructions", sass(&SassFacts::vector_load_instructions)}});
  }
  // Paths and words may hold bytes that are not UTF-8; they must not make the record unreadable.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace kb
