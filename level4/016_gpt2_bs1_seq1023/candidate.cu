#include "task.h"

#include "../architectures/gpt2.cuh"
