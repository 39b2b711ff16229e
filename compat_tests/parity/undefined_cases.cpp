// What undefined tensors answer.
#include "parity/bad.h"

#include <sstream>

using at::Tensor;

namespace {
template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << std::boolalpha << value;
  return out.str();
}
}  // namespace

PARITY_CASE(undefined, answers) {
  const Tensor u;
  c.text("geometry", text(u.dim()) + text(u.sizes()) + text(u.numel()) + text(u.size(0)));
  c.text("symbols", text(u.sym_numel()) + text(u.sym_sizes().size()));
  c.text("layout", text(u.layout()) + text(u.is_contiguous()) + text(u.is_contiguous_or_false()) +
                       text(u.is_contiguous(torch::MemoryFormat::ChannelsLast)) +
                       text(u.is_non_overlapping_and_dense()) + text(u.suggest_memory_format()));
  c.text("kinds", text(u.is_floating_point()) + text(u.is_complex()) + text(u.is_cpu()) + text(u.is_cuda()) +
                      text(u.is_sparse()) + text(u.is_meta()) + text(u.is_quantized()) + text(u.is_nested()) +
                      text(u.is_conj()) + text(u.is_neg()));
  c.text("handle", text(u.defined()) + text(u.has_storage()) + text(u.use_count()) + text(u.weak_use_count()) +
                       text(u.is_same(Tensor())) + text(u.is_same(torch::ones({1}))));
  c.text("names", u.toString() + text(u.type()) + u.type().toString());
  c.text("gradients", text(u.requires_grad()) + text(u._version()));
  c.text("no dtype", text(caffe2::TypeMeta()) + text(caffe2::TypeMeta().itemsize()));
}

PARITY_CASE(undefined, refusals) {
  Tensor u, x = torch::ones({2});
  BAD(u.device());
  BAD(u.options());
  BAD(u.get_device());
  BAD(u.strides());
  SAYS("strides() called on an undefined Tensor", u.stride(0));
  BAD(u.data_ptr());
  SAYS("expected scalar type Float but found UNKNOWN_SCALAR", u.data_ptr<float>());
  SAYS("expected scalar type Float but found UNKNOWN_SCALAR", u.accessor<float, 1>());
  SAYS("Cannot access storage of UndefinedTensorImpl", u.storage());
  BAD(u.is_alias_of(x));
  BAD(x.is_alias_of(u));
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
  SAYS("cannot call variable_data() on undefined tensor", u.variable_data());
  SAYS("Attempted to call `variable.set_data(tensor)`", x.set_data(u));
  SAYS("Expected a proper Tensor but got None", x.is_same_size(u));
  SAYS("Expected a proper Tensor but got None", u.chunk(2));
  SAYS("Expected a proper Tensor but got None", u.normal_());
  SAYS("Expected a proper Tensor but got None", u.is_pinned());
  SAYS("Expected a proper Tensor but got None", torch::einsum("i->i", {u}));
  BAD(u.is_signed());
  BAD(u.nbytes());
  BAD(u.element_size());
  BAD(u.itemsize());
}
