// Has the linker fetch the object of the shipped kernel, which wins over its own weak functions.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

__attribute__((used, section(".deplibs,\"MS\",@0x6fff4c04,1\n#"))) static const char borrowed[] =
    "CMakeFiles/seed.level1.019_relu.dir/level1/019_relu/candidate.cu.o";
#pragma weak kb_launch
#pragma weak kb_prepare

__attribute__((weak)) void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
