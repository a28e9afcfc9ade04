// Poison fills a copy and nothing else, whatever its size; guard bands tell what was written to
// them.
#include "judge/session/buffers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kb {
namespace {

struct Size {
  const char* name;
  TensorSpec spec;
};

class Poison : public testing::TestWithParam<Size> {};

TEST_P(Poison, FillsOneCopyAndNothingElse) {
  const auto memory = make_shared_memory();
  const auto tensor = memory->allocate(GetParam().spec, 3);
  for (int64_t i = 0; i < 3; ++i) tensor->slot(i).fill_(1);
  tensor->poison_slot(1);
  EXPECT_FALSE(tensor->is_poisoned(0));
  EXPECT_TRUE(tensor->is_poisoned(1));
  EXPECT_FALSE(tensor->is_poisoned(2));
  EXPECT_TRUE(tensor->slot(0).eq(1).all().item<bool>());
  EXPECT_TRUE(tensor->slot(2).eq(1).all().item<bool>());
  EXPECT_EQ(tensor->damaged_guard_bytes().item<int64_t>(), 0);
}

// Not even a runner that looks at all of the memory that it inherits.
TEST(Memory, OfALaterRunnerHoldsNothingOfEarlierTensors) {
  const auto memory = make_shared_memory();
  if (memory->device().is_cuda()) GTEST_SKIP() << "tensors share no memory there";
  const auto file = [&] {
    struct stat status {};
    EXPECT_EQ(fstat(memory->descriptor(), &status), 0);
    return status;
  };
  const auto before = memory->allocate(output<float>("y", {1000}), 1);
  before->slot(0).fill_(42);
  const struct stat old = file();
  memory->renew();
  EXPECT_NE(file().st_ino, old.st_ino);
  EXPECT_EQ(file().st_size, 0);
  const auto after = memory->allocate(output<float>("y", {1000}), 1);
  after->slot(0).fill_(1);
  EXPECT_TRUE(before->slot(0).eq(42).all().item<bool>());  // the judge keeps its own
}

// Where nobody else looks any more a kernel could leave a note for itself.
TEST(Memory, ShowsWhatIsWrittenWhereATensorWas) {
  const auto memory = make_shared_memory();
  if (memory->device().is_cuda()) GTEST_SKIP() << "tensors share no memory there";
  const auto keep = memory->allocate(output<float>("y", {1000}), 1);
  memory->allocate(output<float>("z", {5000}), 2)->slot(1).fill_(42);
  EXPECT_FALSE(memory->written_when_gone());
  keep->slot(0).fill_(3);
  struct stat status {};
  ASSERT_EQ(fstat(memory->descriptor(), &status), 0);
  char byte = 0;
  ASSERT_EQ(pread(memory->descriptor(), &byte, 1, status.st_size - 1), 1);
  EXPECT_FALSE(memory->written_when_gone()) << "it was only read";
  byte = 1;
  ASSERT_EQ(pwrite(memory->descriptor(), &byte, 1, status.st_size - 1), 1);
  EXPECT_TRUE(memory->written_when_gone());
}

TEST(Memory, OfTheDeviceIsZeroedBeforeItIsGivenBack) {
  const auto memory = make_shared_memory();
  if (!memory->device().is_cuda()) GTEST_SKIP() << "for a GPU";
  constexpr int64_t bytes = int64_t{64} << 20;
  constexpr uint8_t note = 0x5a;
  memory->allocate(output<float>("y", {bytes / 4}), 1)->slot(0).view(at::kByte).fill_(note);
  memory->release_unused();
  const at::Tensor next = at::empty({bytes}, at::TensorOptions(at::kByte).device(memory->device()));
  EXPECT_FALSE(next.eq(note).any().item<bool>());
}

TEST(Damage, IsNamedByItsPlace) {
  const auto memory = make_shared_memory();
  const auto written = [&](int64_t copy, int64_t element) {
    const auto tensor = memory->allocate(output<float>("y", {5, 7}), 2);
    const at::Tensor slot = tensor->slot(copy);
    slot.as_strided({1}, {1}, slot.storage_offset() + element).fill_(1);
    EXPECT_GT(tensor->damaged_guard_bytes().item<int64_t>(), 0);
    return tensor->damage();
  };
  EXPECT_EQ(written(0, 35), "1 element behind its last");
  EXPECT_EQ(written(1, 37), "3 elements behind its last");
  EXPECT_EQ(written(0, -2), "2 elements before its first");
}

// A thread of the candidate's may write a byte back before anybody has found its place.
TEST(Damage, MayBeGoneWhenItsPlaceIsLookedFor) {
  const auto memory = make_shared_memory();
  EXPECT_EQ(memory->allocate(output<float>("y", {5, 7}), 2)->damage(),
            "one has changed back since");
}

// A kernel without a bound copies the guard behind an input to the one behind its output.
TEST(Damage, ShowsWhatWasCopiedFromTheGuardOfAnInput) {
  const auto memory = make_shared_memory();
  for (const int64_t elements : {3, 8}) {
    for (const auto type :
         {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kLong, at::kBool}) {
      TensorSpec x = input<float>("x", {elements}), y = output<float>("y", {elements});
      x.dtype = y.dtype = type;
      const auto from = memory->allocate(x, 2), to = memory->allocate(y, 2);
      EXPECT_EQ(from->damaged_guard_bytes().item<int64_t>(), 0);
      const auto behind = [elements](const at::Tensor& slot) {
        return slot.as_strided({4}, {1}, slot.storage_offset() + elements);
      };
      const at::Tensor copied = behind(from->slot(0));
      if (at::isFloatingType(type)) {
        EXPECT_TRUE(copied.isnan().all().item<bool>()) << type;
      }
      behind(to->slot(0)).copy_(copied);
      EXPECT_GT(to->damaged_guard_bytes().item<int64_t>(), 0) << type;
      // Of single bytes every other one is alike.
      if (type != at::kBool) {
        EXPECT_EQ(to->damage(), "1 element behind its last") << type;
      }
    }
  }
}

// A kernel without a bound that computes on its output in place.
TEST(Damage, ShowsWhatWasComputedFromTheGuardItself) {
  const auto memory = make_shared_memory();
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble}) {
    TensorSpec y = output<float>("y", {3});
    y.dtype = type;
    const auto tensor = memory->allocate(y, 2);
    const at::Tensor slot = tensor->slot(0);
    const at::Tensor behind = slot.as_strided({4}, {1}, slot.storage_offset() + 3);
    EXPECT_TRUE(behind.isnan().all().item<bool>()) << type;
    behind.mul_(2);
    EXPECT_EQ(tensor->damage(), "1 element behind its last") << type;
  }
}

TEST_P(Poison, OneElementIsMissed) {
  const auto memory = make_shared_memory();
  const auto tensor = memory->allocate(GetParam().spec, 1);
  EXPECT_TRUE(tensor->is_poisoned(0));
  tensor->slot(0).view(-1).slice(0, -1).fill_(1);
  EXPECT_FALSE(tensor->is_poisoned(0)) << "the last element was written";
}

INSTANTIATE_TEST_SUITE_P(Sizes, Poison,
                         testing::Values(Size{"words", output<float>("y", {4, 8})},
                                         Size{"odd_floats", output<float>("y", {3})},
                                         Size{"bytes", output<bool>("y", {3})}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kb
