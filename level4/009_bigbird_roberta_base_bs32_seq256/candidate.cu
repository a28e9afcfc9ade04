#include "task.h"

#include "../architectures/bigbird.cuh"
