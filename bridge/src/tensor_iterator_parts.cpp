// Iterators over parts of what an iterator walks, and what they are for: reductions and short indices.
#include <halfbridge/bridge/tensor_iterator.h>

#include <algorithm>

#include <halfbridge/error.h>
#include <halfbridge/parallel.h>

namespace hb::bridge {
inline namespace api {

TensorIteratorBase::PtrVector TensorIteratorBase::get_base_ptrs() const {
  PtrVector pointers;
  for (const OperandInfo& o : operands_) pointers.push_back(o.data);
  return pointers;
}
TensorIteratorBase::StrideVector TensorIteratorBase::get_dim_strides(int dim) const {
  StrideVector strides;
  for (const OperandInfo& o : operands_) strides.push_back(dim < ndim() ? o.stride_bytes[dim] : 0);
  return strides;
}
TensorIteratorBase::StrideVector TensorIteratorBase::get_strides() const {
  StrideVector all;
  for (int d = 0; d < std::max(ndim(), 2); ++d)
    for (const int64_t stride : get_dim_strides(d)) all.push_back(stride);
  return all;
}
bool TensorIteratorBase::has_contiguous_first_dim() const {
  return ndim() == 0 || std::all_of(operands_.begin(), operands_.end(),
                                    [](const OperandInfo& o) { return o.stride_bytes[0] == o.given.element_size(); });
}

bool TensorIteratorBase::is_dim_reduced(int dim) const {
  return shape_[dim] > 1 && std::any_of(operands_.begin(), operands_.end(),
                                        [&](const OperandInfo& o) { return o.is_output && o.stride_bytes[dim] == 0; });
}
int TensorIteratorBase::num_reduce_dims() const {
  int count = 0;
  for (int d = 0; d < ndim(); ++d) count += operands_[0].stride_bytes[d] == 0 ? 1 : 0;
  return count;
}
int64_t TensorIteratorBase::num_output_elements() const {
  int64_t count = 1;
  for (int d = 0; d < ndim(); ++d)
    if (operands_[0].stride_bytes[d] != 0 || shape_[d] == 0) count *= shape_[d];
  return count;
}

void TensorIteratorBase::narrow(int dim, int64_t start, int64_t size) {
  HB_CHECK(dim >= 0 && dim < ndim() && size >= 1 && start >= 0 && start <= shape_[dim] - size,
           "[TensorIterator] expected a part of dimension ", dim, ", got ", size, " elements from ", start);
  shape_[dim] = size;
  view_offsets_[dim] += start;
  for (OperandInfo& o : operands_) o.data += o.stride_bytes[dim] * start;
}
void TensorIteratorBase::select_all_keeping_dim(int start_dim, IntArrayRef indices) {
  for (int d = start_dim; d < ndim(); ++d) narrow(d, indices[d - start_dim], 1);
}

void TensorIteratorBase::foreach_reduced_elt(const std::function<void(TensorIteratorBase&)>& loop, bool parallelize) {
  HB_CHECK(ninputs() == 1 && noutputs() >= 1, "[TensorIterator] expected a reduction of one input, got ", ninputs());
  if (tensor(0).numel() == 0) return;
  const auto part_of = [&](int64_t at) {
    TensorIteratorBase part = *this;
    for (int d = 0; d < ndim(); ++d) {
      if (operands_[0].stride_bytes[d] == 0 || shape_[d] <= 1) continue;
      part.narrow(d, at % shape_[d], 1);
      at /= shape_[d];
    }
    loop(part);
  };
  const int64_t count = num_output_elements();
  const bool alone = !parallelize || numel() < internal::GRAIN_SIZE;
  const int64_t grain =
      alone ? count : std::max<int64_t>(1, internal::GRAIN_SIZE / std::max<int64_t>(1, numel() / count));
  parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) part_of(at);
  });
}

void TensorIteratorBase::parallel_reduce(const Loop2d& loop) {
  HB_CHECK(ntensors() == 2, "[TensorIterator] parallel_reduce only supports one input and one output, got ", ntensors(),
           " operands");
  int widest = -1;
  for (int d = 0; d < ndim(); ++d)
    if (!is_dim_reduced(d) && (widest < 0 || shape_[d] > shape_[widest])) widest = d;
  if (widest < 0 || shape_[widest] <= 1 || numel() < internal::GRAIN_SIZE) return serial_for_each(loop, {0, numel()});
  const int64_t grain = std::max<int64_t>(1, internal::GRAIN_SIZE / (numel() / shape_[widest]));
  parallel_for(0, shape_[widest], grain, [&](int64_t begin, int64_t end) {
    TensorIteratorBase part = *this;
    part.narrow(widest, begin, end - begin);
    part.serial_for_each(loop, {0, part.numel()});
  });
}

bool TensorIteratorBase::can_use_32bit_indexing() const {
  if (numel() > INT32_MAX) return false;
  return std::all_of(operands_.begin(), operands_.end(), [&](const OperandInfo& operand) {
    int64_t last = 1;
    for (int d = 0; d < ndim(); ++d) last += (shape_[d] - 1) * operand.stride_bytes[d];
    return last <= INT32_MAX;
  });
}
int TensorIteratorBase::get_dim_to_split() const {
  HB_CHECK(ndim() >= 1, "[TensorIterator] expected a dimension to split");
  int widest = -1;
  int64_t most = -1;
  for (int d = ndim() - 1; d >= 0; --d) {
    if (shape_[d] <= 1) continue;
    for (const OperandInfo& o : operands_)
      if ((shape_[d] - 1) * o.stride_bytes[d] > most) most = (shape_[d] - 1) * o.stride_bytes[d], widest = d;
  }
  HB_CHECK(widest >= 0, "[TensorIterator] expected a dimension of more than one element to split");
  return widest;
}
std::unique_ptr<TensorIterator> TensorIteratorBase::split(int dim) {
  HB_CHECK(dim >= 0 && dim < ndim() && shape_[dim] >= 2, "[TensorIterator] expected a dimension to split, got ", dim);
  auto first = std::make_unique<TensorIterator>();
  static_cast<TensorIteratorBase&>(*first) = *this;
  const int64_t half = shape_[dim] / 2;
  first->narrow(dim, 0, half);
  narrow(dim, half, shape_[dim] - half);
  return first;
}
SplitUntil32Bit TensorIteratorBase::with_32bit_indexing() const { return SplitUntil32Bit(*this); }

SplitUntil32Bit::SplitUntil32Bit(const TensorIteratorBase& whole)
    : parts_(std::make_shared<std::vector<TensorIterator>>()) {
  TensorIterator rest;
  static_cast<TensorIteratorBase&>(rest) = whole;
  std::vector<TensorIterator> open{rest};  // what is split next is the last
  while (!open.empty()) {
    TensorIterator last = std::move(open.back());
    open.pop_back();
    if (last.numel() == 0 || last.can_use_32bit_indexing()) {
      parts_->push_back(std::move(last));
      continue;
    }
    auto first = last.split(last.get_dim_to_split());
    open.push_back(std::move(last));
    open.push_back(std::move(*first));
  }
}

}  // namespace api
}  // namespace hb::bridge
