// Running sums of rows on the device, against those on the host.
#include "judge/acceptance/running_sum.h"

#include <algorithm>
#include <cmath>

#include "../../cpu/conformance/conformance.h"
#include "judge/acceptance/running_sums_cuda.h"

using conformance::Buffer;
using conformance::make;

namespace {

struct Shape {
  int64_t rows, columns;
};
// Rows of one part and of several, and more of them than a block has threads.
constexpr Shape shapes[] = {{1, 1}, {300, 70}, {2, kb::longest_running_sum + 3}, {3, 40000}};

KB_FEATURE(running_sums_lose_as_on_the_host) {
  for (const auto [rows, columns] : shapes) {
    const auto terms = make<double>(static_cast<size_t>(rows * columns),
                                    [](int i) { return i % 1000 == 7 ? -0.5 : 0.11 * (i % 3); });
    Buffer<double> there(terms), losses(std::vector<double>(rows, 0.0));
    kb::add_losses_of_device_rows(there, rows, columns, losses, nullptr);
    KB_LAUNCHED();
    const std::vector<double> got = losses.read();
    for (int64_t row = 0; row < rows; ++row) {
      double expected = 0;
      for (int64_t at = 0; at < columns; at += kb::longest_running_sum) {
        expected += kb::loss_of_running_sum(terms.data() + row * columns + at,
                                            std::min(columns - at, kb::longest_running_sum));
      }
      KB_EXPECT(std::abs(got[row] - expected) <= 1e-12 * expected);
    }
  }
}

KB_FEATURE(running_sums_lose_nothing_to_infinity) {
  const double terms[] = {1, INFINITY, 2};
  KB_EXPECT(kb::loss_of_running_sum(terms, 3) == 0);
}

}  // namespace
