// Reductions and scans over a block or over lanes of a warp: values are combined in thread order.
#pragma once
#pragma GCC system_header

#include "warp.hpp"

KB_DEVICE_CODE_BEGIN
namespace kb::cpu {

/// What a thread gives to a collective and gets back.
template <class T, class Operation>
struct Part {
  T value;
  bool valid;            ///< false: the thread only comes along
  Operation* operation;  ///< the caller's copy: its operator() need not be const
  T before, total;       ///< combination of all lower ranks; of all
  bool first;            ///< the lowest rank: nothing is before it

  T inclusive() const { return first ? value : (*operation)(before, value); }
  T exclusive() const { return first ? T{} : before; }
};

/// @param at  gives the Part of a rank, or null
template <class Part, class At>
void combine(At at, unsigned count) {
  decltype(Part::total) total{};
  bool first = true;
  for (unsigned i = 0; i < count; ++i) {
    Part* part = at(i);
    if (!part || !part->valid) continue;
    part->first = first;
    if (!first) part->before = total;
    total = first ? part->value : (*part->operation)(total, part->value);
    first = false;
  }
  for (unsigned i = 0; i < count; ++i)
    if (Part* part = at(i)) part->total = total;
}

template <class T, class Operation>
Part<T, Operation> across_block(T value, Operation operation, bool valid, const char* what,
                                Site site) {
  using Mine = Part<T, Operation>;
  Mine part{value, valid, &operation, value, value, false};
  block_rendezvous(
      [](void* const* data, unsigned count) {
        combine<Mine>([=](unsigned i) { return static_cast<Mine*>(data[i]); }, count);
      },
      &part, what, site);
  return part;
}

template <class T, class Operation>
Part<T, Operation> across_lanes(unsigned mask, T value, Operation operation, bool valid,
                                const char* what, Site site) {
  using Mine = Part<T, Operation>;
  Mine part{value, valid, &operation, value, value, false};
  warp_rendezvous(
      mask,
      [](void* const* data, unsigned present) {
        combine<Mine>(
            [=](unsigned i) { return present >> i & 1 ? static_cast<Mine*>(data[i]) : nullptr; },
            32);
      },
      &part, what, site);
  return part;
}

/// The `width` consecutive lanes, a power of two, to which the caller belongs.
inline unsigned tile_mask(unsigned width) {
  const unsigned all = width == 32 ? ~0u : (1u << width) - 1;
  return all << (lane_id() & ~(width - 1));
}

}  // namespace kb::cpu
KB_DEVICE_CODE_END
