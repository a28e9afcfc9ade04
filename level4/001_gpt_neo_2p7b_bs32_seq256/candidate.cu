#include "task.h"

#include "../architectures/gpt_neo.cuh"
