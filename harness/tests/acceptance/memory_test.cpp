// Scaled sizes and sliced oracles, on tasks made by hand and on every task of the build tree.
#include "judge/acceptance/memory.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/result/verdict.h"
#include "judge/acceptance/expectation.h"
#include "judge/acceptance/noise.h"
#include "judge/acceptance/operators.h"
#include "kb/reference.h"
#include "reference/task_library.h"

namespace kb {
namespace {

constexpr int64_t gib = int64_t{1} << 30;

// A convolution along rows, so that each kind of size is there once.
struct Sizes {
  int64_t batch_size = 8;
  std::array<int64_t, 2> image = {64, 32};  // rows, columns
  int64_t channels = 4, kernel_size = 3;
  double factor = 0.5;
  KB_FIELDS(batch_size, image, channels, kernel_size, factor)
};
using Launch = void(const Sizes&, const float*, const float*, float*, cudaStream_t);

Task small_conv(bool mixes_samples = false) {
  const auto tensors = [](const Sizes& s) {
    return std::tuple{
        input<float>("x", {s.batch_size, 1, s.image[0], s.image[1]}),
        weight<float>("w", {s.channels, 1, s.kernel_size, 1}),
        output<float>("y", {s.batch_size, s.channels, s.image[0] - s.kernel_size + 1, s.image[1]})};
  };
  const auto reference = [=](const Sizes& s, Tensor x, Tensor w) {
    const Tensor y = at::conv2d(x, w) * s.factor;
    return mixes_samples ? y - y.mean(0, /*keepdim=*/true) : y;
  };
  Sizes small;
  small.batch_size = 1;
  small.image = {9, 7};
  return define<Launch>("Convolution", tensors, reference, SizeSets<Sizes>{small, small});
}

std::vector<std::string> names(const std::vector<Extent>& extents) {
  std::vector<std::string> found;
  for (const Extent& e : extents) found.push_back(e.field + "." + std::to_string(e.element));
  return found;
}

const std::vector<Task>& every_task() {
  static const std::vector<Task> tasks = [] {
    at::set_num_threads(1);  // small sizes; threads would only wait for each other
    const auto folder = tasks_folder();
    std::vector<Task> loaded;
    for (const std::string& name : task_names(folder)) loaded.push_back(load_task(folder, name));
    return loaded;
  }();
  return tasks;
}

TEST(Extents, CountThingsAndNothingElse) {
  const Task task = small_conv();
  const std::vector<Extent> found = extents(task, task.full);
  EXPECT_EQ(names(found), (std::vector<std::string>{"batch_size.0", "image.1"}));
  EXPECT_EQ(found[1].value, 32);
  EXPECT_EQ(found[1].dims, (std::vector<std::vector<int64_t>>{{3}, {}, {3}}));
  const SizeBytes changed = with_value(task, task.full, found[1], 5);
  EXPECT_EQ(sizes_from<Sizes>(changed).image, (std::array<int64_t, 2>{64, 5}));
}

TEST(Slicing, FollowsWhatIsIndependent) {
  const at::NoGradGuard no_grad;
  const auto slicing = Slicing::find(small_conv());
  ASSERT_TRUE(slicing);
  EXPECT_EQ(slicing->field(), "batch_size");
  EXPECT_FALSE(Slicing::find(small_conv(/*mixes_samples=*/true)));
}

// As a network whose batch norms see one pixel of each sample does.
TEST(Slicing, NeedsATaskThatTakesOneUnit) {
  const at::NoGradGuard no_grad;
  Task task = small_conv();
  const SizeBytes one = task.smoke;
  task.smoke = task.odd = with_value(task, one, extents(task, one).front(), 2);
  ASSERT_TRUE(accepts(task, one) && Slicing::find(task));
  task.tensors = [tensors = task.tensors](const SizeBytes& sizes) {
    TORCH_CHECK(sizes_from<Sizes>(sizes).batch_size >= 2, "batch_size must be 2 or more");
    return tensors(sizes);
  };
  EXPECT_FALSE(accepts(task, one));
  EXPECT_FALSE(Slicing::find(task));
}

TEST(Slicing, ReadsAnyRange) {
  const at::NoGradGuard no_grad;
  const Task task = small_conv();
  auto slicing = Slicing::find(task);
  ASSERT_TRUE(slicing);
  const std::vector<Tensor> given = task.example(task.full);
  const Tensor whole = task.reference(task.full, in_fp64(given)).at(0).reshape(-1);
  for (const int64_t bytes : {int64_t{1}, slicing->bytes(task, task.full), 30 * gib}) {
    slicing->set_slice_bytes(bytes);
    const Oracle oracle = slicing->oracle(task, task.full, given).at(0);
    ASSERT_EQ(oracle.numel(), whole.numel());
    for (const auto& [first, count] : std::vector<std::pair<int64_t, int64_t>>{
             {0, whole.numel()}, {whole.numel() - 1, 1}, {1, 20000}, {7936, 7936}, {0, 1}}) {
      EXPECT_TRUE(at::equal(oracle.range(first, count), whole.narrow(0, first, count)));
    }
  }
}

TEST(Memory, PlansForWhatIsThere) {
  const at::NoGradGuard no_grad;
  Sizes large;  // outputs of 8 GiB, so that the gigabytes on top do not decide
  large.batch_size = 4096;
  large.image = {1026, 128};
  Task big = small_conv(), mixed = small_conv(/*mixes_samples=*/true);
  big.full = mixed.full = size_bytes(large);
  const int64_t whole = peak_bytes(big, big.full);
  EXPECT_FALSE(plan_oracle(big, big.full, 2 * whole).slicing);
  EXPECT_TRUE(plan_oracle(big, big.full, whole).slicing);
  const int64_t sliced = sliced_peak_bytes(big, big.full, *Slicing::find(big));
  EXPECT_LT(sliced, whole / 2);
  EXPECT_TRUE(plan_oracle(big, big.full, sliced).slicing);

  EXPECT_FALSE(plan_oracle(mixed, mixed.full, whole).on_host);
  EXPECT_TRUE(plan_oracle(mixed, mixed.full, whole - 1).on_host);
  EXPECT_FALSE(plan_oracle(mixed, mixed.full, whole - 1).oracle_on_host);
  const int64_t host = host_bytes(mixed, mixed.full);
  EXPECT_TRUE(plan_oracle(mixed, mixed.full, whole / 2, host).oracle_on_host);
  EXPECT_THROW(plan_oracle(mixed, mixed.full, whole / 2, host - 1), Decided);
  EXPECT_GT(free_host_bytes(), 0);
  for (const auto& [t, bytes] : {std::pair{&big, sliced - 1}, {&mixed, whole / 4}}) {
    try {
      plan_oracle(*t, t->full, bytes, host);
      ADD_FAILURE() << "nothing was decided";
    } catch (const Decided& decided) {
      EXPECT_EQ(decided.verdict, Verdict::skipped);
      EXPECT_NE(std::string(decided.what()).find(std::to_string(bytes >> 20) + " MiB are free"),
                std::string::npos);
    }
  }
}

TEST(FullSizes, ReadsItsChoice) {
  EXPECT_EQ(FullSizes("full").budget(), 0);
  EXPECT_EQ(FullSizes("24g").budget(), 24'000'000'000 - 2 * gib);
  for (const char* bad : {"", "24", "g", "24gb", "0g", "-24g", "24 g", "smoke"}) {
    EXPECT_THROW(FullSizes{bad}, std::invalid_argument) << bad;
  }
}

TEST(FullSizes, HalvesSamplesBeforeAnythingElse) {
  Sizes large;
  large.batch_size = 3;
  large.image = {100'002, 4000};
  Task task = small_conv();
  task.full = size_bytes(large);
  const Sizes scaled = sizes_from<Sizes>(FullSizes("16g").of(task));
  EXPECT_EQ(scaled.batch_size, 1);
  EXPECT_EQ(scaled.image, (std::array<int64_t, 2>{100'002, 500}));
  EXPECT_EQ(FullSizes("16g").name(task), "full@16g");
  EXPECT_EQ(FullSizes("4000g").name(task), "full");
}

// What is too large for such GPUs is a weight, and weights keep their shapes: such tasks are
// skipped.
TEST(EveryTask, HasFullSizesForSmallerGpus) {
  const at::NoGradGuard no_grad;
  std::set<std::string> too_large;
  for (const Task& task : every_task()) {
    for (const char* choice : {"full", "24g", "16g"}) {
      SCOPED_TRACE(task.name + " at " + choice);
      const FullSizes full(choice);
      const SizeBytes sizes = full.of(task);
      const bool fits = full.budget() == 0 || peak_bytes(task, task.full) <= full.budget();
      const bool remains_too_large = full.budget() != 0 && peak_bytes(task, sizes) > full.budget();
      const bool same = sizes == task.full;
      if (remains_too_large) too_large.insert(task.name + " at " + choice);
      // One sample of as many tokens as a model has positions for leaves nothing to halve.
      EXPECT_TRUE(fits ? same : !same || remains_too_large);
      EXPECT_EQ(full.name(task), same ? "full" : std::string("full@") + choice);
      EXPECT_EQ(full.scaled(task).full, sizes);
      for (const TensorSpec& spec : task.tensors(sizes)) EXPECT_GT(spec.numel(), 0) << spec.name;
    }
  }
  std::set<std::string> expected = {
      "level2/055_matmul_max_pool_sum_scale at 16g", "level2/056_matmul_sigmoid_sum at 16g",
      "level2/059_matmul_swish_scaling at 16g", "level3/002_shallow_wide_mlp at 16g",
      "level3/002_shallow_wide_mlp at 24g"};
  for (const char* task :
       {"level4/001_gpt_neo_2p7b_bs32_seq256", "level4/002_opt_1p3b_bs1_seq2047",
        "level4/003_gpt_neo_2p7b_bs1_seq2047", "level4/004_opt_1p3b_bs32_seq256",
        "level4/008_opt_1p3b_bs512_seq32", "level4/018_gpt_neo_2p7b_bs512_seq32"}) {
    expected.insert(std::string(task) + " at 16g");
    expected.insert(std::string(task) + " at 24g");
  }
  EXPECT_EQ(too_large, expected);
}

// Upstream's hinge loss multiplies predictions [n, n] with targets [n]: one size cannot change
// alone.
TEST(FullSizes, HalvesTogetherWhatBelongsTogether) {
  const at::NoGradGuard no_grad;
  for (const Task& task : every_task()) {
    if (task.name != "level1/100_hinge_loss") continue;
    const SizeBytes scaled = FullSizes("16g").of(task);
    EXPECT_EQ(task.fields.to_json(scaled).dump(), R"({"batch_size":16384,"input_shape":[16384]})");
    EXPECT_FALSE(accepts(task, with_value(task, task.smoke, extents(task, task.smoke)[0], 32)));
  }
}

// What a GPU with 48 GB has when judge and runner have taken their contexts.
TEST(EveryTask, OfLevel1RunsAtFullOnAGpuWith48Gb) {
  const at::NoGradGuard no_grad;
  constexpr int64_t available = 43 * gib + gib / 4, host = 64 * gib;
  std::set<std::string> on_host;
  for (const Task& task : every_task()) {
    if (task.level() != 1) continue;
    if (plan_oracle(task, task.full, available, host).oracle_on_host) on_host.insert(task.name);
  }
  // A norm of 7 GiB as a whole: input, output and their fp64 copies alone are 42 GiB.
  EXPECT_EQ(on_host, (std::set<std::string>{"level1/037_frobenius_norm"}));
}

void expect_same(const Comparison& a, const Comparison& b, bool bit_for_bit) {
  const auto close = [&](double x, double y) {
    return x == y || (!bit_for_bit && std::abs(x - y) <= 1e-6 * std::abs(x));
  };
  EXPECT_PRED2(close, a.error, b.error);
  EXPECT_PRED2(close, a.bound, b.bound);
  EXPECT_PRED2(close, a.torch_error, b.torch_error);
  EXPECT_PRED2(close, a.max_abs_error, b.max_abs_error);
  ASSERT_EQ(a.worst.has_value(), b.worst.has_value());
  if (!a.worst) return;
  EXPECT_EQ(a.worst->index, b.worst->index);
  EXPECT_EQ(a.worst->got, b.worst->got);
  EXPECT_PRED2(close, a.worst->expected, b.worst->expected);
  EXPECT_PRED2(close, a.worst->bound, b.worst->bound);
}

// Nothing that mirrors the roundings of a reference is left to chance: each operator is known.
TEST(EveryTask, CallsOperatorsWhoseRoundingIsKnown) {
  const at::NoGradGuard no_grad;
  for (const Task& task : every_task()) {
    const std::vector<std::string> unknown = operators_without_rule(
        [&] { task.reference(task.smoke, in_fp64(task.example(task.smoke))); });
    EXPECT_EQ(unknown, std::vector<std::string>{}) << task.name;
  }
}

// All bits agree, except where ATen's own fp64 results depend on the number of rows by a rounding:
// BLAS on one row, and vector code on what fills no vector. Tasks with products are not counted.
TEST(EveryTask, IsComparedInSlicesAsInOnePiece) {
  const at::NoGradGuard no_grad;
  int64_t sliced = 0, bit_for_bit = 0;
  for (const Task& task : every_task()) {
    auto slicing = Slicing::find(task);
    if (!slicing) continue;
    slicing->set_slice_bytes(1);
    for (const SizeBytes* sizes : {&task.smoke, &task.odd}) {
      SCOPED_TRACE(task.name + " " + task.fields.to_json(*sizes).dump());
      const std::vector<Tensor> given = task.example(*sizes);
      const bool product = watch_operators([&] { task.reference(*sizes, given); }).matmul;
      const Expectation whole(task, *sizes, given, 1);
      const Expectation pieces(task, *sizes, given, 1, {.slicing = slicing});
      for (size_t i = 0; i < whole.outputs().size(); ++i) {
        const Tensor off = whole.whole_oracle(i) - pieces.whole_oracle(i);
        const bool equal = at::equal(whole.whole_oracle(i), pieces.whole_oracle(i));
        if (!equal) {
          EXPECT_LE(off.norm().item<double>(), 1e-14 * whole.whole_oracle(i).norm().item<double>());
        }
        const Tensor right = whole.torch(i), wrong = right.flip(-1).contiguous();
        for (const Tensor& got : {right, wrong}) {
          const auto compare = [&](const Expectation& e) {
            const TensorSpec& spec = e.outputs()[i];
            return at::isFloatingType(spec.dtype) ? Spread(spec, right, e.oracle(i)).compare(got)
                                                  : compare_output(spec, got, e.oracle(i), {});
          };
          expect_same(compare(whole), compare(pieces), equal);
        }
        if (product) continue;
        bit_for_bit += equal;
        ++sliced;
      }
    }
  }
  EXPECT_GT(sliced, 150);
  EXPECT_GT(bit_for_bit, 0.8 * static_cast<double>(sliced));
}

}  // namespace
}  // namespace kb
