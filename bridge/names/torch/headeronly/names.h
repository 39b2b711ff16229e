#pragma once
// torch::headeronly: what LibTorch's extensions for several of its versions may use. The names are c10's.

#include <stdexcept>

#include <c10/names.h>

namespace torch::headeronly {
using namespace c10;
template <class T>
using HeaderOnlyArrayRef = c10::ArrayRef<T>;
using IntHeaderOnlyArrayRef = HeaderOnlyArrayRef<int64_t>;
namespace impl {
template <c10::ScalarType dtype>
using ScalarTypeToCPPTypeT = hb::bridge::cpp_type_t<dtype>;
}
}  // namespace torch::headeronly
