#include "distributed/enqueue.h"

#include <halfbridge/ops.h>

namespace hb::distributed {

void check_tensor(const char* name, const Tensor& tensor) {
  HB_CHECK(tensor.defined(), "[", name, "] expected a tensor, got an undefined one");
  HB_CHECK(tensor.layout() == kStrided, "[", name, "] expected a dense tensor, got a sparse one");
}

const Tensor& only_tensor(const char* name, const std::vector<Tensor>& tensors) {
  HB_CHECK(tensors.size() == 1, "[", name, "] expected one tensor, got ", tensors.size());
  check_tensor(name, tensors[0]);
  return tensors[0];
}

void check_list(const char* name, const std::vector<Tensor>& tensors, size_t count, const Tensor& like) {
  HB_CHECK(tensors.size() == count, "[", name, "] expected a tensor for each of ", count, " ranks, got ",
           tensors.size());
  for (const Tensor& tensor : tensors) {
    check_tensor(name, tensor);
    HB_CHECK(tensor.scalar_type() == like.scalar_type() && tensor.numel() == like.numel() &&
                 tensor.device() == like.device(),
             "[", name, "] expected tensors like ", described({like}), " on ", like.device().str(), ", got ",
             described({tensor}), " on ", tensor.device().str());
  }
}

void check_root(const char* name, int64_t root, int size) {
  HB_CHECK(root >= 0 && root < size, "[", name, "] expected a root rank from 0 to ", size - 1, ", got ", root);
}

Call call_of(OpType op, const std::vector<Tensor>& tensors) {
  Call call;
  call.op = op;
  call.tensors = described(tensors);
  if (!tensors.empty()) call.dtype = tensors[0].scalar_type(), call.device = tensors[0].device();
  for (const Tensor& tensor : tensors) call.bytes += static_cast<size_t>(tensor.numel() * tensor.element_size());
  return call;
}

Tensor premultiplied(const Tensor& tensor, const ReduceOp& op) {
  if (op.op_ != ReduceOp::PREMUL_SUM) return tensor;
  const auto* factor = dynamic_cast<const NCCLPreMulSumSupplement*>(op.supplement_.get());
  HB_CHECK(factor, "[PREMUL_SUM] expected makeNCCLPreMulSum(factor), got no factor");
  return factor->tensor_factor.defined() ? tensor * factor->tensor_factor.to(tensor.scalar_type())
                                         : tensor * Scalar(factor->double_factor);
}

}  // namespace hb::distributed
