// Rows are launches. Kernels are told apart by their names, and rates are those of all launches
// of a name together.
#include "judge/profile/ncu_table.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>

#include "base/printable.h"
#include "judge/device/peaks_file.h"

namespace kb {
namespace {

constexpr size_t most_kernels = 12, longest_name = 160, most_stalls = 3;

const std::string duration = "gpu__time_duration.sum", memory_bytes = "dram__bytes.sum",
                  additions = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
                  multiplications = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
                  fused = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                  memory_busy = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                  multiprocessors_busy = "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                  warps = "sm__warps_active.avg.pct_of_peak_sustained_active",
                  load_use = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
                  store_use = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
                  stall_before = "smsp__average_warps_issue_stalled_",
                  stall_after = "_per_issue_active.ratio";

// Why warps wait, and what a reader can do with it.
const std::vector<std::pair<std::string, std::string>>& stalls() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"long_scoreboard", "data from global or local memory"},
      {"short_scoreboard", "data from shared memory or a special function"},
      {"barrier", "other warps at a barrier"},
      {"membar", "a memory fence"},
      {"lg_throttle", "the queue of global and local memory"},
      {"mio_throttle", "the queue of shared memory and special functions"},
      {"tex_throttle", "the queue of textures"},
      {"math_pipe_throttle", "an arithmetic unit that is busy"},
      {"wait", "a fixed latency"},
      {"not_selected", "another warp that was chosen"},
      {"no_instruction", "instructions to be fetched"},
      {"branch_resolving", "a branch"},
      {"imc_miss", "constants"},
      {"dispatch_stall", "the dispatcher"},
      {"drain", "stores at the end"},
      {"sleeping", "the end of a sleep"}};
  return all;
}

std::string stall_metric(const std::string& reason) { return stall_before + reason + stall_after; }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// ncu groups digits by commas, and writes "n/a" or nothing where a kernel has no such number.
std::optional<double> number(std::string cell) {
  std::erase(cell, ',');
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != '\0') return std::nullopt;
  return value;
}

/// One launch: numbers by metric, and what ncu says in words.
class Launched {
 public:
  Launched(const std::vector<std::string>& header, std::string_view line) {
    const std::vector<std::string> cells = csv_cells(line);
    for (size_t i = 0; i < std::min(header.size(), cells.size()); ++i) cells_[header[i]] = cells[i];
  }

  const std::string& text(const std::string& column) const {
    static const std::string none;
    const auto found = cells_.find(column);
    return found == cells_.end() ? none : found->second;
  }
  std::optional<double> value(const std::string& metric) const { return number(text(metric)); }
  double seconds() const { return 1e-9 * value(duration).value_or(0); }

 private:
  std::map<std::string, std::string> cells_;
};

/// All launches of one kernel.
class Kernel {
 public:
  void add(Launched launched) {
    seconds_ += launched.seconds();
    launches_.push_back(std::move(launched));
  }
  double seconds() const { return seconds_; }

  Json describe(const std::string& name, double all_seconds, const Json& peaks) const {
    Json json = {{"name", printable(name.substr(0, longest_name))},
                 {"launches", launches_.size()},
                 {"ms", 1e3 * seconds_},
                 {"share", all_seconds > 0 ? seconds_ / all_seconds : 0}};
    const Json bytes = rate(sum(memory_bytes));
    const Json operations = rate(total_operations());
    json["bytes_per_second"] = bytes;
    json["bytes_of_peak"] = share(bytes, peaks, memory_rate);
    json["flops_per_second"] = operations;
    json["flops_of_peak"] = share(operations, peaks, fp32_rate);
    json["memory_busy_pct"] = mean(memory_busy);
    json["multiprocessors_busy_pct"] = mean(multiprocessors_busy);
    json["occupancy_pct"] = mean(warps);
    json["stalls"] = reasons();
    json["load_use_pct"] = mean(load_use);
    json["store_use_pct"] = mean(store_use);
    const Launched& first = launches_.front();
    json["grid"] = printable(first.text("Grid Size"));
    json["block"] = printable(first.text("Block Size"));
    json["registers"] = to_json(first.value("launch__registers_per_thread"));
    return json;
  }

 private:
  static Json to_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

