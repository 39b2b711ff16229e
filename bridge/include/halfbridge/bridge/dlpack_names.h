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
/// `deleter` is called with `src` in place of its own.
HB_API Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter);

HB_API DLDataType getDLDataType(const Tensor& tensor);
HB_API ScalarType toScalarType(const DLDataType& dtype);

}  // namespace api
}  // namespace hb::bridge
