// The fp64 oracle a slice at a time, for outputs that do not fit into memory with all its copies.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

#include "judge/acceptance/compare.h"
#include "judge/acceptance/extents.h"
#include "kb/task.h"

namespace kb {

/// A dimension along which a task's outputs do not depend on each other: the reference on a slice
/// of the inputs is that slice of the outputs.
class Slicing {
 public:
  /// Tries the extents that count the first dimension of every output, on the CPU with default
  /// inputs at the sizes `smoke` and `odd`, until the reference on slices agrees with the whole.
  /// @return nothing if there is none, as for a norm of everything or BatchNorm
  static std::optional<Slicing> find(const Task& task);

  /// The oracle's outputs, computed slice by slice as they are read.
  /// @param given inputs and weights in reference()'s order
  std::vector<Oracle> oracle(const Task& task, const SizeBytes& sizes,
                             const std::vector<at::Tensor>& given) const;

  /// What a slice has of the size that is divided.
  struct Units {
    int64_t first, count, of;

    /// How many rows of an output there are for one of them.
    int64_t rows_of_each(int64_t rows) const { return rows / of; }
    /// The output's rows that the slice computes.
    at::Tensor rows(const at::Tensor& output) const {
      const int64_t each = rows_of_each(output.size(0));
      return output.narrow(0, first * each, count * each);
    }
  };
  /// A slice as a smaller call of the same task.
  struct Piece {
    Units units;
    SizeBytes sizes;
    std::vector<at::Tensor> given;
  };
  /// The slices of a call, in order.
  std::vector<Units> pieces(const Task& task, const SizeBytes& sizes) const;
  Piece piece(const Task& task, const SizeBytes& sizes, const std::vector<at::Tensor>& given,
              const Units& units) const;
  /// Bytes of device memory that this takes at its peak besides `given`.
  int64_t bytes(const Task& task, const SizeBytes& sizes) const;
  /// Name of the size that is divided.
  const std::string& field() const { return field_; }
  /// A slice is as large as fits into so many bytes, but at least one row.
  void set_slice_bytes(int64_t bytes) { slice_bytes_ = bytes; }

 private:
  Extent extent(const Task& task, const SizeBytes& sizes) const;
  Slicing(std::string field, size_t element) : field_(std::move(field)), element_(element) {}

  std::string field_;
  size_t element_;
  int64_t slice_bytes_ = int64_t{1} << 30;
};

/// How an output is compared where memory is short.
struct OraclePlan {
  std::optional<Slicing> slicing;  ///< of the oracle; none: it is computed as a whole
  bool on_host = false;            ///< the other outputs wait in the host's memory meanwhile
  bool oracle_on_host = false;     ///< and it is computed there
  /// Of slices in which outputs are looked at again; noise takes some ten times as much.
  int64_t piece_bytes = int64_t{256} << 20;
};

}  // namespace kb
