#include "task.h"

#include "../architectures/gpt2.h"

Task kb::task() {
  return gpt2({.smoke = {4, 4, 101, 64, 32, 2, 4}, .odd = {7, 5, 89, 75, 35, 3, 5}});
}
