// Functions of a program's own that are called as methods of Tensor are: LibTorch has no functions of these names, so
// that unqualified calls find the program's.
#include "parity/case.h"

using torch::Tensor;

namespace own {
namespace {

Tensor view(const Tensor& x, torch::IntArrayRef size) { return x.reshape(size) + 1; }
Tensor view_as(const Tensor& x, const Tensor& other) { return x.reshape(other.sizes()) + 2; }
Tensor reshape_as(const Tensor& x, const Tensor& other) { return x.reshape(other.sizes()) + 3; }
Tensor expand(const Tensor& x, torch::IntArrayRef size, bool implicit = false) {
  return torch::broadcast_to(x, size) + (implicit ? 5 : 4);
}
Tensor expand_as(const Tensor& x, const Tensor& other) { return x + torch::zeros_like(other) + 6; }
Tensor repeat(const Tensor& x, torch::IntArrayRef repeats) { return torch::tile(x, repeats) + 7; }
Tensor unfold(const Tensor& x, int64_t dimension, int64_t size, int64_t step) {
  return x.narrow(dimension, 0, size) + step;
}
Tensor contiguous(const Tensor& x, torch::MemoryFormat = torch::MemoryFormat::Contiguous) { return x.clone() + 8; }
bool is_set_to(const Tensor&, const Tensor&) { return true; }
Tensor& uniform_(Tensor& x, double from = 0, double to = 1) { return x.fill_(from + to); }
Tensor& normal_(Tensor& x, double mean = 0, double std = 1) { return x.fill_(mean - std); }
Tensor& random_(Tensor& x, int64_t to) { return x.fill_(to); }
Tensor& bernoulli_(Tensor& x, double p = 0.5) { return x.fill_(p); }
Tensor& exponential_(Tensor& x, double lambd = 1) { return x.fill_(lambd); }
Tensor& geometric_(Tensor& x, double p) { return x.fill_(p); }
Tensor& log_normal_(Tensor& x, double mean = 1, double std = 2) { return x.fill_(mean * std); }
Tensor& cauchy_(Tensor& x, double median = 0, double sigma = 1) { return x.fill_(median + sigma); }

}  // namespace
}  // namespace own

PARITY_CASE(own_names, methods) {
  using namespace own;
  const Tensor x = c.randn({2, 6}), row = c.randn({1, 6});
  c.out("view", view(x, {3, 4}));
  c.out("view_as", view_as(x, c.randn({12})));
  c.out("reshape_as", reshape_as(x, c.randn({4, 3})));
  c.out("expand", expand(row, {2, 6}));
  c.out("expand_as", expand_as(row, x));
  c.out("repeat", repeat(x, {2, 1}));
  c.out("unfold", unfold(x, 1, 3, 2));
  c.out("contiguous", contiguous(x.t()));
  c.value("is_set_to", is_set_to(x, row));
  Tensor y = torch::empty({3});
  c.out("uniform_", uniform_(y, 1, 3).clone());
  c.out("normal_", normal_(y).clone());
  c.out("random_", random_(y, 9).clone());
  c.out("bernoulli_", bernoulli_(y).clone());
  c.out("exponential_", exponential_(y, 2).clone());
  c.out("geometric_", geometric_(y, 0.25).clone());
  c.out("log_normal_", log_normal_(y).clone());
  c.out("cauchy_", cauchy_(y, 2).clone());
}

PARITY_CASE(own_names, init_by_using_directive) {
  using namespace torch::nn::init;
  Tensor w = torch::empty({4, 5});
  torch::manual_seed(3);
  c.out("uniform_", uniform_(w, 0, 1).clone());
  c.out("normal_", normal_(w, 1, 2).clone());
  c.out("constant_", constant_(w, 3).clone());
  c.out("xavier_uniform_", xavier_uniform_(w).clone());
  c.out("kaiming_normal_", kaiming_normal_(w, 0, torch::kFanOut, torch::kReLU).clone());
}

PARITY_CASE(own_names, methods_of_tensor) {
  const Tensor x = c.randn({3, 4}).cpu(), turned = x.t();  // the host reads them
  const auto same = x.expect_contiguous(), copied = turned.expect_contiguous();
  c.check(same->is_same(x) && !copied->is_same(turned) && copied->is_contiguous(), "a copy where there must be one");
  c.out("copied", *copied);
  const auto a = x.packed_accessor32<float, 2>();
  const auto b = turned.packed_accessor64<float, 2>();
  c.check(a[1][2] == b[2][1] && a.size(1) == b.size(0), "the same element by either accessor");
  c.throws("record_stream", [&] { x.record_stream(c10::Stream(c10::Stream::DEFAULT, x.device())); });
  const c10::Stream stream(c10::Stream::DEFAULT, torch::Device(torch::kCPU));
  c.value("stream", stream.device().is_cpu() && stream == c10::Stream::unpack3(0, -1, torch::kCPU));
}
