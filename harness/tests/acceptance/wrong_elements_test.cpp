#include "judge/acceptance/wrong_elements.h"

#include <gtest/gtest.h>

namespace kb::test {
namespace {

// Marks that were all made before.
WrongMarks of(const at::Tensor& marks) {
  return [marks](int64_t first, int64_t count) { return marks.narrow(0, first, count); };
}

// Marks elements of a 6 x 8 output as wrong and describes them.
WrongElements found(const std::function<bool(int64_t row, int64_t column)>& wrong) {
  const at::Tensor mask = at::zeros({6, 8}, at::kBool);
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 8; ++j) mask[i][j] = wrong(i, j);
  }
  return wrong_elements({6, 8}, of(mask.view(-1)), [](int64_t flat) {
    return WrongElement{.got = static_cast<double>(flat), .expected = -1};
  });
}

std::string where(const std::function<bool(int64_t row, int64_t column)>& wrong) {
  return found(wrong).where;
}

TEST(WrongElements, AreCountedAndTheFirstAreShown) {
  const WrongElements some = found([](int64_t i, int64_t j) { return (i + j) % 3 == 2; });
  EXPECT_EQ(some.count, 16);
  ASSERT_EQ(some.first.size(), 5);
  EXPECT_EQ(some.first[0].index, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(some.first[2].index, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(some.first[2].got, 9);
  EXPECT_EQ(some.where, "");
  EXPECT_EQ(found([](int64_t, int64_t) { return false; }).count, 0);
}

TEST(WrongElements, SayWhereTheyLie) {
  EXPECT_EQ(where([](int64_t, int64_t) { return true; }), "all of them");
  EXPECT_EQ(where([](int64_t i, int64_t) { return i == 5; }),
            "only the last index, 5, of dimension 0");
  EXPECT_EQ(where([](int64_t i, int64_t) { return i == 2; }), "only index 2 of dimension 0");
  EXPECT_EQ(where([](int64_t, int64_t j) { return j >= 6; }),
            "only from index 6 on of dimension 1");
  EXPECT_EQ(where([](int64_t, int64_t j) { return j < 3; }), "only below index 3 of dimension 1");
  EXPECT_EQ(where([](int64_t i, int64_t j) { return i == 0 && j % 3 == 1; }),
            "only index 0 of dimension 0 and only indices 1, 4 and so on, in steps of 3, of "
            "dimension 1");
  EXPECT_EQ(where([](int64_t i, int64_t j) { return i > 0 || j > 4; }),
            "all from element 5 on, in row-major order");
}

// The output is looked at in pieces of 2^22 elements.
TEST(WrongElements, AreFoundInAllPieces) {
  constexpr int64_t rows = 5, columns = int64_t{1} << 21;
  const at::Tensor marks = at::zeros({rows, columns}, at::kBool);
  marks[2][7] = true;
  marks[4][7] = true;
  const auto value = [](int64_t) { return WrongElement{}; };
  const WrongElements two = wrong_elements({rows, columns}, of(marks.view(-1)), value);
  EXPECT_EQ(two.count, 2);
  ASSERT_EQ(two.first.size(), 2);
  EXPECT_EQ(two.first[0].index, (std::vector<int64_t>{2, 7}));
  EXPECT_EQ(two.first[1].index, (std::vector<int64_t>{4, 7}));
  EXPECT_EQ(two.where, "only index 7 of dimension 1");
}

TEST(WrongElements, OfOneLongDimensionAreCountedWithoutAPattern) {
  constexpr int64_t length = int64_t{5} << 20;
  const at::Tensor marks = at::zeros({length}, at::kBool);
  marks.narrow(0, length - 9, 9).fill_(true);
  const auto value = [](int64_t) { return WrongElement{}; };
  const WrongElements last = wrong_elements({length}, of(marks), value);
  EXPECT_EQ(last.count, 9);
  EXPECT_EQ(last.where,
            "all from element " + std::to_string(length - 9) + " on, in row-major order");
}

}  // namespace
}  // namespace kb::test
