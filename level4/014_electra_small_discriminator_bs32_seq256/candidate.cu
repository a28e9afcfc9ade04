#include "task.h"

#include "../architectures/electra.cuh"
