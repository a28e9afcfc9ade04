// Where the wall time of a bench goes: what the arms need themselves, and what the protocol adds.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace kb {

/// Seconds by name. Phases do not overlap: what is spent inside an inner one is not the outer
/// one's.
class Phases {
 public:
  using Clock = std::chrono::steady_clock;

  /// Counts from here on, until it goes out of scope, as `name`.
  class Scope {
   public:
    Scope(Phases& phases, std::string name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Phases& phases_;
    std::string outer_;
  };

  [[nodiscard]] Scope in(std::string name) { return {*this, std::move(name)}; }
  void add(const std::string& name, double seconds) { seconds_[name] += seconds; }
  const std::map<std::string, double>& seconds() const { return seconds_; }
  double total() const;

 private:
  void turn_to(std::string name);

  std::string current_;  ///< "" outside of every scope: nothing counts
  Clock::time_point since_ = Clock::now();
  std::map<std::string, double> seconds_;
};

/// Seconds since this process was started by exec, to 10 ms.
double process_seconds();

}  // namespace kb
