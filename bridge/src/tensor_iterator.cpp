#include <halfbridge/bridge/tensor_iterator.h>

#include <algorithm>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>
#include <halfbridge/parallel.h>

namespace hb::bridge {
inline namespace api {

int64_t TensorIteratorBase::numel() const {
  int64_t count = 1;
  for (const int64_t size : shape_) count *= size;
  return count;
}

ScalarType TensorIteratorBase::common_dtype() const {
  HB_CHECK(common_, "[TensorIterator] expected a configuration that promotes to a common dtype, got one without");
  return *common_;
}

bool TensorIteratorBase::is_contiguous() const {
  if (numel() == 1) return true;
  if (ndim() != 1) return false;
  return std::all_of(operands_.begin(), operands_.end(),
                     [](const OperandInfo& o) { return o.stride_bytes[0] == o.given.element_size(); });
}

void TensorIteratorBase::cast_outputs() {
  for (OperandInfo& operand : operands_) {
    if (!operand.is_output || !operand.original.defined()) continue;
    operand.original.copy_(operand.given);
    operand.given = std::move(operand.original);
    operand.original = Tensor();
  }
}

Scalar TensorIteratorBase::first_element(const Tensor& t, const char* data) {
  const Tensor first = t.numel() == 1 ? t : t.as_strided({}, {});
  if (!data) return first.item();
  return from_blob(const_cast<char*>(data), {}, TensorOptions(t.scalar_type())).item();
}

/// Places and strides of the operands, which have or broadcast to `shape`.
void TensorIteratorBase::set_geometry(IntArrayRef shape) {
  shape_.assign(shape.rbegin(), shape.rend());
  for (OperandInfo& operand : operands_) {
    Tensor wide = operand.given;
    // a static shape may be smaller than an operand, whose first elements the loop then sees
    for (int64_t d = 0; d < wide.dim() && wide.dim() == static_cast<int64_t>(shape.size()); ++d)
      if (wide.size(d) > shape[d]) wide = wide.narrow(d, 0, shape[d]);
    wide = wide.expand(shape);
    operand.data = static_cast<char*>(const_cast<void*>(operand.given.const_data_ptr()));
    operand.stride_bytes.clear();
    for (int64_t d = wide.dim() - 1; d >= 0; --d) operand.stride_bytes.push_back(wide.stride(d) * wide.element_size());
  }
  merge_dimensions();
}

void TensorIteratorBase::merge_dimensions() {
  int last = 0;  // the dimension that takes in what follows
  for (int d = 1; d < ndim(); ++d) {
    const bool merges = shape_[last] == 1 || shape_[d] == 1 ||
                        std::all_of(operands_.begin(), operands_.end(), [&](const OperandInfo& o) {
                          return o.stride_bytes[d] == o.stride_bytes[last] * shape_[last];
                        });
    const int to = merges ? last : ++last;
    const bool takes_strides = !merges || shape_[last] == 1;
    for (OperandInfo& o : operands_)
      if (takes_strides) o.stride_bytes[to] = o.stride_bytes[d];
    shape_[to] = merges ? shape_[to] * shape_[d] : shape_[d];
  }
  const size_t dims = shape_.empty() ? 0 : static_cast<size_t>(last) + 1;
  shape_.resize(dims);
  for (OperandInfo& o : operands_) o.stride_bytes.resize(dims);
  view_offsets_.assign(dims, 0);
}

void TensorIteratorBase::run(const Loop& loop, int64_t grain_size) {
  parallel_for(0, numel(), grain_size, [&](int64_t begin, int64_t end) { run_range(loop, begin, end); });
}

void TensorIteratorBase::run_range(const Loop& loop, int64_t begin, int64_t end) const {
  const size_t count = operands_.size();
  // Of the innermost dimension, and none of a second one, for loops that take two.
  SmallVector<int64_t, 6> inner(2 * count, 0);
  for (size_t i = 0; i < count; ++i)
    inner[i] = shape_.empty() ? operands_[i].given.element_size() : operands_[i].stride_bytes[0];
  SmallVector<char*, 4> data(count, nullptr);
  const int64_t row = shape_.empty() ? 1 : shape_[0];
  while (begin < end) {
    int64_t rest = begin;
    for (size_t i = 0; i < count; ++i) data[i] = operands_[i].data;
    for (int d = 0; d < ndim(); rest /= shape_[d++])
      for (size_t i = 0; i < count; ++i) data[i] += rest % shape_[d] * operands_[i].stride_bytes[d];
    const int64_t size = std::min(row - begin % row, end - begin);
    loop(data.data(), inner.data(), size);
    begin += size;
  }
}

}  // namespace api
}  // namespace hb::bridge
