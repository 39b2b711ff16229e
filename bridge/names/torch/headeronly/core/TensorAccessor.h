#pragma once
#include <torch/headeronly/names.h>

namespace torch::headeronly {
template <class T, size_t N, template <class U> class PtrTraits = c10::DefaultPtrTraits, class Index = int64_t>
using HeaderOnlyTensorAccessor = c10::TensorAccessor<T, N, PtrTraits, Index>;
template <class T, size_t N, template <class U> class PtrTraits = c10::DefaultPtrTraits, class Index = int64_t>
using HeaderOnlyGenericPackedTensorAccessor = c10::GenericPackedTensorAccessor<T, N, PtrTraits, Index>;
}  // namespace torch::headeronly
