// Compiles without end.
// Task: level1/019_relu
// Expected: compile_error
#include "task.h"

template <long N>
struct Deep {
  static constexpr long value = Deep<N - 1>::value + 1;
};

static const long value = Deep<1000000000>::value;

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {}
