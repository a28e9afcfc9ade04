// Memory that the judge owns and a runner maps: tensors between guard bands, nothing secret in it.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

#include "kb/tensors.h"
#include "sandbox/protocol/page.h"

namespace kb {

/// `count` random int64 in [from, to), where the generator draws.
at::Tensor random_indices(int64_t from, int64_t to, int64_t count, at::Generator& rng);

/// `slots` copies of one tensor in an allocation of their own, guard bands before, between and
/// behind.
class SharedTensor {
 public:
  virtual ~SharedTensor() = default;

  /// Copy `index` as the judge sees it.
  at::Tensor slot(int64_t index) const;
  /// Fills the whole allocation: copies of an output with 0xFF, which reads as NaN or -1, guard
  /// bands with other bits that are NaN. Guard bands of inputs and weights differ from those of
  /// outputs. So a kernel that copies an input's guard band to an output's, or computes on it,
  /// shows.
  void poison();
  /// Fills copy `index` with 0xFF.
  void poison_slot(int64_t index) const;
  /// Whether copy `index` is as poison_slot() left it.
  bool is_poisoned(int64_t index) const;
  /// Random places in the copies [first, first + copies), where single elements are looked at.
  at::Tensor places(int64_t first, int64_t copies, int64_t count, at::Generator& rng) const;
  /// The elements at these places as they are now.
  at::Tensor elements(const at::Tensor& places) const;
  /// Bytes before the first, between two or behind the last copy that no longer are as poison()
  /// left them: an int64 scalar that the device may still be computing.
  at::Tensor damaged_guard_bytes() const;
  /// Where the damage is nearest to a copy: "1 element before its first", "3 elements behind its
  /// last". Only where damaged_guard_bytes() is not 0.
  std::string damage() const;
  /// The description that a runner needs to map it.
  protocol::Tensor describe() const;
  const TensorSpec& spec() const { return spec_; }
  int64_t slots() const { return slots_; }

 protected:
  SharedTensor(TensorSpec spec, int64_t slots);
  at::Tensor bytes_of(int64_t index) const;
  bool is_words() const;
  /// Where bytes of a band that begins at `start` of the allocation have changed.
  at::Tensor damaged(const at::Tensor& band, int64_t start) const;

  TensorSpec spec_;
  int64_t slots_;
  uint64_t data_offset_ = 0;
  uint64_t slot_stride_ = 0;
  at::Tensor memory_;  ///< uint8, the whole allocation
  at::Tensor guard_;   ///< uint8, what a guard band holds
  unsigned char handle_[64] = {};
};

/// Where shared tensors come from on this backend.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  virtual std::unique_ptr<SharedTensor> allocate(const TensorSpec& spec, int64_t slots) = 0;
  /// Tensors that are allocated from here on lie in memory that no runner has seen, and runners
  /// that are started from here on see none of the earlier ones: a candidate leaves no notes in old
  /// tensors for its next process.
  virtual void renew() = 0;
  /// Whether a runner of this time has written where a tensor was that is gone.
  virtual bool written_when_gone() const = 0;
  /// The descriptor that a runner inherits as protocol::data_fd.
  virtual int descriptor() const = 0;
  virtual at::Device device() const = 0;
  /// Bytes that can still be allocated on the device; no limit is known on the CPU backend.
  virtual int64_t available_bytes() const = 0;
  /// Waits for what is queued on the device: a runner's context does not wait for the judge's.
  virtual void finish() const = 0;
  /// Gives memory that only waits for its next use back to the device, for the runners.
  virtual void release_unused() const = 0;
};

std::unique_ptr<SharedMemory> make_shared_memory();

/// The other side: a shared tensor as a runner of the judge's own kind (LibTorch) sees it.
/// @return its copies. @throws c10::Error if the handle cannot be opened
std::vector<at::Tensor> map_shared(const protocol::Tensor& tensor);

/// Views of the copies in a mapped allocation (uint8).
std::vector<at::Tensor> split_slots(const at::Tensor& memory, const protocol::Tensor& tensor);

}  // namespace kb
