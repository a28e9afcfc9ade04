#include "task.h"

#include "../architectures/electra.h"

Task kb::task() {
  return electra({.smoke = {1, 31, 101, 64, 2, 16, 32, 2, 4, 128},
                  .odd = {2, 70, 89, 75, 3, 13, 35, 3, 5, 77}});
}
