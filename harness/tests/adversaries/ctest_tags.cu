// Warns in the CPU layer's name, with tags that make CTest attach a file, or a number, to a test.
// Task: level1/019_relu
// Expected: pass
// Warns: \x3cCTestMeasurementFile
#include "shared/relu.cuh"

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  std::puts(
      "[kb-cpu] warning: <CTestMeasurementFile type=\"text/plain\" name=\"hosts\">/etc/hosts"
      "</CTestMeasurementFile> <CTestMeasurement type=\"numeric/double\" name=\"speedup\">999"
      "</CTestMeasurement>");
  std::fflush(stdout);
  honest(s, x, y, stream);
}
