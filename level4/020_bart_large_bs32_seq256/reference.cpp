#include "task.h"

#include "../architectures/bart.h"

Task kb::task() {
  return bart({.smoke = {2, 16, 101, 64, 32, 2, 4, 128}, .odd = {3, 23, 89, 75, 35, 3, 5, 77}});
}
