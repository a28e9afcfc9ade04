#include "task.h"

#include "../architectures/opt.cuh"
