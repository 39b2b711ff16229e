#include <typeinfo>

#include "autograd/names.h"
#include "autograd/sequence.h"
#include "core/demangled.h"
#include "core/remains.h"

namespace hb {

namespace {
thread_local uint64_t next_sequence = 0;
}
uint64_t next_sequence_nr() noexcept { return next_sequence; }

Node::Node(edge_list next_edges) : next_edges_(std::move(next_edges)), sequence_nr_(next_sequence++) {}

std::string Node::name() const { return detail::demangled(typeid(*this).name()); }

bool Node::should_compute_output(std::initializer_list<IndexRange> ranges) const {
  for (const auto& [first, last] : ranges)
    for (size_t i = first; i < last; ++i)
      if (should_compute_output(i)) return true;
  return false;
}

Node::~Node() {
  for (Edge& e : next_edges_) {
    if (e.function.use_count() == 1) detail::free_in_turn(std::move(e.function));
    e.function.reset();  // so that the last of several edges to one node sees that it is
  }
}

void Node::set_next_edges(edge_list edges) { next_edges_ = std::move(edges); }
void Node::add_next_edge(Edge edge) { next_edges_.push_back(std::move(edge)); }

uint32_t Node::add_input_metadata(const Tensor& t) {
  inputs_.push_back({t.impl().sizes(), t.scalar_type(), t.device()});
  return static_cast<uint32_t>(inputs_.size() - 1);
}
void Node::set_input_metadata(size_t i, const Tensor& t) {
  if (inputs_.size() <= i) inputs_.resize(i + 1);
  inputs_[i] = {t.impl().sizes(), t.scalar_type(), t.device()};
}

Node::Hooks& Node::hooks() {
  if (!hooks_) hooks_ = hb::detail::Owned(new Hooks());
  return *hooks_;
}
unsigned Node::add_tensor_hook(uint32_t input_nr, TensorHook hook) {
  auto& list = hooks().tensor_hooks;
  list.emplace_back(input_nr, std::move(hook));
  return static_cast<unsigned>(list.size() - 1);
}
void Node::remove_tensor_hook(uint32_t input_nr, unsigned position) {
  auto& list = hooks().tensor_hooks;
  HB_CHECK(position < list.size() && list[position].first == input_nr, "Invalid index, no hook at position ", position);
  list[position].second = nullptr;
}
uintptr_t Node::add_post_hook(PostHook hook) {
  hooks().post_hooks.push_back(std::move(hook));
  return hooks().post_hooks.size();
}
bool Node::del_post_hook(uintptr_t key) {
  if (!hooks_ || key == 0 || key > hooks_->post_hooks.size() || !hooks_->post_hooks[key - 1]) return false;
  hooks_->post_hooks[key - 1] = nullptr;
  return true;
}
void Node::add_pre_hook(PreHook hook) { hooks().pre_hooks.push_back(std::move(hook)); }
uintptr_t Node::add_post_hook(std::unique_ptr<FunctionPostHook> hook) {
  return add_post_hook(
      [hook = std::shared_ptr<FunctionPostHook>(std::move(hook))](
          const variable_list& outputs, const variable_list& inputs) { return (*hook)(outputs, inputs); });
}
void Node::add_pre_hook(std::unique_ptr<FunctionPreHook> hook) {
  add_pre_hook([hook = std::shared_ptr<FunctionPreHook>(std::move(hook))](const variable_list& grads) {
    return (*hook)(grads);
  });
}

}  // namespace hb
