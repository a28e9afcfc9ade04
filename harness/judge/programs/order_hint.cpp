#include "judge/programs/order_hint.h"

namespace kb {

bool may_be_a_race(const Decided& decided) {
  if (decided.verdict == Verdict::skipped) return false;
  return !decided.worst.is_object() || decided.worst.value("wrong", 1) != 0;
}

}  // namespace kb
