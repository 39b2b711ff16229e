#include "autograd/parts.h"

#include <algorithm>

#include <halfbridge/ops/factories.h>

#include "autograd/accumulate_grad.h"
#include "autograd/arithmetic.h"
#include "autograd/engine.h"
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
  Engine* const pass = autodiff::evaluating(*this);
  if (pass && pass->put(*this, grads[0])) return {Tensor()};
  return {embed_(grads[0], sizes_, part_)};
}

Tensor place_in_whole(const Backward& b, size_t i, IntArrayRef sizes, const TensorOptions& options) {
  Engine* const pass = autodiff::evaluating(b.node());
  return pass ? pass->place(b.node(), i, sizes, options) : Tensor();
}

namespace autodiff {

Tensor Whole::place(const Node* node, const Part& part) {
  if (std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return p.part.meets(part); })) return {};
  if (pieces_.empty() && part.step > 1) {  // between its elements there are many gaps, which one pass fills sooner
    arithmetic.zero_(memory_);
    zeroed_ = true;
  }
  pieces_.push_back({node, part});
  return part.of(memory_);
}

bool Whole::put(const Node* node, const Tensor& grad) {
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& p) { return p.node == node; });
  if (piece == pieces_.end()) return false;
  Tensor place = piece->part.of(memory_);
  const TensorImpl &from = grad.impl(), &to = place.impl();
  if (from.raw_data() != to.raw_data() || from.physical_strides() != to.physical_strides())
    arithmetic.copy_(place, grad);
  piece->there = true;
  return true;
}

bool Whole::put_among_zeros(const Node* node, const Part& part, const Tensor& grad) {
  const TensorImpl &from = grad.impl(), &to = memory_.impl();
  const bool dense = from.physically_contiguous() && !from.is_deferred() && to.physically_contiguous();
  if (!pieces_.empty() || part.step != 2 || part.dim != to.dim() - 1 || !dense || to.numel() == 0) return false;
  capture::uses(grad), capture::uses(memory_);
  const int64_t whole = to.sizes()[part.dim];
  const Spaced rows{to.numel() / whole, whole, part.from, part.count(), static_cast<int64_t>(to.itemsize())};
  spaced_kernel(kCPU)(rows, to.raw_data(), from.raw_data());
  zeroed_ = true;
  pieces_.push_back({node, part, true});
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
  for (const auto& [node, part, there] : pieces_)
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
Whole& Engine::whole_at(const Edge& edge, const PartNode& node, const TensorOptions& options) {
  for (Whole& w : wholes_)
    if (w.node() == edge.function.get() && w.input_nr() == edge.input_nr) return w;
  const bool seen = edge.function->hooks_ || progress(edge.function.get()).wanted;
  const bool alike = !seen && geometry::is_dense(node.sizes_, node.strides_);
  Tensor memory = alike ? empty_strided(node.sizes_, node.strides_, options) : empty(node.sizes_, options);
  return wholes_.emplace_back(edge, std::move(memory));
}

bool Engine::joins(const PartNode& node) {
  return !create_graph_ && !GradMode::is_enabled() && !node.hooks_ && !GraphWatchers::any();
}

Tensor Engine::place(const Node& node, size_t i, IntArrayRef sizes, const TensorOptions& options) {
  if (restricted_ || node.hooks_) return {};
  auto* const part = dynamic_cast<PartNode*>(node.next_edges()[i].function.get());
  if (!part || !joins(*part)) return {};
  const InputMetadata& wanted = part->input_metadata(0);
  const bool fits = wanted.device.is_cpu() && wanted.device == options.device() && wanted.dtype == options.dtype() &&
                    IntArrayRef(wanted.sizes) == sizes;
  const Progress& p = progress(part);
  const Edge& edge = part->next_edges()[0];
  if (!fits || p.dependencies != 1 || !p.buffer.empty() || slot(*edge.function, edge.input_nr).defined()) return {};
  return whole_at(edge, *part, options).place(part, part->part_);
}

bool Engine::put(const PartNode& node, const Tensor& grad) {
  if (!joins(node) || !grad.device().is_cpu() || grad.is_sparse()) return false;
  const Edge& edge = node.next_edges()[0];
  Tensor& sum = slot(*edge.function, edge.input_nr);
  if (!sum.defined()) {
    Whole& whole = whole_at(edge, node, grad.options());
    if (whole.put(&node, grad) || whole.put_among_zeros(&node, node.part_, grad)) return true;
    if (whole.place(&node, node.part_).defined()) return whole.put(&node, grad);
    settle(*edge.function, edge.input_nr);
  }
  if (!unseen(sum) || sum.scalar_type() != grad.scalar_type()) return false;
  Tensor place = node.part_.of(sum);
  arithmetic.add_(place, grad);
  return true;
}

Tensor& Engine::slot(Node& node, uint32_t nr) {
  variable_list& buffer = progress(&node).buffer;
  if (buffer.empty()) buffer.resize(std::max<size_t>(node.num_inputs(), nr + 1));
  return buffer[nr];
}

void Engine::settle(Node& node, std::optional<uint32_t> nr) {
  for (size_t i = wholes_.size(); i-- > 0;) {
    if (wholes_[i].node() != &node || (nr && wholes_[i].input_nr() != *nr)) continue;
    slot(node, wholes_[i].input_nr()) = wholes_[i].finished();
    wholes_.erase(wholes_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace autodiff
}  // namespace hb
