#include "base/result/fate.h"

namespace kb {

const char* to_string(Fate fate) {
  switch (fate) {
    case Fate::killed:
      return "killed";
    case Fate::survived:
      return "survived";
    case Fate::equivalent:
      return "equivalent";
    case Fate::unreached:
      return "unreached";
    default:
      return "invalid";
  }
}

}  // namespace kb
