#include "task.h"

#include "../architectures/reformer.h"

Task kb::task() {
  return reformer({.smoke = {4, 4, 101, {4, 16}, {8, 24}, 32, 4, 4, 8, 64, 8, 16},
                   .odd = {7, 5, 89, {5, 7}, {9, 26}, 35, 3, 5, 7, 77, 6, 24}});
}
