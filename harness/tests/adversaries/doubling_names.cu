// Defines a function whose readable name doubles with each of 40 levels.
// Task: level1/019_relu
// Expected: compile_error
// Says: which belongs to namespace testing of another library
#include "shared/relu.cuh"

template <class A, class B>
struct Pair {};

template <int level>
struct Level {
  using Type = Pair<typename Level<level - 1>::Type, typename Level<level - 1>::Type>;
};

template <>
struct Level<0> {
  using Type = int;
};

namespace testing {
void expect(Level<40>::Type*) {}
}  // namespace testing

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  honest(s, x, y, stream);
}
