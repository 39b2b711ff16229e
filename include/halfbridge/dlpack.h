// Tensors of other libraries and theirs of ours, in the same memory, by DLPack (dmlc.github.io/dlpack).
#pragma once

#include <halfbridge/tensor.h>

// As <dlpack/dlpack.h> and <ATen/dlpack.h> define it; whoever includes one of them can look inside.
struct DLManagedTensor;

namespace hb {

/// Hands out the tensor's memory without a copy; strides, offset and dtype stay. The memory lives until the consumer
/// calls the result's `deleter`, once, from any thread. Gradients and history do not travel. Every dtype of ours has
/// one of DLPack; a tensor that is not in the memory of the CPU is an error.
HB_API DLManagedTensor* to_dlpack(const Tensor& tensor);

/// A tensor in the memory that `managed` describes, without a copy. Takes over `managed`: its deleter is called when
/// the last tensor with this memory is gone, and at once where this throws. Throws hb::Error for devices other than the
/// CPU (host memory pinned for CUDA is fine), dtypes that no Tensor has, vector types, and strides or sizes below zero.
///
/// Changes through one side are seen by the other; version checks of autograd are not told of them.
HB_API Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace hb
