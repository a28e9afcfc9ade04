// Layout and checks that do not depend on where the memory lies.
#include "judge/session/buffers.h"

#include <algorithm>
#include <cstring>

namespace kb {
namespace {

constexpr int64_t output_words = -1;  // 0xFF in every byte

constexpr int64_t repeated(uint16_t bits) {
  return static_cast<int64_t>(uint64_t{bits} * 0x0001000100010001);
}

// What lies before, between and behind the copies of a tensor. For inputs and weights bits of which
// every 16, 32 or 64 are a NaN, as those of 0xFF are. For outputs a signalling NaN of their type:
// arithmetic sets a bit of it, where of another NaN all bits may come through, so that a kernel
// that computes on its output in place would leave no trace behind it.
int64_t guard_words(const TensorSpec& spec) {
  if (spec.role != Role::output) return repeated(0xFFFE);
  switch (spec.dtype) {
    case at::kFloat:
    case at::kBFloat16:
      return repeated(0xFFBF);
    case at::kHalf:
      return repeated(0xFDFD);
    case at::kDouble:
      return repeated(0xFFF7);
    default:
      return output_words;
  }
}

}  // namespace

at::Tensor random_indices(int64_t from, int64_t to, int64_t count, at::Generator& rng) {
  return at::randint(from, to, {count}, rng, at::TensorOptions(at::kLong).device(rng.device()));
}

SharedTensor::SharedTensor(TensorSpec spec, int64_t slots)
    : spec_(std::move(spec)), slots_(slots) {}

at::Tensor SharedTensor::bytes_of(int64_t index) const {
  const int64_t start = static_cast<int64_t>(data_offset_ + index * slot_stride_);
  return memory_.narrow(0, start, spec_.bytes());
}

at::Tensor SharedTensor::slot(int64_t index) const {
  return bytes_of(index).view(spec_.dtype).view(spec_.shape);
}

// In words, for speed. Allocations are whole pages.
void SharedTensor::poison() {
  memory_.view(at::kLong).fill_(guard_words(spec_));
  // As long as the longest band and a byte more, from an even place on.
  const auto offset = static_cast<int64_t>(data_offset_),
             stride = static_cast<int64_t>(slot_stride_);
  const int64_t longest =
      1 + std::max({offset, stride - spec_.bytes(), memory_.numel() - offset - slots_ * stride});
  guard_ = memory_.narrow(0, 0, offset).repeat({longest / offset + 1});
  if (spec_.role != Role::output) return;
  for (int64_t i = 0; i < slots_; ++i) poison_slot(i);
}

at::Tensor SharedTensor::damaged(const at::Tensor& band, int64_t start) const {
  return band.ne(guard_.narrow(0, start % 2, band.size(-1)));
}

bool SharedTensor::is_words() const { return spec_.bytes() % 8 == 0; }

void SharedTensor::poison_slot(int64_t index) const {
  const at::Tensor bytes = bytes_of(index);
  is_words() ? bytes.view(at::kLong).fill_(output_words) : bytes.fill_(0xFF);
}

bool SharedTensor::is_poisoned(int64_t index) const {
  const at::Tensor bytes = bytes_of(index);
  const at::Tensor same = is_words() ? bytes.view(at::kLong).eq(output_words) : bytes.eq(0xFF);
  return same.all().item<bool>();
}

// Copies begin at multiples of 256 bytes.
at::Tensor SharedTensor::places(int64_t first, int64_t copies, int64_t count,
                                at::Generator& rng) const {
  const auto size = static_cast<int64_t>(c10::elementSize(spec_.dtype));
  const auto start = static_cast<int64_t>(data_offset_) / size;
  const auto stride = static_cast<int64_t>(slot_stride_) / size;
  return random_indices(first, first + copies, count, rng) * stride + start +
         random_indices(0, std::max<int64_t>(1, spec_.numel()), count, rng);
}

at::Tensor SharedTensor::elements(const at::Tensor& places) const {
  return memory_.view(spec_.dtype).index_select(0, places);
}

at::Tensor SharedTensor::damaged_guard_bytes() const {
  const auto offset = static_cast<int64_t>(data_offset_),
             stride = static_cast<int64_t>(slot_stride_);
  const int64_t behind = offset + slots_ * stride;
  const at::Tensor between = memory_.narrow(0, offset, slots_ * stride)
                                 .view({slots_, stride})
                                 .narrow(1, spec_.bytes(), stride - spec_.bytes());
  return damaged(memory_.narrow(0, 0, offset), 0).sum() + damaged(between, spec_.bytes()).sum() +
         damaged(memory_.narrow(0, behind, memory_.numel() - behind), behind).sum();
}

std::string SharedTensor::damage() const {
  const auto offset = static_cast<int64_t>(data_offset_),
             stride = static_cast<int64_t>(slot_stride_),
             size = static_cast<int64_t>(c10::elementSize(spec_.dtype));
  // The damaged bytes of a band, ascending.
  const auto places_in = [&](int64_t from, int64_t to) {
    return damaged(memory_.narrow(0, from, to - from), from).nonzero().view(-1);
  };
  const auto elements = [&](int64_t bytes, const char* where) {
    const int64_t count = (bytes + size - 1) / size;
    return std::to_string(count) + (count == 1 ? " element " : " elements ") + where;
  };
  for (int64_t i = 0; i < slots_; ++i) {
    const int64_t end = i + 1 < slots_ ? offset + (i + 1) * stride : memory_.numel();
    const at::Tensor behind = places_in(offset + i * stride + spec_.bytes(), end);
    if (behind.numel() > 0) return elements(behind[0].item<int64_t>() + 1, "behind its last");
  }
  const at::Tensor before = places_in(0, offset);
  if (before.numel() == 0) return "one has changed back since";
  return elements(offset - before[-1].item<int64_t>(), "before its first");
}

protocol::Tensor SharedTensor::describe() const {
  protocol::Tensor out{};
  TORCH_CHECK(spec_.name.size() < protocol::max_name, "name too long: ", spec_.name);
  TORCH_CHECK(spec_.shape.size() <= protocol::max_rank, "too many dimensions: ", spec_.name);
  std::strcpy(out.name, spec_.name.c_str());
  out.role = spec_.role == Role::input    ? protocol::TensorRole::input
             : spec_.role == Role::weight ? protocol::TensorRole::weight
                                          : protocol::TensorRole::output;
  out.dtype = static_cast<uint32_t>(spec_.dtype);
  out.rank = static_cast<int32_t>(spec_.shape.size());
  out.slots = static_cast<int32_t>(slots_);
  std::copy(spec_.shape.begin(), spec_.shape.end(), out.shape);
  out.bytes = static_cast<uint64_t>(spec_.bytes());
  out.data_offset = data_offset_;
  out.slot_stride = slot_stride_;
  std::memcpy(out.handle, handle_, sizeof handle_);
  return out;
}

std::vector<at::Tensor> split_slots(const at::Tensor& memory, const protocol::Tensor& tensor) {
  std::vector<at::Tensor> slots;
  for (int32_t i = 0; i < tensor.slots; ++i) {
    slots.push_back(memory
                        .narrow(0,
                                static_cast<int64_t>(tensor.data_offset + i * tensor.slot_stride),
                                static_cast<int64_t>(tensor.bytes))
                        .view(static_cast<at::ScalarType>(tensor.dtype))
                        .view(c10::IntArrayRef(tensor.shape, tensor.rank)));
  }
  return slots;
}

}  // namespace kb
