// Sizes as SymInts, which are numbers here.
#include <ostream>

#include <halfbridge/tensor.h>

namespace hb {

static_assert(sizeof(SymInt) == sizeof(int64_t));
std::ostream& operator<<(std::ostream& out, const SymInt& value) { return out << value.expect_int(); }

namespace {
IntArrayRef plain(SymIntArrayRef sizes) { return {reinterpret_cast<const int64_t*>(sizes.data()), sizes.size()}; }
std::optional<int64_t> plain(const std::optional<SymInt>& value) {
  return value ? std::optional<int64_t>(value->expect_int()) : std::nullopt;
}
SymIntArrayRef symbolic(IntArrayRef sizes) { return {reinterpret_cast<const SymInt*>(sizes.data()), sizes.size()}; }
}  // namespace

SymIntArrayRef Tensor::sym_sizes() const { return symbolic(sizes()); }
SymIntArrayRef Tensor::sym_strides() const { return symbolic(strides()); }
SymInt Tensor::sym_size(int64_t dim) const { return size(dim); }
SymInt Tensor::sym_stride(int64_t dim) const { return stride(dim); }
SymInt Tensor::sym_numel() const { return numel(); }
SymInt Tensor::sym_nbytes() const { return static_cast<int64_t>(nbytes()); }
SymInt Tensor::sym_storage_offset() const { return storage_offset(); }

#define HB_DEFAULT(...)
#define HB_SYMINT(Result, name, params, args) \
  Result Tensor::name##_symint params const { return name args; }
#include <halfbridge/ops/symint_methods.def>

}  // namespace hb
