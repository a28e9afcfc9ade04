// The sizes of every task: what is published differs from set to set, and everything is drawn.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "judge/acceptance/drawn_sizes.h"
#include "judge/acceptance/size_search.h"
#include "reference/task_library.h"

namespace kb {
namespace {

// Every integer and real number of a task's Sizes, by its name: "stride[1]".
std::vector<std::pair<std::string, std::string>> numbers(const Task& task, const SizeBytes& sizes) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto json = task.fields.to_json(sizes);
  for (const SizeField& field : task.fields.fields) {
    if (field.kind == SizeField::Kind::flag) continue;
    for (size_t i = 0; i < field.count; ++i) {
      const auto& value = json[field.name];
      found.emplace_back(field.name + (field.is_array ? "[" + std::to_string(i) + "]" : ""),
                         field.is_array ? value[i].dump() : value.dump());
    }
  }
  return found;
}

std::vector<Task> all_tasks() {
  std::vector<Task> tasks;
  for (const std::string& name : task_names(tasks_folder()))
    tasks.push_back(load_task(tasks_folder(), name));
  return tasks;
}

// A kernel that has a table of the published values has two at least.
TEST(TaskSizes, OddHasOtherValuesThanSmokeAndFull) {
  for (const Task& task : all_tasks()) {
    const auto smoke = numbers(task, task.smoke), full = numbers(task, task.full);
    const auto odd = numbers(task, task.odd);
    for (size_t i = 0; i < odd.size(); ++i) {
      EXPECT_NE(odd[i].second, smoke[i].second) << task.name << ": " << odd[i].first;
      EXPECT_NE(odd[i].second, full[i].second) << task.name << ": " << odd[i].first;
    }
  }
}

// Numbers that only change together with two others or more, which a draw does not find, or seldom:
// the TORCH_CHECK of the task says what they must fit.
const std::map<std::string, std::set<std::string>> bound_to_others{
    // "image_size / patch_size must be a multiple of 8", and window_size divides each stage.
    {"level3/029_swin_mlp", {"image_size"}},
    {"level3/030_swin_transformer_v2", {"image_size"}},
    // "axial_pos_embds_dim must add up to hidden_size", "seq_len must be [...]
    // lsh_attn_chunk_length".
    {"level4/013_reformer_enwik8_bs32_seq256", {"hidden_size", "lsh_attn_chunk_length"}},
    {"level4/015_reformer_enwik8_bs1024_seq32", {"hidden_size", "lsh_attn_chunk_length"}},
};

TEST(TaskSizes, AreAllDrawn) {
  at::set_num_threads(1);
  constexpr uint64_t most_draws = 100;
  for (const Task& task : all_tasks()) {
    std::set<std::string> same;
    const auto smoke = numbers(task, task.smoke);
    for (const auto& [name, value] : smoke) same.insert(name);
    for (uint64_t seed = 0; seed < most_draws && !same.empty(); ++seed) {
      at::Generator rng = make_rng(at::kCPU, seed);
      const auto drawn = numbers(task, draw_sizes(task, rng).value_or(task.smoke));
      for (size_t i = 0; i < drawn.size(); ++i) {
        if (drawn[i].second != smoke[i].second) same.erase(drawn[i].first);
      }
    }
    const auto bound = bound_to_others.find(task.name);
    if (bound != bound_to_others.end()) {
      for (const std::string& name : bound->second) same.erase(name);
    }
    for (const std::string& name : same) ADD_FAILURE() << task.name << ": " << name;
  }
}

}  // namespace
}  // namespace kb
