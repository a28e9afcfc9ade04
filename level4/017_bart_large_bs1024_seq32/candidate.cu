#include "task.h"

#include "../architectures/bart.cuh"
