#pragma once
// <ATen/DLConvertor.h>: DLPack under LibTorch's names.

#include <functional>

#include <halfbridge/bridge/dlpack_layout.h>
#include <halfbridge/dlpack.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

/// hb::to_dlpack.
inline DLManagedTensor* toDLPack(const Tensor& src) { return to_dlpack(src); }
/// hb::from_dlpack.
inline Tensor fromDLPack(DLManagedTensor* src) { return from_dlpack(src); }
/// `deleter` is called with the address of the memory, in place of that of `src`.
HB_API Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter);

/// The same with the structures of DLPack 1.x. Of another major version than 1 nothing is read: that throws.
HB_API DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src);
HB_API Tensor fromDLPackVersioned(DLManagedTensorVersioned* src, std::function<void(void*)> deleter = {});

HB_API DLDataType getDLDataType(const Tensor& tensor);
HB_API ScalarType toScalarType(const DLDataType& dtype);

}  // namespace api
}  // namespace hb::bridge
