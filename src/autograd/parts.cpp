#include "autograd/parts.h"

#include <algorithm>

#include <halfbridge/ops/factories.h>

#include "autograd/accumulate_grad.h"
#include "autograd/arithmetic.h"
#include "autograd/backward_pass.h"
#include "autograd/record.h"
#include "autograd/watch.h"
#include "backend/moved_rows.h"
#include "core/geometry.h"
#include "core/recorder.h"

namespace hb {

bool Part::meets(const Part& other) const {
  if (dim != other.dim) return true;  // they cross
  if (to <= other.from || other.to <= from || count() == 0 || other.count() == 0) return false;
  return step != other.step || (from - other.from) % step == 0;
}

Tensor Part::of(const Tensor& whole) const {
  TensorImpl& w = whole.impl();
  w.settle();  // `dim` counts in the order that the program sees
  DimVector sizes = w.sizes(), strides = w.physical_strides();
  const int64_t offset = w.offset() + from * strides[dim];
  if (selected) {
    sizes.erase(dim), strides.erase(dim);
  } else {
    sizes[dim] = count(), strides[dim] *= step;
  }
  return Tensor(make_intrusive<TensorImpl>(w.storage(), w.dtype(), std::move(sizes), std::move(strides), offset));
}

PartNode::PartNode(const char* name, const Tensor& whole, const Part& part, Embed embed)
    : name_(name), sizes_(whole.impl().sizes()), strides_(whole.impl().strides()), part_(part), embed_(embed) {}

variable_list PartNode::apply(variable_list&& grads) {
  front::Excluded excluded;
  BackwardPass* const pass = autodiff::evaluating(*this);
  if (pass && pass->put(*this, grads[0])) return {Tensor()};
  return {embed_(grads[0], sizes_, part_)};
}

PartsNode::PartsNode(const char* name, const Tensor& whole, std::vector<Part> parts, Join join)
    : name_(name),
      sizes_(whole.impl().sizes()),
      strides_(whole.impl().strides()),
      parts_(std::move(parts)),
      join_(join) {}

variable_list PartsNode::apply(variable_list&& grads) {
  front::Excluded excluded;
  if (BackwardPass* const pass = autodiff::evaluating(*this))
    if (const Tensor whole = pass->join(*this, grads); whole.defined()) return {whole};
  for (size_t k = 0; k < grads.size(); ++k) {
    if (grads[k].defined()) continue;
    const InputMetadata& part = input_metadata(k);
    grads[k] = empty(part.sizes, TensorOptions().dtype(part.dtype).device(part.device));
    autodiff::arithmetic.zero_(grads[k]);
  }
  return {join_(grads, parts_[0].dim)};
}

Tensor place_in_whole(const Backward& b, size_t i, IntArrayRef sizes, const TensorOptions& options) {
  BackwardPass* const pass = autodiff::evaluating(b.node());
  return pass ? pass->place(b.node(), i, sizes, options) : Tensor();
}

namespace autodiff {

Tensor Whole::place(const Part& part) {
  if (std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return p.part.meets(part); })) return {};
  const TensorImpl& all = memory_.impl();
  const int64_t run = part.count() * all.physical_strides()[part.dim] * static_cast<int64_t>(all.itemsize());
  const bool thin = run < 64 && 8 * part.count() <= all.sizes()[part.dim];  // no line of memory is its own
  if (pieces_.empty() && (part.step > 1 || thin)) {  // between its elements are many gaps, which one pass fills sooner
    arithmetic.zero_(memory_);
    zeroed_ = true;
  }
  pieces_.push_back({&part, part});
  return part.of(memory_);
}

bool Whole::put(const Part& part, const Tensor& grad) {
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return p.key == &part; });
  if (piece == pieces_.end()) return false;
  Tensor place = part.of(memory_);
  const TensorImpl &from = grad.impl(), &to = place.impl();
  if (from.raw_data() != to.raw_data() || from.physical_strides() != to.physical_strides())
    arithmetic.copy_(place, grad);
  piece->there = true;
  return true;
}

bool Whole::put_among_zeros(const Part& part, const Tensor& grad) {
  const TensorImpl &from = grad.impl(), &to = memory_.impl();
  const bool dense = from.physically_contiguous() && !from.is_deferred() && to.physically_contiguous();
  if (!pieces_.empty() || part.step != 2 || part.dim != to.dim() - 1 || !dense || to.numel() == 0) return false;
  capture::uses(grad), capture::uses(memory_);
  const int64_t whole = to.sizes()[part.dim];
  const Spaced rows{to.numel() / whole, whole, part.from, part.count(), static_cast<int64_t>(to.itemsize())};
  spaced_kernel(kCPU)(rows, to.raw_data(), from.raw_data());
  zeroed_ = true;
  pieces_.push_back({&part, part, true});
  return true;
}

Tensor Whole::finished() {
  const bool all = std::all_of(pieces_.begin(), pieces_.end(), [](const Piece& p) { return p.there; });
  if (!all) memory_ = arithmetic.clone(memory_, std::nullopt);  // who made the others holds their memory
  const Part& first = pieces_[0].part;
  const int64_t size = memory_.size(first.dim);
  int64_t count = 0;
  for (const Piece& p : pieces_) count += p.there ? p.part.count() : 0;
  if (count == size || (zeroed_ && all)) return std::move(memory_);
  std::vector<char> filled(size);
  for (const auto& [key, part, there] : pieces_)
    for (int64_t i = part.from; there && i < part.to; i += part.step) filled[i] = 1;
  for (auto at = filled.begin(); at != filled.end();) {
    const auto from = std::find(at, filled.end(), 0);
    at = std::find(from, filled.end(), 1);
    if (from == at) continue;
    Tensor rest = Part{first.dim, from - filled.begin(), at - filled.begin()}.of(memory_);
    arithmetic.zero_(rest);
  }
  return std::move(memory_);
}

