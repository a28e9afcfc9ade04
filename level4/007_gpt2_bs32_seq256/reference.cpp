#include "task.h"

#include "../architectures/gpt2.h"

Task kb::task() {
  return gpt2({.smoke = {2, 16, 101, 64, 32, 2, 4}, .odd = {3, 23, 89, 75, 35, 3, 5}});
}
