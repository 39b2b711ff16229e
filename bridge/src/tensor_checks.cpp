#include <halfbridge/bridge/tensor_checks.h>

#include <algorithm>
#include <sstream>

#include <halfbridge/bridge/element_types.h>

#include "core/geometry.h"

namespace hb::bridge {
inline namespace api {

// The end of each message.
#define HB_FOR_ARGUMENT(c) " (while checking arguments for ", c, ")"

namespace {
std::vector<int64_t> contiguous_strides(IntArrayRef sizes) {
  const DimVector strides = geometry::contiguous_strides(DimVector(sizes));
  return {strides.begin(), strides.end()};
}
}  // namespace

TensorGeometry::TensorGeometry(IntArrayRef sizes) : sizes_(sizes.vec()), strides_(contiguous_strides(sizes)) {
  numel_ = 1;
  for (int64_t size : sizes) numel_ *= size;
}
TensorGeometry::TensorGeometry(const Tensor& t)
    : sizes_(t.sizes().vec()), strides_(t.strides().vec()), storage_offset_(t.storage_offset()), numel_(t.numel()) {}

namespace {
int64_t element(const std::vector<int64_t>& values, int64_t dim) {
  return values[maybe_wrap_dim(dim, static_cast<int64_t>(values.size()), /*wrap_scalar=*/false)];
}
}  // namespace

int64_t TensorGeometry::size(int64_t dim) const { return element(sizes_, dim); }
int64_t TensorGeometry::stride(int64_t dim) const { return element(strides_, dim); }

bool TensorGeometry::is_contiguous() const {
  if (numel_ == 0) return true;
  const auto expected = contiguous_strides(sizes_);
  for (size_t i = 0; i < sizes_.size(); ++i)
    if (sizes_[i] != 1 && strides_[i] != expected[i]) return false;
  return true;
}

TensorGeometry TensorGeometry::transpose(int64_t dim0, int64_t dim1) const {
  (void)size(dim0), (void)size(dim1);  // checked
  TensorGeometry result = *this;
  const auto at = [this](int64_t d) { return d < 0 ? d + dim() : d; };
  std::swap(result.sizes_[at(dim0)], result.sizes_[at(dim1)]);
  std::swap(result.strides_[at(dim0)], result.strides_[at(dim1)]);
  return result;
}

std::ostream& operator<<(std::ostream& out, const TensorGeometryArg& t) {
  if (t.pos != 0) out << "argument #" << t.pos << " ";
  return out << "'" << t.name << "'";
}

void checkDim(CheckedFrom c, const Tensor& tensor, const char* name, int pos, int64_t dim) {
  checkDim(c, TensorGeometryArg(TensorGeometry(tensor), name, pos), dim);
}
void checkDim(CheckedFrom c, const TensorGeometryArg& t, int64_t dim) {
  HB_CHECK(t->dim() == dim, "Expected ", dim, "-dimensional tensor, but got ", t->dim(), "-dimensional tensor for ", t,
           HB_FOR_ARGUMENT(c));
}
void checkDimRange(CheckedFrom c, const TensorGeometryArg& t, int64_t dim_start, int64_t dim_end) {
  HB_CHECK(t->dim() >= dim_start && t->dim() < dim_end, "Expected ", dim_start, " to ", dim_end - 1,
           " dimensions, but got ", t->dim(), "-dimensional tensor for ", t, HB_FOR_ARGUMENT(c));
}
void checkSameDim(CheckedFrom c, const TensorGeometryArg& t1, const TensorGeometryArg& t2) {
  HB_CHECK(t1->dim() == t2->dim(), "Expected tensor for ", t1, " to have the same dimension as tensor for ", t2,
           "; but ", t1->dim(), " does not equal ", t2->dim(), HB_FOR_ARGUMENT(c));
}
void checkContiguous(CheckedFrom c, const TensorGeometryArg& t) {
  HB_CHECK(t->is_contiguous(), "Expected contiguous tensor, but got non-contiguous tensor for ", t, HB_FOR_ARGUMENT(c));
}
void checkSize(CheckedFrom c, const TensorGeometryArg& t, IntArrayRef sizes) {
  checkDim(c, t, static_cast<int64_t>(sizes.size()));
  HB_CHECK(t->sizes() == sizes, "Expected tensor of size ", sizes, ", but got tensor of size ", t->sizes(), " for ", t,
           HB_FOR_ARGUMENT(c));
}
void checkSize(CheckedFrom c, const TensorGeometryArg& t, int64_t dim, int64_t size) {
  HB_CHECK(t->size(dim) == size, "Expected tensor to have size ", size, " at dimension ", dim, ", but got size ",
           t->size(dim), " for ", t, HB_FOR_ARGUMENT(c));
}
void checkNumel(CheckedFrom c, const TensorGeometryArg& t, int64_t numel) {
  HB_CHECK(t->numel() == numel, "Expected tensor for ", t, " to have ", numel, " elements; but it actually has ",
           t->numel(), " elements", HB_FOR_ARGUMENT(c));
}
void checkSameNumel(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  HB_CHECK(t1->numel() == t2->numel(), "Expected tensor for ", t1, " to have same number of elements as tensor for ",
           t2, "; but ", t1->numel(), " does not equal ", t2->numel(), HB_FOR_ARGUMENT(c));
}
void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType s) {
  HB_CHECK(t->scalar_type() == s, "Expected tensor for ", t, " to have scalar type ", s, "; but got ", t->toString(),
           " instead", HB_FOR_ARGUMENT(c));
}
void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> l) {
  if (std::find(l.begin(), l.end(), t->scalar_type()) != l.end()) return;
  std::string types;
  for (ScalarType type : l) types += (types.empty() ? "" : ", ") + std::string(toString(type));
  HB_CHECK(false, "Expected tensor for ", t, " to have one of the following scalar types: ", types, "; but got ",
           t->toString(), " instead", HB_FOR_ARGUMENT(c));
}
void checkSameGPU(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  std::ostringstream on_cpu;
  for (const TensorArg* t : {&t1, &t2})
    if (!(*t)->is_cuda()) on_cpu << "Tensor for " << *t << " is on CPU, ";
  HB_CHECK(t1->is_cuda() && t2->is_cuda(), on_cpu.str(), "but expected it to be on GPU", HB_FOR_ARGUMENT(c));
}
void checkSameType(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  const bool same = t1->scalar_type() == t2->scalar_type() && t1->device().type() == t2->device().type() &&
                    t1->layout() == t2->layout();
  HB_CHECK(same, "Expected tensor for ", t1, " to have the same type as tensor for ", t2, "; but type ", t1->toString(),
           " does not equal ", t2->toString(), HB_FOR_ARGUMENT(c));
}
void checkSameSize(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  HB_CHECK(t1->sizes() == t2->sizes(), "Expected tensor for ", t1, " to have same size as tensor for ", t2, "; but ",
           t1->sizes(), " does not equal ", t2->sizes(), HB_FOR_ARGUMENT(c));
}
void checkDefined(CheckedFrom c, const TensorArg& t) {
  HB_CHECK(t->defined(), "Expected tensor for ", t, " to be non-null, but it was undefined", HB_FOR_ARGUMENT(c));
}
void checkLayout(CheckedFrom c, const Tensor& t, Layout layout) {
  HB_CHECK(!t.defined() || t.layout() == layout, "Expected tensor to have ", layout, " Layout, but got tensor with ",
           t.layout(), " Layout", HB_FOR_ARGUMENT(c));
}
void check_dim_size(const Tensor& tensor, int64_t dim, int64_t dim_size, int64_t size) {
  HB_CHECK(tensor.dim() == dim && tensor.size(dim_size) == size, "Expected a tensor of dimension ", dim,
           " and tensor.size[", dim_size, "] == ", size, " but got: dimension ", tensor.dim(), " and tensor.size[",
           dim_size, "] = ", tensor.size(dim_size));
}

