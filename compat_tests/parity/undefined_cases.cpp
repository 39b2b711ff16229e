// What undefined tensors and tensors without elements answer.
#include "parity/bad.h"

#include <sstream>
#include <utility>
#include <vector>

using at::Tensor;

namespace {
template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << std::boolalpha << value;
  return out.str();
}
std::string address(const void* p) { return p ? "some" : "null"; }

// Where its elements are, as each way to ask says it.
void addresses(parity::Case& c, const std::string& name, const Tensor& t) {
  const auto& storage = t.storage();
  c.text(name + ".untyped", address(t.data_ptr()) + address(t.const_data_ptr()) + address(t.mutable_data_ptr()));
  c.text(name + ".typed",
         address(t.data_ptr<float>()) + address(t.const_data_ptr<float>()) + address(t.mutable_data_ptr<float>()));
  c.text(name + ".storage", address(storage.data()) + address(storage.mutable_data()) +
                                address(storage.data_ptr().get()) + text(storage.nbytes()));
  c.text(name + ".record", address(t.unsafeGetTensorImpl()->data()) + address(t.unsafeGetTensorImpl()->mutable_data()));
  if (t.dim() == 1) c.text(name + ".accessor", address(t.accessor<float, 1>().data()));
}
}  // namespace

PARITY_CASE(undefined, answers) {
  const Tensor u;
  c.text("scalar_type", text(u.scalar_type()));
  c.text("dtype", text(u.dtype()) + text(u.dtype() == torch::kFloat) + text(u.dtype().itemsize()));
  c.text("geometry", text(u.dim()) + text(u.sizes()) + text(u.numel()) + text(u.storage_offset()) + text(u.size(0)));
  c.text("symbols", text(u.sym_numel()) + text(u.sym_storage_offset()) + text(u.sym_sizes().size()));
  c.text("layout", text(u.layout()) + text(u.is_contiguous()) + text(u.is_contiguous_or_false()) +
                       text(u.is_contiguous(torch::MemoryFormat::ChannelsLast)) +
                       text(u.is_non_overlapping_and_dense()) + text(u.suggest_memory_format()));
  c.text("kinds", text(u.is_floating_point()) + text(u.is_complex()) + text(u.is_cpu()) + text(u.is_cuda()) +
                      text(u.is_sparse()) + text(u.is_meta()) + text(u.is_quantized()) + text(u.is_nested()) +
                      text(u.is_inference()) + text(u.is_conj()) + text(u.is_neg()));
  c.text("handle", text(u.defined()) + text(u.has_storage()) + text(u.use_count()) + text(u.weak_use_count()) +
                       text(u.is_same(Tensor())) + text(u.is_same(torch::ones({1}))));
  c.text("names", u.toString() + text(u.type()) + u.type().toString());
  c.text("gradients", text(u.requires_grad()) + text(u._version()));
  c.text("set to what it is", text(u.set_requires_grad(false).requires_grad()));
}

