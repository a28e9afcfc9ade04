// Verdict names.
#include "base/result/verdict.h"

namespace kb {

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::incorrect:
      return "incorrect";
    case Verdict::compile_error:
      return "compile_error";
    case Verdict::runtime_error:
      return "runtime_error";
    case Verdict::timeout:
      return "timeout";
    case Verdict::cheat:
      return "cheat";
    case Verdict::policy_violation:
      return "policy_violation";
    case Verdict::skipped:
      return "skipped";
    case Verdict::degenerate:
      return "degenerate";
  }
  return "runtime_error";
}

}  // namespace kb
