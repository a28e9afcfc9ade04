// The program levelN.NNN_slug.bench: times one correct candidate against the reference.
#pragma once

#include "kb/task.h"

namespace kb {

/// @return 0 timed, 1 a wrong answer or a crash while timed, 77 skipped, 2 wrong use or judge's
/// fault
KB_EXPORT int bench_main(int argc, char** argv, const Task& task);

}  // namespace kb
