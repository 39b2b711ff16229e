#pragma once
// Element-wise calls as one, the last part of a batch norm before them.

#include "backend/elementwise.h"
#include "backend/reduce.h"
#include "norm_parts.h"
#include "recording.h"

namespace hb::graph {

using Elementwise = capture::CallOf<const ElementwiseCall&>;

/// The call as one of an element-wise function over whole rows; null where it is another.
inline const Elementwise* elementwise(const capture::Call& call) {
  const auto* const e = dynamic_cast<const Elementwise*>(&call);
  return e && !std::get<0>(e->kept).loop && std::get<0>(e->kept).flat.outputs == 1 ? e : nullptr;
}

/// A reduction of any layout.
using Reduction = capture::CallOf<const ReduceLoop&, ReduceOp, ScalarType, const ReduceFinish&>;
/// The call as one of all elements of memory without gaps to one; null where it is another.
const Reduction* whole_reduction(const capture::Call& call);

/// Calls over as many elements each, of which every element depends on what stands in its own place alone. They
/// run together (cpu/chain.h).
class Chain final : public capture::Call {
 public:
  Chain() : Call("chain") {}
  /// `buffers`: for each operand of the call (result, input, … of a norm's part), the buffer of the chain that takes
  /// its place, or -1.
  void add(std::unique_ptr<capture::Call> call, const std::vector<int>& buffers);
  /// The last call, a reduction of what the one before it computes, which is in `buffer` if that is not -1.
  void add_reduction(std::unique_ptr<capture::Call> call, int buffer);
  void run() override;
  void show(capture::Operands& v) override;
  size_t size() const { return links_.size(); }

  /// From this many elements on every function divides its work alike among the threads, so that vectors begin at the
  /// same elements and no rounding changes.
  static int64_t least_elements();

 private:
  struct Link {
    std::unique_ptr<capture::Call> call;
    const Elementwise* elementwise;  // or
    const Affine* affine;
    int buffer[Loop::kMaxOperands];
  };
  std::vector<Link> links_;
  std::unique_ptr<capture::Call> reduction_;
  int reduced_ = -1;
  int buffers_ = 0;
  int64_t numel_ = 0;
};

}  // namespace hb::graph