namespace {
// The check of each defined tensor with the first of them.
template <class Check>
void with_first(CheckedFrom c, ArrayRef<TensorArg> tensors, Check check) {
  const TensorArg* first = nullptr;
  for (const TensorArg& t : tensors) {
    if (!t->defined()) continue;
    if (first)
      check(c, *first, t);
    else
      first = &t;
  }
}
}  // namespace

void checkAllSameNumel(CheckedFrom c, ArrayRef<TensorArg> tensors) { with_first(c, tensors, checkSameNumel); }
void checkAllSameGPU(CheckedFrom c, ArrayRef<TensorArg> tensors) { with_first(c, tensors, checkSameGPU); }
void checkAllSameType(CheckedFrom c, ArrayRef<TensorArg> tensors) { with_first(c, tensors, checkSameType); }
void checkAllSameSize(CheckedFrom c, ArrayRef<TensorArg> tensors) { with_first(c, tensors, checkSameSize); }
void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> ts) {
  for (const TensorArg& t : ts)
    if (t->defined()) checkContiguous(c, t);
}
void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> ts) {
  for (const TensorArg& t : ts) checkDefined(c, t);
}
void checkBackend(CheckedFrom c, ArrayRef<Tensor> tensors, Backend backend) {
  for (const Tensor& t : tensors)
    HB_CHECK(!t.defined() || t.type().backend() == backend, "Expected tensor to have ", backend,
             " Backend, but got tensor with ", t.type().backend(), " Backend", HB_FOR_ARGUMENT(c));
}
void checkDeviceType(CheckedFrom c, ArrayRef<Tensor> tensors, DeviceType device_type) {
  for (const Tensor& t : tensors)
    HB_CHECK(!t.defined() || t.device().type() == device_type, "Expected tensor to have ", device_type,
             " DeviceType, but got tensor with ", t.device().type(), " DeviceType", HB_FOR_ARGUMENT(c));
}
void checkLayout(CheckedFrom c, ArrayRef<Tensor> tensors, Layout layout) {
  for (const Tensor& t : tensors) checkLayout(c, t, layout);
}
void* maybe_data_ptr(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

}  // namespace api
}  // namespace hb::bridge
