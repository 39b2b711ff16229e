#pragma once
#include <c10/names.h>

namespace at {
/// LibTorch's name before it had one for each type that a kernel counts in.
template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class Index = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, PtrTraits, Index>;
}  // namespace at
