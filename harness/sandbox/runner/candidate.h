// The candidate's side of the protocol: its module, its buffers, its calls.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "contract/include/kb/contract.h"
#include "sandbox/protocol/serve.h"
#include "sandbox/protocol/unit_clock.h"
#include "sandbox/protocol/weight_index.h"

namespace kb::runner {

/// Memory of one tensor, owned by the judge and mapped here.
class MappedTensor {
 public:
  /// @throws protocol::Failure if the handle cannot be opened
  explicit MappedTensor(const protocol::Tensor& tensor);
  MappedTensor(MappedTensor&& other) noexcept;
  MappedTensor& operator=(MappedTensor&&) = delete;
  ~MappedTensor();

  void* slot(uint32_t index) const;
  protocol::TensorRole role() const { return tensor_.role; }
  uint32_t slots() const { return static_cast<uint32_t>(tensor_.slots); }
  Weight as_weight() const;

 private:
  protocol::Tensor tensor_;
  char* base_ = nullptr;
};

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

/// Runs a candidate's module. Everything in this process is untrusted from the moment it is loaded.
class Candidate final : public protocol::Executor {
 public:
  /// Initialises CUDA; nothing untrusted is loaded yet. @throws protocol::Failure
  /// @param control no module is going to be loaded, and a call is a kernel that does nothing
  explicit Candidate(bool control);

  void set_isolation(protocol::Isolation isolation) { isolation_ = isolation; }
  protocol::Isolation isolation() const override { return isolation_; }
  /// Loads the module in descriptor module_fd. @throws protocol::Failure with the loader's words
  void load() override;

  void bind(const protocol::Request& request) override;
  protocol::Prepared prepare() override;
  protocol::OwnTimes run(uint32_t first_slot, uint32_t slots) override;
  void capture(uint32_t first_slot, uint32_t slots) override;
  protocol::OwnTimes replay() override;
  void wake() override;
  std::string last_kernel() const override;

 private:
  using Entry = int (*)(void* const*);
  void line_up_calls(uint32_t slots);
  void launch(uint32_t slot);
  Graph capture_calls(uint32_t first_slot, uint32_t slots);
  Graph put_together(uint32_t first_slot, uint32_t slots);

  bool control_;
  protocol::Isolation isolation_;
  Entry launch_ = nullptr;
  Entry prepare_ = nullptr;
  protocol::UnitClock clock_;  ///< the first that touches the device
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;        ///< of cudaMallocAsync
  std::map<uint32_t, Graph> captured_;  ///< slot to the graph of its call
  cudaGraphExec_t unit_ = nullptr;      ///< of the calls that were captured last
  bool weight_table_ = false;
  std::vector<unsigned char> sizes_;
  std::vector<MappedTensor> tensors_;
  std::vector<Weight> table_;
  WeightIndex index_{table_};
  Weights weights_ = index_.weights(table_);
  std::vector<std::vector<void*>> calls_;  ///< [slot] what launch() is given
};

}  // namespace kb::runner