PARITY_CASE(undefined, refusals) {
  Tensor u, x = torch::ones({2});
  SAYS("tensor does not have a device", u.device());
  SAYS("tensor does not have a device", u.options());
  SAYS("tensor does not have a device", u.get_device());
  SAYS("strides() called on an undefined Tensor", u.strides());
  SAYS("strides() called on an undefined Tensor", u.stride(0));
  SAYS("Cannot access data pointer of Tensor that doesn't have storage", u.data_ptr());
  SAYS("expected scalar type Float but found UNKNOWN_SCALAR", u.data_ptr<float>());
  SAYS("expected scalar type Float but found UNKNOWN_SCALAR", u.accessor<float, 1>());
  SAYS("Cannot access storage of UndefinedTensorImpl", u.storage());
  SAYS("Cannot access storage of UndefinedTensorImpl", u.is_alias_of(x));
  SAYS("Cannot access storage of UndefinedTensorImpl", x.is_alias_of(u));
  SAYS("cannot call get_autograd_meta() on undefined tensor", u.is_leaf());
  SAYS("cannot call get_autograd_meta() on undefined tensor", u.grad());
  SAYS("cannot call get_autograd_meta() on undefined tensor", u.grad_fn());
  SAYS("cannot call get_autograd_meta() on undefined tensor", u.output_nr());
  SAYS("cannot call get_autograd_meta() on undefined tensor", u.is_view());
  SAYS("cannot call get_autograd_meta() on undefined tensor", u._base());
  SAYS("cannot call get_autograd_meta() on undefined tensor", u.retains_grad());
  SAYS("cannot call get_autograd_meta() on undefined tensor", u.requires_grad_());
  SAYS("cannot call get_autograd_meta() on undefined tensor", u.detach_());
  SAYS("cannot call get_autograd_meta() on undefined tensor", u.backward());
  SAYS("Only Tensors of floating point and complex dtype can require gradients", u.set_requires_grad(true));
  SAYS("cannot call variable_data() on undefined tensor", u.variable_data());
  SAYS("Attempted to call `variable.set_data(tensor)`", x.set_data(u));
  SAYS("Expected a proper Tensor but got None", x.resize_as_(u));
  SAYS("Expected a proper Tensor but got None", x.is_same_size(u));
  SAYS("Expected a proper Tensor but got None", u.chunk(2));
  SAYS("Expected a proper Tensor but got None", u.normal_());
  SAYS("Expected a proper Tensor but got None", u.is_pinned());
  SAYS("Expected a proper Tensor but got None", torch::einsum("i->i", {u}));
  BAD(u.is_signed());
  BAD(u.nbytes());
  BAD(u.element_size());
  BAD(u.itemsize());
  SAYS("nbytes is not defined for sparse tensors", torch::ones({2, 2}).to_sparse().nbytes());
}

PARITY_CASE(undefined, empty) {
  static float numbers[4];
  const Tensor x = torch::ones({4, 3});
  const std::pair<const char*, Tensor> tensors[] = {
      {"empty", torch::empty({0})},
      {"zeros", torch::zeros({0, 3})},
      {"sum", torch::empty({0}) + 1},
      {"transposed", torch::empty({0, 3}).t()},
      {"converted", torch::empty({0}, torch::kDouble).to(torch::kFloat)},
      {"selected", torch::ones({1}).masked_select(torch::zeros({1}, torch::kBool))},
      {"list", torch::tensor(std::vector<float>{})},
      {"product", torch::empty({0, 4}).matmul(x)},
      {"tail", x.slice(0, 4)},
      {"middle", x.slice(0, 2, 2)},
      {"columns", x.narrow(1, 3, 0)},
      {"shrunk", torch::zeros({4}).resize_({0})},
      {"grown", torch::empty({0}).resize_({2})},
      {"borrowed", torch::from_blob(numbers, {0})},
      {"part of borrowed", torch::from_blob(numbers, {4}).slice(0, 1, 1)},
      {"nothing borrowed", torch::from_blob(nullptr, {0})},
      {"one", torch::ones({1})},
      {"number", torch::scalar_tensor(1)},
  };
  for (const auto& [name, t] : tensors) addresses(c, name, t);
}

PARITY_CASE(undefined, set_requires_grad) {
  const Tensor leaf = torch::ones({2}).requires_grad_(), result = leaf * 2;
  result.set_requires_grad(false);
  c.value("result", result.requires_grad());
  SAYS("you can only change requires_grad flags of leaf variables", result.requires_grad_(false));
  (result * 3).sum().backward();
  c.out("gradient", leaf.grad());
  const Tensor view = leaf.view({2});
  view.set_requires_grad(false);
  c.value("view", view.requires_grad());
  leaf.set_requires_grad(false);
  c.value("leaf", leaf.requires_grad());
  c.value("of the leaf", (leaf * 2).requires_grad());
  BAD(torch::ones({2}, torch::kLong).set_requires_grad(true));
}

PARITY_CASE(undefined, dropped) {
  Tensor u;
  c.value("dropout", torch::dropout(u, 0.5, true).defined());
  c.value("features", torch::feature_dropout(u, 0.5, true).defined());
  c.value("alpha", torch::alpha_dropout_(u, 0.5, true).defined());
  c.value("module", torch::nn::Dropout()(u).defined());
  SAYS("dropout probability has to be between 0 and 1", torch::dropout(u, 2, true));
}

PARITY_CASE(undefined, flattened) {
  Tensor u;
  c.value("flatten", torch::flatten(u).defined());
  c.value("of all", u.flatten(0, -1).defined());
  SAYS("Dimension out of range", torch::flatten(u, 1));
}
