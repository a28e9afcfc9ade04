#include "task.h"

#include "../architectures/reformer.cuh"