  std::optional<double> sum(const std::string& metric) const {
    std::optional<double> total;
    for (const Launched& launched : launches_) {
      if (const auto value = launched.value(metric)) total = total.value_or(0) + *value;
    }
    return total;
  }
  std::optional<double> total_operations() const {
    const auto fma = sum(fused), add = sum(additions), multiply = sum(multiplications);
    if (!fma && !add && !multiply) return std::nullopt;
    return 2 * fma.value_or(0) + add.value_or(0) + multiply.value_or(0);
  }
  Json rate(const std::optional<double>& total) const {
    return total && seconds_ > 0 ? Json(*total / seconds_) : Json();
  }
  // Of the highest of these peaks.
  static double fp32_rate(const Json& peaks) { return peaks.at("fp32_flops_per_s"); }
  static Json share(const Json& rate, const Json& peaks, double (*at_best)(const Json& peaks)) {
    if (!rate.is_number() || !peaks.is_object()) return Json();
    return Json(rate.get<double>() / at_best(peaks));
  }
  // Long launches count for more.
  std::optional<double> weighted(const std::string& metric) const {
    double total = 0, weight = 0;
    for (const Launched& launched : launches_) {
      if (const auto value = launched.value(metric)) {
        total += *value * launched.seconds();
        weight += launched.seconds();
      }
    }
    return weight > 0 ? std::optional(total / weight) : std::nullopt;
  }
  Json mean(const std::string& metric) const { return to_json(weighted(metric)); }

  Json reasons() const {
    std::vector<std::pair<double, size_t>> found;
    double all = 0;
    for (size_t i = 0; i < stalls().size(); ++i) {
      const double ratio = weighted(stall_metric(stalls()[i].first)).value_or(0);
      if (ratio > 0) found.emplace_back(ratio, i);
      all += ratio;
    }
    std::sort(found.rbegin(), found.rend());
    Json list = Json::array();
    for (const auto& [ratio, i] : found) {
      if (list.size() == most_stalls) break;
      list.push_back({{"reason", stalls()[i].first},
                      {"waits_for", stalls()[i].second},
                      {"share", ratio / all}});
    }
    return list;
  }

  std::vector<Launched> launches_;
  double seconds_ = 0;
};

}  // namespace

const std::vector<std::string>& ncu_metrics() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names = {duration,
                                      memory_bytes,
                                      additions,
                                      multiplications,
                                      fused,
                                      memory_busy,
                                      multiprocessors_busy,
                                      warps,
                                      load_use,
                                      store_use,
                                      "launch__registers_per_thread"};
    for (const auto& [reason, meaning] : stalls()) names.push_back(stall_metric(reason));
    return names;
  }();
  return all;
}

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::string ncu_complaint(std::string_view said) {
  const std::string_view mark = "==ERROR== ";
  for (const std::string_view line : lines_of(said)) {
    const size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string complaint = printable(line.substr(at + mark.size()));
    if (complaint.find("ERR_NVGPUCTRPERM") == std::string::npos) return "ncu says: " + complaint;
    return "this user may not read the GPU's performance counters; "
           "https://developer.nvidia.com/ERR_NVGPUCTRPERM says who can allow it";
  }
  return "";
}

Json summarise_ncu(std::string_view csv, const Json& peaks) {
  const std::vector<std::string_view> lines = lines_of(csv);
  const auto header_line = std::find_if(lines.begin(), lines.end(), [](std::string_view line) {
    return line.starts_with("\"ID\",");
  });
  const auto header =
      header_line == lines.end() ? std::vector<std::string>() : csv_cells(*header_line);
  std::map<std::string, Kernel> kernels;
  double seconds = 0;
  // A row of units follows the header.
  for (auto line = header_line; lines.end() - line > 2; ++line) {
    if (!line[2].starts_with('"')) continue;
    Launched launched(header, line[2]);
    seconds += launched.seconds();
    const std::string name = launched.text("Kernel Name");
    kernels[name].add(std::move(launched));
  }
  if (kernels.empty()) throw std::runtime_error("ncu saw no kernel");
  std::vector<std::pair<std::string, Kernel>> order(kernels.begin(), kernels.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.seconds() > b.second.seconds();
  });
  Json list = Json::array();
  for (const auto& [name, kernel] : order) {
    if (list.size() == most_kernels) break;
    list.push_back(kernel.describe(name, seconds, peaks));
  }
  return {{"kernels", list}, {"more_kernels", order.size() - list.size()}, {"ms", 1e3 * seconds}};
}

}  // namespace kb
