// Tensors on 'meta': shapes, dtypes and strides without values, and what cannot be had of them.
#include "parity/bad.h"

using torch::Tensor;

namespace {

Tensor meta(parity::Shape sizes, torch::Dtype dtype = torch::kFloat) {
  return torch::empty(sizes, torch::device(torch::kMeta).dtype(dtype));
}

void described(parity::Case& c, const std::string& name, const Tensor& t) {
  std::ostringstream text;
  text << t.device() << ' ' << t.scalar_type() << ' ' << t.sizes() << ' ' << t.strides();
  c.text(name, text.str());
}
#define DESCRIBED(...) described(c, #__VA_ARGS__, __VA_ARGS__)

}  // namespace

PARITY_CASE(meta, factories) {
  const auto options = torch::device(torch::kMeta);
  DESCRIBED(torch::empty({2, 3}, options));
  DESCRIBED(torch::zeros({2, 3}, options.dtype(torch::kInt)));
  DESCRIBED(torch::ones({0, 3}, options));
  DESCRIBED(torch::full({4}, 2.5, options));
  DESCRIBED(torch::rand({2}, options));
  DESCRIBED(torch::randn({2}, options));
  DESCRIBED(torch::arange(7, options));
  DESCRIBED(torch::eye(3, options));
  DESCRIBED(torch::zeros_like(meta({2, 2})));
  DESCRIBED(torch::empty_like(torch::ones({3}), options));
  DESCRIBED(torch::empty_like(meta({3}), torch::device(torch::kCPU)));
  DESCRIBED(torch::tensor({1, 2}, options));
  DESCRIBED(torch::empty({1, 2, 3, 4}, options, torch::MemoryFormat::ChannelsLast));
  c.value("is_meta", meta({1}).is_meta());
  c.value("no index", meta({1}).device().has_index());
  c.value("bytes", static_cast<int64_t>(meta({2, 3}).nbytes()));
  torch::manual_seed(3);
  torch::randn({5}, options);
  c.out("no numbers are drawn", torch::rand({3}, torch::device(torch::kCPU)));
}

PARITY_CASE(meta, functions) {
  const Tensor a = meta({2, 3}), b = meta({3}), i = meta({2, 3}, torch::kInt), h = meta({2, 3}, torch::kHalf);
  DESCRIBED(a + b);
  DESCRIBED(a + 1);
  DESCRIBED(i * 1.5);
  DESCRIBED(a > 0);
  DESCRIBED(h + a);
  DESCRIBED(torch::exp(i));
  DESCRIBED(torch::mm(a, a.t()));
  DESCRIBED(a.t());
  DESCRIBED(a.t().contiguous());
  DESCRIBED(a.clone());
  DESCRIBED(a.view({3, 2}));
  DESCRIBED(a.slice(1, 0, 3, 2));
  DESCRIBED(a.transpose(0, 1) + 1);
  DESCRIBED(torch::cat({a, a}, 1));
  DESCRIBED(a.sum());
  DESCRIBED(a.sum(torch::IntArrayRef(1), true));
  DESCRIBED(a.mean(0));
  DESCRIBED(i.sum());
  DESCRIBED(a.argmax());
  DESCRIBED(a.to(torch::kDouble));
  DESCRIBED(torch::ones({2}).to(torch::kMeta));
  DESCRIBED(torch::softmax(a, 1));
  DESCRIBED(a.clone().add_(1));
  DESCRIBED(a.expand({4, 2, 3}));
  DESCRIBED(torch::bmm(meta({2, 3, 4}), meta({2, 4, 5})));
  DESCRIBED(torch::linear(a, meta({5, 3})));
  Tensor leaf = meta({2, 3}).requires_grad_();
  (leaf * 2).sum().backward();
  described(c, "gradient", leaf.grad());
}

PARITY_CASE(meta, no_values) {
  const Tensor a = meta({2, 3}), one = meta({1});
  SAYS("Cannot copy out of meta tensor; no data!", a.cpu());
  SAYS("Cannot copy out of meta tensor; no data!", a.to(torch::kCPU));
  SAYS("Cannot copy out of meta tensor; no data!", torch::ones({2, 3}).copy_(a));
  SAYS("Cannot copy out of meta tensor; no data!", std::ostringstream() << a);
  SAYS("its data is not allocated yet", a.data_ptr<float>());
  SAYS("its data is not allocated yet", (a.accessor<float, 2>()));
  SAYS("Expected all tensors to be on the same device", a + torch::ones({3}));
  SAYS("The size of tensor a (2) must match the size of tensor b (3)", torch::mm(a, a.t()) + torch::mm(a.t(), a));
  SAYS("a Tensor with 6 elements cannot be converted to Scalar", a.item());
  BAD(one.item());
  BAD(one.is_nonzero());
  BAD(torch::equal(a, a));
  BAD(torch::nonzero(a));
  BAD(torch::masked_select(a, a > 0));
  c.value("no address", a.data_ptr() == nullptr);
  a.clone().copy_(torch::ones({2, 3}));  // values may go there
}
