#pragma once
// Tensors as plain memory for an engine.

#include <halfbridge/tensor.h>

namespace hb::distributed {

/// A tensor's elements end to end in memory: where they lie, else in a copy. Made by the thread that runs the
/// collective.
class Staged {
 public:
  /// `read`: the values are wanted.
  Staged(const Tensor& tensor, bool read);
  /// Never null: Gloo waits forever for memory without an address, even if it has no bytes.
  void* data() const {
    static char none;
    void* const begin = memory_.data_ptr();
    return begin ? begin : &none;
  }
  size_t bytes() const { return static_cast<size_t>(memory_.nbytes()); }
  size_t count() const { return static_cast<size_t>(memory_.numel()); }
  /// Gives the tensor the values that were written to the memory.
  void store() const;
  const Tensor& memory() const { return memory_; }

 private:
  Tensor tensor_, memory_;
};

}  // namespace hb::distributed
