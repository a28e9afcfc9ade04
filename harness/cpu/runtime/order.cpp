// Draws are hashes of seed, launch and block: nothing is kept between launches.
#include "order.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <string_view>

#include "diagnostics.hpp"
#include "sanitizer.hpp"
#include "settings.hpp"

namespace kb::cpu {
namespace {

/// splitmix64, which passes the usual tests and has no state but a counter.
class Draw {
 public:
  Draw(std::uint64_t launch, std::uint64_t block) : state_(schedule().seed) {
    state_ = next() ^ launch;
    state_ = next() ^ block;
  }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t end) { return next() % end; }

 private:
  std::uint64_t state_;
};

constexpr std::size_t most_isolated = 4;
// In the place of a block's number.
constexpr std::uint64_t whole_launch = ~std::uint64_t{0}, any_kernel = whole_launch - 1;

Schedule read_schedule(const char* setting) {
  constexpr std::string_view drawn = "drawn:";
  const std::string_view text = setting ? setting : "";
  if (text.empty() || text == "forward") return {};
  if (text == "reverse") return {Schedule::reverse};
  if (text.substr(0, drawn.size()) == drawn)
    return {Schedule::drawn, std::strtoull(setting + drawn.size(), nullptr, 16)};
  report("warning: KB_CPU_SCHEDULE is forward, reverse or drawn:<seed in hex>; forward is taken");
  return {};
}

const Schedule chosen = read_schedule(settings().schedule.c_str());

/// Whether blocks are isolated in a kernel's next launch, after so many. An isolated thread does
/// not see what others overwrite too early, so one of two launches is without. Networks launch one
/// kernel often, and isolation takes time: later it is one of eight.
bool isolates(std::uint64_t earlier) {
  constexpr std::uint64_t often = 32, later = 8;
  const std::uint64_t group = earlier < often ? 2 : later;
  return !sanitizes && Draw(earlier / group, any_kernel).below(group) == earlier % group;
}

}  // namespace

const Schedule& schedule() { return chosen; }

ThreadOrder thread_order(std::uint64_t launch, std::uint64_t block, int threads) {
  ThreadOrder order;
  const int warps = (threads + 31) / 32;
  std::iota(order.warps.begin(), order.warps.begin() + warps, std::uint8_t{0});
  switch (schedule().kind) {
    case Schedule::forward:
      break;
    case Schedule::reverse:
      order.last_waits = true;
      order.lane_mask = 31;
      std::reverse(order.warps.begin(), order.warps.begin() + warps);
      break;
    case Schedule::drawn:
      Draw draw(launch, block);
      const std::uint64_t bits = draw.next();
      order.ahead = bits >> 60 >= 4;  // most of the time
      order.last_waits = bits >> 59 & 1;
      order.lane_mask = bits & 31;
      for (int i = warps - 1; i > 0; --i) std::swap(order.warps[i], order.warps[draw.below(i + 1)]);
      break;
  }
  for (int i = 0; i < warps; ++i) order.turns[order.warps[i]] = static_cast<std::uint8_t>(i);
  return order;
}

// Those that are isolated run as if at the same time: one, another one from launch to launch, its
// neighbour in the grid, which most often shares something with it, the first or the last, which
// may be different, and others.
void BlockQueue::draw(std::uint64_t launch, std::uint64_t earlier, dim3 grid, bool wait) {
  wait_ = wait;
  if (schedule().kind != Schedule::drawn || blocks_ == 0) return;
  Draw draw(launch, whole_launch);
  descending_ = draw.below(2) == 0;
  offset_ = draw.below(2) == 0 ? 0 : draw.below(blocks_);
  if (!isolates(earlier)) return;
  const std::uint64_t first = (Draw(0, any_kernel).below(blocks_) + earlier / 2) % blocks_;
  const std::uint64_t steps[] = {1, grid.x, std::uint64_t{grid.x} * grid.y, blocks_ / 2};
  isolated_ = {first};
  add_isolated((first + steps[draw.below(std::size(steps))]) % blocks_);
  add_isolated(draw.below(2) == 0 ? 0 : blocks_ - 1);
  while (isolated_.size() < std::min<std::uint64_t>(blocks_, most_isolated))
    add_isolated(draw.below(blocks_));
}

void BlockQueue::add_isolated(std::uint64_t number) {
  if (!is_isolated(number)) isolated_.push_back(number);
}

std::uint64_t BlockQueue::number(std::uint64_t position) const {
  const std::uint64_t at = (position + offset_) % blocks_;
  return descending_ ? blocks_ - 1 - at : at;
}

std::uint64_t BlockQueue::position(std::uint64_t number) const {
  const std::uint64_t at = descending_ ? blocks_ - 1 - number : number;
  return (at + blocks_ - offset_) % blocks_;
}

bool BlockQueue::is_isolated(std::uint64_t number) const {
  return std::find(isolated_.begin(), isolated_.end(), number) != isolated_.end();
}

std::optional<std::uint64_t> BlockQueue::take_isolated() {
  const std::lock_guard lock(mutex_);
  if (taken_before_ || alone_ == isolated_.size()) return std::nullopt;
  return isolated_[alone_++];
}

std::optional<std::uint64_t> BlockQueue::take() {
  for (;;) {
    const std::uint64_t taken = next_.fetch_add(1, std::memory_order_relaxed);
    if (taken >= blocks_) return take_ascending();
    const std::uint64_t block = number(taken);
    if (wait_ || !is_isolated(block)) return block;
  }
}

void BlockQueue::ascend() {
  const std::lock_guard lock(mutex_);
  if (!taken_before_) taken_before_ = next_.exchange(blocks_);
}

bool BlockQueue::taken_alone(std::uint64_t number) const {
  const auto end = isolated_.begin() + static_cast<std::ptrdiff_t>(alone_);
  return std::find(isolated_.begin(), end, number) != end;
}

std::optional<std::uint64_t> BlockQueue::take_ascending() {
  const std::lock_guard lock(mutex_);
  if (!taken_before_) return std::nullopt;
  while (lowest_ < blocks_) {
    const std::uint64_t block = lowest_++;
    if (!taken_alone(block) && position(block) >= *taken_before_) return block;
  }
  return std::nullopt;
}

}  // namespace kb::cpu
