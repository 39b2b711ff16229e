// Conversions between layouts under further names.
#include <halfbridge/ops.h>

namespace hb {

Tensor Tensor::_to_sparse(int64_t sparse_dim) const { return to_sparse(sparse_dim); }
Tensor Tensor::_to_sparse(std::optional<Layout> layout, OptionalIntArrayRef blocksize,
                          std::optional<int64_t> dense_dim) const {
  return to_sparse(layout, blocksize, dense_dim);
}
Tensor Tensor::_to_dense(std::optional<ScalarType> dtype, std::optional<bool> masked_grad) const {
  return to_dense(dtype, masked_grad);
}

#define HB_BLOCKS(name)                                                                   \
  Tensor Tensor::name(IntArrayRef, std::optional<int64_t>) const {                        \
    HB_NOT_SUPPORTED("[" #name "] layouts of blocks do not exist: take to_sparse_csr()"); \
  }
HB_BLOCKS(to_sparse_bsr)
HB_BLOCKS(to_sparse_bsc)
HB_BLOCKS(_to_sparse_bsr)
HB_BLOCKS(_to_sparse_bsc)
#undef HB_BLOCKS

Tensor _sparse_softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  HB_CHECK(!half_to_float, "softmax: with half to float conversion is not supported on cpu");
  return _sparse_softmax(self, dim, std::nullopt);
}
Tensor _sparse_log_softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  HB_CHECK(!half_to_float, "log_softmax: with half to float conversion is not supported on cpu");
  return _sparse_log_softmax(self, dim, std::nullopt);
}

}  // namespace hb
