#include "task.h"

#include "../architectures/gpt2.h"

Task kb::task() {
  return gpt2({.smoke = {1, 31, 101, 64, 32, 2, 4}, .odd = {2, 70, 89, 75, 35, 3, 5}});
}
