#include "distributed/staged.h"

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops/factories.h>

namespace hb::distributed {

Staged::Staged(const Tensor& tensor, bool read) : tensor_(tensor.detach()) {
  if (tensor_.is_contiguous())
    memory_ = tensor_;
  else
    memory_ = read ? tensor_.contiguous() : empty(tensor_.sizes(), tensor_.options());
}

void Staged::store() const {
  if (!memory_.is_same(tensor_)) tensor_.copy_(memory_);
}

}  // namespace hb::distributed
