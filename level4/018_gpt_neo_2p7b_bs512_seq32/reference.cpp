#include "task.h"

#include "../architectures/gpt_neo.h"

Task kb::task() {
  return gpt_neo({.smoke = {4, 4, 101, 64, 32, 2, 4, 8}, .odd = {7, 5, 89, 75, 35, 4, 5, 7}});
}
