#include "task.h"

#include "../architectures/bigbird.h"

Task kb::task() {
  return bigbird({.smoke = {4, 4, 101, 64, 2, 32, 2, 4, 128, 4, 1},
                  .odd = {7, 5, 89, 75, 3, 35, 3, 5, 77, 5, 2}});
}
