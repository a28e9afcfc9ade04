// Fills on the device that they are for.
#include "kb/fill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "judge/session/buffers.h"

namespace kb {
namespace {

at::TensorOptions fp32() {
  static const auto memory = make_shared_memory();
  return at::TensorOptions(at::kFloat).device(memory->device());
}

at::Tensor filled(const Fill& fill, at::IntArrayRef shape, uint64_t rng_seed = 1) {
  at::Generator rng = make_rng(fp32().device(), rng_seed);
  at::Tensor out = at::empty(shape, fp32());
  fill(out, rng);
  return out;
}

TEST(Fill, NormalValuesHaveTheirMomentsWhereverTheyLie) {
  const at::Tensor x = filled(normal(100, 3), {1001, 1003});
  EXPECT_NEAR(x.mean().item<float>(), 100, 0.05);
  EXPECT_NEAR(x.std().item<float>(), 3, 0.05);
  const at::Tensor columns = x.mean(0);
  EXPECT_NEAR(columns.std().item<float>(), 3 / std::sqrt(1001.0), 0.01);
  const double beyond_two = x.sub(100).abs().gt(6).to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(beyond_two, 0.0455, 0.002);
}

TEST(Fill, NeighboursAndRowsOfNormalValuesAreIndependent) {
  const at::Tensor x = filled(normal(), {512, 2050});
  for (int64_t apart : {1, 2, 3, 4, 1024, 2050, 4100}) {
    const at::Tensor flat = x.view(-1), ahead = flat.slice(0, apart);
    const auto covariance = (flat.slice(0, 0, ahead.numel()) * ahead).mean().item<float>();
    EXPECT_NEAR(covariance, 0, 0.006) << apart;
  }
}

TEST(Fill, SpikedValuesAreNormalAndIndependentButForTheirScales) {
  const at::Tensor x = filled(spiked(), {512, 2050});
  const at::Tensor deviation = std::get<0>(x.abs().median(1, true)) / 0.6745;
  const double beyond_two = (x.abs() > 2 * deviation).to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(beyond_two, 0.0455 + 0.001, 0.002) << "a spike is one in a thousand";
  for (int64_t apart : {1, 2, 3, 4, 1024, 2050, 4100}) {
    const at::Tensor flat = x.sign().view(-1), ahead = flat.slice(0, apart);
    const auto covariance = (flat.slice(0, 0, ahead.numel()) * ahead).mean().item<float>();
    EXPECT_NEAR(covariance, 0, 0.006) << apart;
  }
}

TEST(Fill, SpikedRowsHaveScalesOfTheirOwn) {
  for (const int64_t columns : {1022, 1023, 1024}) {
    const at::Tensor scale = std::get<0>(filled(spiked(), {999, columns}).abs().median(1)) / 0.6745;
    EXPECT_GT(scale.min().item<float>(), std::exp2(-4.2));
    EXPECT_LT(scale.max().item<float>(), std::exp2(4.2));
    EXPECT_NEAR(scale.log2().mean().item<float>(), 0, 0.4) << columns;
    EXPECT_NEAR(scale.log2().std().item<float>(), 8 / std::sqrt(12.0), 0.2) << columns;
  }
}

// Tensors whose rows are shorter than a step of the kernel, and whose memory begins anywhere.
TEST(Fill, AllElementsAreFilledAndNoOthers) {
  for (const int64_t rows : {1, 3, 1025}) {
    for (const int64_t columns : {1, 2, 3, 5, 257}) {
      for (const int64_t start : {1, 4}) {
        at::Generator rng = make_rng(fp32().device(), 7);
        const at::Tensor memory = at::full({start + rows * columns + 1}, 1e6, fp32());
        at::Tensor out = memory.slice(0, start, start + rows * columns).view({rows, columns});
        spiked()(out, rng);
        EXPECT_EQ(memory.eq(1e6).sum().item<int64_t>(), start + 1) << rows << " x " << columns;
      }
    }
  }
}

TEST(Fill, ValuesFollowFromTheGenerator) {
  for (const Fill& fill : {normal(), spiked()}) {
    const at::Tensor x = filled(fill, {33, 77}, 1);
    EXPECT_TRUE(x.equal(filled(fill, {33, 77}, 1)));
    EXPECT_FALSE(x.equal(filled(fill, {33, 77}, 2)));
    at::Generator rng = make_rng(fp32().device(), 1);
    at::Tensor first = at::empty({33, 77}, fp32()), second = at::empty({33, 77}, fp32());
    fill(first, rng);
    fill(second, rng);
    EXPECT_FALSE(first.equal(second));
  }
}

}  // namespace
}  // namespace kb
