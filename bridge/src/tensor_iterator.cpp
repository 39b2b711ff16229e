#include <halfbridge/bridge/tensor_iterator.h>

#include <algorithm>

#include <halfbridge/error.h>
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
                     [](const Operand& o) { return o.strides[0] == o.tensor.element_size(); });
}

bool TensorIteratorBase::can_use_32bit_indexing() const {
  return std::all_of(operands_.begin(), operands_.end(), [&](const Operand& operand) {
    int64_t last = 0;
    for (int d = 0; d < ndim(); ++d) last += (shape_[d] - 1) * operand.strides[d];
    return last <= INT32_MAX;
  });
}

void TensorIteratorBase::cast_outputs() {
  for (Operand& operand : operands_) {
    if (!operand.original.defined()) continue;
    operand.original.copy_(operand.tensor);
    operand.tensor = std::move(operand.original);
    operand.original = Tensor();
  }
}

/// Places and strides of the operands, which have or broadcast to `shape`.
void TensorIteratorBase::set_geometry(IntArrayRef shape) {
  shape_.assign(shape.rbegin(), shape.rend());
  for (Operand& operand : operands_) {
    Tensor wide = operand.tensor;
    // a static shape may be smaller than an operand, whose first elements the loop then sees
    for (int64_t d = 0; d < wide.dim() && wide.dim() == static_cast<int64_t>(shape.size()); ++d)
      if (wide.size(d) > shape[d]) wide = wide.narrow(d, 0, shape[d]);
    wide = wide.expand(shape);
    operand.data = static_cast<char*>(const_cast<void*>(operand.tensor.const_data_ptr()));
    operand.strides.clear();
    for (int64_t d = wide.dim() - 1; d >= 0; --d) operand.strides.push_back(wide.stride(d) * wide.element_size());
  }
  merge_dimensions();
}

void TensorIteratorBase::merge_dimensions() {
  int last = 0;  // the dimension that takes in what follows
  for (int d = 1; d < ndim(); ++d) {
    const bool merges = shape_[last] == 1 || shape_[d] == 1 ||
                        std::all_of(operands_.begin(), operands_.end(),
                                    [&](const Operand& o) { return o.strides[d] == o.strides[last] * shape_[last]; });
    const int to = merges ? last : ++last;
    const bool takes_strides = !merges || shape_[last] == 1;
    for (Operand& o : operands_)
      if (takes_strides) o.strides[to] = o.strides[d];
    shape_[to] = merges ? shape_[to] * shape_[d] : shape_[d];
  }
  const size_t dims = shape_.empty() ? 0 : static_cast<size_t>(last) + 1;
  shape_.resize(dims);
  for (Operand& o : operands_) o.strides.resize(dims);
}

void TensorIteratorBase::run(const Loop& loop, int64_t grain_size) {
  parallel_for(0, numel(), grain_size, [&](int64_t begin, int64_t end) { run_range(loop, begin, end); });
}

void TensorIteratorBase::run_range(const Loop& loop, int64_t begin, int64_t end) const {
  const size_t count = operands_.size();
  // Of the innermost dimension, and none of a second one, for loops that take two.
  SmallVector<int64_t, 6> inner(2 * count, 0);
  for (size_t i = 0; i < count; ++i)
    inner[i] = shape_.empty() ? operands_[i].tensor.element_size() : operands_[i].strides[0];
  SmallVector<char*, 4> data(count, nullptr);
  const int64_t row = shape_.empty() ? 1 : shape_[0];
  while (begin < end) {
    int64_t rest = begin;
    for (size_t i = 0; i < count; ++i) data[i] = operands_[i].data;
    for (int d = 0; d < ndim(); rest /= shape_[d++])
      for (size_t i = 0; i < count; ++i) data[i] += rest % shape_[d] * operands_[i].strides[d];
    const int64_t size = std::min(row - begin % row, end - begin);
    loop(data.data(), inner.data(), size);
    begin += size;
  }
}

TensorIterator TensorIterator::binary_op(Tensor& out, const Tensor& a, const Tensor& b) {
  return borrowing_binary_op(out, a, b);
}
TensorIterator TensorIterator::borrowing_binary_op(const Tensor& out, const Tensor& a, const Tensor& b) {
  return TensorIteratorConfig()
      .add_output(out)
      .add_input(a)
      .add_input(b)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true)
      .build();
}
TensorIterator TensorIterator::unary_op(Tensor& out, const Tensor& a) {
  return TensorIteratorConfig().add_output(out).add_input(a).build();
}
TensorIterator TensorIterator::nullary_op(Tensor& out) { return borrowing_nullary_op(out); }
TensorIterator TensorIterator::borrowing_nullary_op(const Tensor& out) {
  return TensorIteratorConfig().add_output(out).resize_outputs(false).check_all_same_dtype(false).build();
}

}  // namespace api
}  // namespace hb::bridge
