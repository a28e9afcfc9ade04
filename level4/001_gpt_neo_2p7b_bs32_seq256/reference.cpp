#include "task.h"

#include "../architectures/gpt_neo.h"

Task kb::task() {
  return gpt_neo({.smoke = {2, 16, 101, 64, 32, 2, 4, 8}, .odd = {3, 23, 89, 75, 35, 4, 5, 7}});
}
