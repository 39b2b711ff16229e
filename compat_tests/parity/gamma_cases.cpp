// Samples of the gamma and Dirichlet distributions: LibTorch's numbers for a seed.
#include "parity/bad.h"

using torch::Tensor;

PARITY_CASE(gamma, samples) {
  const std::vector<double> shapes{0.05, 0.3, 0.9, 1.0, 1.5, 4.0, 20.0, 150.0, 1e-4};
  for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble}) {
    torch::manual_seed(3);
    const Tensor shape = c.values(shapes, dtype).repeat({4});
    c.out("gamma " + parity::dtype_name(dtype), torch::_standard_gamma(shape));
    c.out("then uniform", torch::rand({2}));
    c.out("then normal", torch::randn({3}));
    const Tensor strided = c.values(shapes, dtype).reshape({3, 3}).t();
    c.out("gamma, strided " + parity::dtype_name(dtype), torch::_standard_gamma(strided));
    const Tensor alpha = c.values({0.3, 0.3, 2.0, 5.0, 0.1, 0.9}, dtype).reshape({2, 3});
    c.out("dirichlet " + parity::dtype_name(dtype), torch::_sample_dirichlet(alpha));
    c.out("dirichlet of tiny ones " + parity::dtype_name(dtype), torch::_sample_dirichlet(alpha * 1e-3));
  }
  auto own = at::detail::createCPUGenerator(9);
  c.out("own generator", torch::_standard_gamma(torch::full({3}, 2.0), own));
}

PARITY_CASE(gamma, gradients) {
  Tensor shape = c.values({0.5, 1.0, 2.0, 5.0}, torch::kDouble).requires_grad_();
  torch::manual_seed(1);
  const Tensor sample = torch::_standard_gamma(shape);
  c.text("node", sample.grad_fn()->name());
  // LibTorch's gradients are approximations, within about a hundredth.
  sample.sum().backward();
  c.out("tenths", (shape.grad() * 10).round());
  Tensor alpha = c.values({0.3, 2.0}, torch::kDouble).requires_grad_();
  SAYS("derivative for aten::_sample_dirichlet is not implemented", torch::_sample_dirichlet(alpha).sum().backward());
  SAYS("\"gamma_cpu\" not implemented for 'Half'", torch::_standard_gamma(torch::ones({2}, torch::kHalf)));
  SAYS("\"dirichlet\" not implemented for 'Int'", torch::_sample_dirichlet(torch::ones({2}, torch::kInt)));
  SAYS("Found dtype Double but expected Float",
       torch::_dirichlet_grad(torch::ones({2}), torch::ones({2}), torch::ones({2}, torch::kDouble)));
  c.out("index_select_backward",
        torch::index_select_backward(c.rand({3, 2}), {4, 2}, 0, torch::tensor({1, 1, 3}, torch::kLong)));
}
