#include "task.h"

#include "../architectures/densenet.cuh"
