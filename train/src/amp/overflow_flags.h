#pragma once
// Which parameters' gradients overflowed: a flag on the device for each parameter that an optimizer has. It is found by
// the parameter's address and belongs to that tensor alone; it goes when the tensor goes.

#include <cstdint>
#include <unordered_map>

#include "autograd/weak_tensor.h"

namespace hb::amp {

struct OverflowFlag {
  Tensor overflow;      // float32, one element: not 0 after an overflow
  bool scaled = false;  // a scaled gradient arrived since overflows were last taken
  uint64_t round = 0;   // of passes (see Scaling) in which the last one arrived
};

/// Not synchronised. References are good until the next watch().
class OverflowFlags {
 public:
  /// Gives a parameter a flag, unless it has one.
  OverflowFlag& watch(const Tensor& parameter);
  /// Null for tensors that nobody watches.
  OverflowFlag* find(const Tensor& parameter);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    WeakTensor tensor;
    OverflowFlag flag;
  };
  void drop_the_gone();

  std::unordered_map<TensorImpl*, Entry> entries_;
  size_t look_at_size_ = 64;
};

}  // namespace hb::amp
