#include "task.h"

#include "../architectures/opt.h"

Task kb::task() {
  return opt({.smoke = {1, 31, 101, 64, 32, 2, 4, 128}, .odd = {2, 70, 89, 75, 35, 3, 5, 77}});
}
