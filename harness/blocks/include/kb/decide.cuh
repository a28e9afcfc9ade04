// Questions that have one answer for all elements.
#pragma once

namespace kb {

// What a tile gives is stored by unrolled instructions. Where a functor asks for each element what
// is the same for all of them, such as which activation, these would be so many that fetching them
// took longer than a shallow product. So it may have a member
//   template <class Use> void decided(Use use) const
// that calls use() once, with a functor in which the answer is built in.

template <class R, class Use>
__device__ auto decide(const R& r, Use use, int) -> decltype(r.decided(use)) {
  return r.decided(use);
}
template <class R, class Use>
__device__ void decide(const R& r, Use use, long) {
  use(r);
}

/// Calls use() with r, or with what r has decided.
template <class R, class Use>
__device__ void decide(const R& r, Use use) {
  decide(r, use, 0);
}

}  // namespace kb
