#include "task.h"

#include "../architectures/opt.h"

Task kb::task() {
  return opt({.smoke = {4, 4, 101, 64, 32, 2, 4, 128}, .odd = {7, 5, 89, 75, 35, 3, 5, 77}});
}
