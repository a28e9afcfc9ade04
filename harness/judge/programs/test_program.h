// The program levelN.NNN_slug.test: judges one candidate and writes its verdict.
#pragma once

#include "kb/task.h"

namespace kb {

/// @return 0 pass, 1 any other verdict, 77 skipped, 2 wrong use or a fault of the judge's own
KB_EXPORT int test_main(int argc, char** argv, const Task& task);

}  // namespace kb