// What hooks and callers see lies as LibTorch's gradient does.
Tensor BackwardPass::memory_of_whole(const Edge& edge, const DimVector& sizes, const DimVector& strides,
                                     const TensorOptions& options) {
  const bool seen = edge.function->hooks_ || progress(edge.function.get()).wanted;
  const bool alike = !seen && geometry::is_dense(sizes, strides);
  return alike ? empty_strided(sizes, strides, options) : empty(sizes, options);
}
Whole& BackwardPass::whole_at(const Edge& edge, const PartNode& node, const TensorOptions& options) {
  for (Whole& w : wholes_)
    if (w.node() == edge.function.get() && w.input_nr() == edge.input_nr) return w;
  return wholes_.emplace_back(edge, memory_of_whole(edge, node.sizes_, node.strides_, options));
}

bool BackwardPass::joins(const Node& node, const DimVector& whole) {
  const Edge& to = node.next_edges()[0];
  if (!to.is_valid()) return false;  // the whole is a view made in no_grad mode
  // Other sizes where set_data() gave the whole others after it was computed.
  if (to.input_nr >= to.function->num_inputs() || to.function->input_metadata(to.input_nr).sizes != whole) return false;
  return !create_graph_ && !GradMode::is_enabled() && !node.hooks_ && !GraphWatchers::any();
}

Tensor BackwardPass::place(const Node& node, size_t i, IntArrayRef sizes, const TensorOptions& options) {
  if (restricted_ || node.hooks_) return {};
  const Edge& to = node.next_edges()[i];
  auto* const part = dynamic_cast<PartNode*>(to.function.get());
  auto* const parts = dynamic_cast<PartsNode*>(to.function.get());
  if (!(part || parts) || !joins(*to.function, part ? part->sizes_ : parts->sizes_)) return {};
  const InputMetadata& wanted = to.function->input_metadata(to.input_nr);
  const bool fits = wanted.device.is_cpu() && wanted.device == options.device() && wanted.dtype == options.dtype() &&
                    IntArrayRef(wanted.sizes) == sizes;
  if (parts) return fits ? place(*parts, to.input_nr, options) : Tensor();
  const Progress& p = progress(part);
  const Edge& edge = part->next_edges()[0];
  if (!fits || p.dependencies != 1 || !p.buffer.empty() || slot(*edge.function, edge.input_nr).defined()) return {};
  return whole_at(edge, *part, options).place(part->part_);
}

Tensor BackwardPass::place(PartsNode& parts, uint32_t nr, const TensorOptions& options) {
  const Edge& edge = parts.next_edges()[0];
  if (slot(parts, nr).defined()) return {};
  auto at = std::find_if(joined_.begin(), joined_.end(), [&](const Whole& w) { return w.node() == &parts; });
  if (at == joined_.end()) {
    joined_.emplace_back(&parts, 0, memory_of_whole(edge, parts.sizes_, parts.strides_, options));
    at = std::prev(joined_.end());
  }
  return at->place(parts.parts_[nr]);
}

Tensor BackwardPass::join(const PartsNode& parts, const variable_list& grads) {
  const auto at = std::find_if(joined_.begin(), joined_.end(), [&](const Whole& w) { return w.node() == &parts; });
  if (at == joined_.end()) return {};
  Whole whole = std::move(*at);
  joined_.erase(at);
  for (size_t k = 0; k < grads.size(); ++k) {
    if (!grads[k].defined()) continue;
    if (!whole.put(parts.parts_[k], grads[k])) whole.place(parts.parts_[k]), whole.put(parts.parts_[k], grads[k]);
  }
  return whole.finished();
}

bool BackwardPass::put(const PartNode& node, const Tensor& grad) {
  if (!joins(node, node.sizes_) || !grad.device().is_cpu() || grad.layout() != kStrided) return false;
  const Edge& edge = node.next_edges()[0];
  Tensor& sum = slot(*edge.function, edge.input_nr);
  if (!sum.defined()) {
    Whole& whole = whole_at(edge, node, grad.options());
    if (whole.put(node.part_, grad) || whole.put_among_zeros(node.part_, grad)) return true;
    if (whole.place(node.part_).defined()) return whole.put(node.part_, grad);
    settle(*edge.function, edge.input_nr);
  }
  if (!unseen(sum) || sum.scalar_type() != grad.scalar_type()) return false;
  Tensor place = node.part_.of(sum);
  arithmetic.add_(place, grad);
  return true;
}

Tensor& BackwardPass::slot(Node& node, uint32_t nr) {
  variable_list& buffer = progress(&node).buffer;
  if (buffer.empty()) buffer.resize(std::max<size_t>(node.num_inputs(), nr + 1));
  return buffer[nr];
}

void BackwardPass::settle(Node& node, std::optional<uint32_t> nr) {
  for (size_t i = wholes_.size(); i-- > 0;) {
    if (wholes_[i].node() != &node || (nr && wholes_[i].input_nr() != *nr)) continue;
    slot(node, wholes_[i].input_nr()) = wholes_[i].finished();
    wholes_.erase(wholes_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace autodiff
}  // namespace hb
