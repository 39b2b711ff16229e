// Functions under names that LibTorch's own code uses, and rare overloads of others.
#include "parity/bad.h"
#include "parity/case.h"

#include <vector>

PARITY_CASE(inner_names, hashes) {
  const auto hash = [&](const std::string& name, const torch::Tensor& made) {
    c.text(name + " dtype", torch::toString(made.scalar_type()));
    c.out(name, made.view(torch::kLong));
  };
  const torch::Tensor x = c.randn({3, 5});
  for (const torch::Dtype dtype :
       {torch::kFloat, torch::kDouble, torch::kHalf, torch::kLong, torch::kInt, torch::kByte, torch::kBool})
    hash(torch::toString(dtype), torch::hash_tensor((x * 3).to(dtype)));
  hash("negative", torch::hash_tensor((x * 9).to(torch::kChar)));
  hash("rows", torch::hash_tensor(x, {1}));
  hash("columns, kept", x.hash_tensor({0}, true));
  hash("both", torch::hash_tensor(x, {0, -1}, true));
  hash("turned around", torch::hash_tensor(x.t(), {0}));
  hash("of one", torch::hash_tensor(x[0][0]));
  SAYS("Unknown hash_tensor mode: 1", torch::hash_tensor(x, {}, false, 1));
  SAYS("Expected reduction dim to be specified", torch::hash_tensor(torch::zeros({0})));
  SAYS("to have non-zero size", torch::hash_tensor(torch::zeros({2, 0}), {1}));
  SAYS("appears multiple times in the list of dims", torch::hash_tensor(x, {1, 1}));
  BAD(torch::hash_tensor(x, {2}));
  SAYS("not implemented for 'ComplexFloat'", torch::hash_tensor(torch::complex(x, x)));
}

PARITY_CASE(inner_names, sums_and_relu) {
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kInt, torch::kLong}, [&](torch::Dtype dtype) {
    const torch::Tensor x = c.any({2, 3}, dtype), y = c.any({3}, dtype);
    c.out("tensor", torch::_add_relu(x, y));
    c.out("alpha", torch::_add_relu(x, y, -2));
    c.out("number", torch::_add_relu(x, -1));
    torch::Tensor changed = x.clone(), out = torch::empty({0}, x.options());
    torch::_add_relu_(changed, y, 2);
    c.out("in place", changed);
    torch::_add_relu_(changed, -1);
    c.out("in place, number", changed);
    c.out("out", torch::_add_relu_out(out, x, y));
  });
  c.out("promoted", torch::_add_relu(c.any({2}, torch::kLong), c.randn({2})));
  BAD(torch::_add_relu(c.randn({2}).to(torch::kHalf), 1));
  BAD(torch::_add_relu(c.bools({2}), c.bools({2})));
  BAD(torch::_add_relu(torch::complex(c.randn({2}), c.randn({2})), 1));
}

PARITY_CASE(inner_names, methods) {
  const torch::Tensor x = c.randn({2, 3}), yes = c.values({1, 1, 1}, torch::kBool);
  c.out("all", yes._is_all_true());
  c.out("any", yes.logical_not()._is_any_true());
  c.out("any of none", yes.slice(0, 0, 0)._is_any_true());
  BAD(x._is_all_true());
  BAD(x._is_any_true());
  c.out("neg", x._neg_view());
  c.layout("reshaped", x._reshape_alias({3, 2}, {2, 1}));
  c.out("clone", x._lazy_clone());
  c.value("zero", x._is_zerotensor());
  c.out("conj", torch::complex(x, x)._conj());
  c.out("physical", torch::complex(x, x)._conj_physical());
  c.out("relu", c.randn({2, 2})._addmm_activation(x, c.randn({3, 2})));
  c.out("gelu", c.randn({2, 2})._addmm_activation(x, c.randn({3, 2}), 1, 2, true));
  // Of the CPU and of CUDA alone.
  c.out("reduced", x.to(torch::kCPU)._autocast_to_reduced_precision(true, true, torch::kHalf, torch::kHalf));
  c.check(x._autocast_to_reduced_precision(false, false, torch::kHalf, torch::kHalf).is_same(x), "off");
  c.out("full", x.to(torch::kCPU).to(torch::kHalf)._autocast_to_full_precision(true, true));
  c.out("float", torch::dequantize(x.to(torch::kDouble)));
  const torch::Tensor whole = c.randn({4, 3});
  c.layout("inverse", torch::slice_inverse(whole.slice(0, 1, 3), whole, 0, 1, 3));
}

PARITY_CASE(inner_names, parts) {
  const torch::Tensor x = c.randn({2, 3}), y = c.randn({2, 5});
  const std::vector<torch::Tensor> all{x, y};
  c.out("chunks", torch::_chunk_cat(all, 1, 2));
  c.out("chunks of rows", torch::_chunk_cat({x, c.randn({5, 2})}, 0, 2));
  c.out("combination", torch::_compute_linear_combination(x, c.randn({4, 2})));
  c.out("powers", torch::linalg__powsum(x, 3));
  c.out("powers of rows", torch::linalg__powsum(x, 2, torch::IntArrayRef({1}), true));
  c.out("shuffled", torch::native_channel_shuffle(c.randn({2, 6, 3}), 3));
  c.value("apart", torch::_debug_has_internal_overlap(x));
  c.value("together", torch::_debug_has_internal_overlap(x[0].expand({2, 3})));
  c.value("kind", torch::_has_compatible_shallow_copy_type(x, y));
  SAYS("must be divisible by groups", torch::native_channel_shuffle(c.randn({1, 4, 3}), 3));
  SAYS("expects input with > 2 dims", torch::native_channel_shuffle(c.randn({1, 4}), 2));
  SAYS("expects same sizes of 0,...,dim-1 dimensions", torch::_chunk_cat({x, c.randn({3, 3})}, 1, 2));
  SAYS("expects positive num_chunks", torch::_chunk_cat(all, 1, 0));
}

PARITY_CASE(inner_names, sampled_products) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    const torch::Tensor at = c.values({0, 1, 0, 2, 0, 3, 0, 0, 1, 1, 0, 0}, dtype).view({3, 4}).to_sparse_csr(),
                        left = c.randn({3, 5}, dtype), right = c.randn({5, 4}, dtype);
    c.out("plain", torch::sparse_sampled_addmm(at, left, right).to_dense());
    c.out("factors", torch::sparse_sampled_addmm(at, left, right, 0.5, 2).to_dense());
    c.out("no self", torch::sparse_sampled_addmm(at, left, right, 0).values());
    const torch::Tensor a = left.clone().requires_grad_(), b = right.clone().requires_grad_();
    torch::sparse_sampled_addmm(at, a, b, 1, 3).values().sum().backward();
    c.out("gradient of mat1", a.grad());
    c.out("gradient of mat2", b.grad());
  });
  const torch::Tensor at = torch::eye(2).to_sparse_csr(), a = c.randn({2, 3}), b = c.randn({3, 2});
  SAYS("Expected mat1 to have strided layout", torch::sparse_sampled_addmm(at, a.to_sparse(), b));
  SAYS("shapes cannot be multiplied", torch::sparse_sampled_addmm(at, a, a));
  SAYS("self.shape[-2] must match mat1.shape[-2]", torch::sparse_sampled_addmm(torch::eye(3).to_sparse_csr(), a, b));
  BAD(torch::sparse_sampled_addmm(torch::eye(2), a, b));
  BAD(torch::sparse_sampled_addmm(torch::eye(2).to_sparse(), a, b));
}

PARITY_CASE(inner_names, reduced_products) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    const torch::Tensor a = c.values({0, 1, -4, 2, 0, 3, 0, 0, 0, 0, 0, 0}, dtype).view({4, 3}).to_sparse_csr();
    for (const char* how : {"sum", "mean", "amax", "amin"}) {
      const torch::Tensor b = c.leaf({3, 2}, dtype), product = torch::_sparse_mm(a, b, how);
      c.out(how, product);
      c.backward(how, product, {b});
    }
    SAYS("has not been enabled", torch::_sparse_mm(a, c.randn({3, 2}, dtype), "prod"));
    BAD(torch::_sparse_mm(a.to_dense().to_sparse(), c.randn({3, 2}, dtype), "mean"));
  });
}

PARITY_CASE(inner_names, sparse) {
  const torch::Tensor x = c.values({1, 0, 3, 0, 5, 6}, torch::kFloat).view({2, 3}).to_sparse();
  c.out("softmax", torch::_sparse_softmax(x, 1, false).to_dense());
  c.out("log_softmax", torch::_sparse_log_softmax(x, 0, false).to_dense());
  SAYS("with half to float conversion is not supported", torch::_sparse_softmax(x, 1, true));
  c.out("norm", torch::native_norm(x));
  c.out("sum", torch::native_norm(x, 1));
  c.out("both", torch::native_norm(x, 2, torch::IntArrayRef({0, 1}), false, {}));
  SAYS("only supports full reductions", torch::native_norm(x, 2, torch::IntArrayRef({0}), false, {}));
  SAYS("does not support keepdim=True", torch::native_norm(x, 2, torch::IntArrayRef(), true, {}));
  BAD(torch::native_norm(c.randn({2})));
}

PARITY_CASE(inner_names, products_of_another_dtype) {
  const torch::Tensor a = c.randn({2, 2}), b = a.unsqueeze(0);
  torch::Tensor out = torch::empty({0}, a.options());
  BAD(torch::mm(a, a, torch::kDouble));
  BAD(torch::bmm(b, b, torch::kDouble));
  BAD(torch::addmm(a, a, a, torch::kDouble));
  BAD(torch::baddbmm(b, b, b, torch::kDouble));
  BAD(torch::mm_out(out, a, a, torch::kFloat));
  BAD(torch::addmm_out(out, a, a, a, torch::kFloat));
}

PARITY_CASE(inner_names, resampled_by_factors) {
  const std::vector<double> factors{2.0, 1.5, 0.5};
  const torch::ArrayRef<double> three(factors);
  const torch::Tensor x = c.leaf({2, 3, 4, 5}, torch::kFloat);
  c.gradients("2d", {x}, [&] { return torch::_upsample_nearest_exact2d(x, std::nullopt, three.slice(0, 2)); });
  c.gradients("1d", {x}, [&] { return torch::_upsample_nearest_exact1d(x[0], std::nullopt, three.slice(0, 1)); });
  c.gradients("3d", {x}, [&] { return torch::_upsample_nearest_exact3d(x.unsqueeze(0), std::nullopt, three); });
  c.gradients("bilinear", {x},
              [&] { return torch::_upsample_bilinear2d_aa(x, std::nullopt, false, three.slice(0, 2)); });
  c.gradients("bicubic", {x}, [&] {
    return torch::_upsample_bicubic2d_aa(x, torch::IntArrayRef({3, 3}), true, std::nullopt);
  });
  BAD(torch::_upsample_nearest_exact2d(x, std::nullopt, std::nullopt));
}

PARITY_CASE(inner_names, determinants) {
  const torch::Tensor a = c.randn({2, 3, 3}, torch::kDouble), b = c.randn({2, 3, 2}, torch::kDouble);
  for (const torch::Tensor& matrix : {a, a.mT()}) {
    c.scope(matrix.is_contiguous() ? "by rows" : "by columns", [&] {
      const auto [det, lu, pivots] = torch::_linalg_det(matrix);
      c.out("det", det);
      c.out("lu", lu);
      c.out("pivots", pivots);
      const auto [sign, logabsdet, same, same_pivots] = torch::_linalg_slogdet(matrix);
      c.out("sign", sign);
      c.out("logabsdet", logabsdet);
      c.out("lu of slogdet", same);
      const auto [x, factors, swaps, info] = torch::_linalg_solve_ex(matrix, b);
      c.out("x", x);
      c.out("factors", factors);
      c.out("swaps", swaps);
      c.out("info", info);
    });
  }
}

PARITY_CASE(inner_names, kernels) {
  const torch::Tensor x = c.randn({2, 3, 5, 5}), weight = c.randn({4, 3, 3, 3}), bias = c.randn({4}),
                      grid = c.rand({2, 4, 4, 2}, torch::kFloat, -1, 1);
  c.out("conv2d", torch::_slow_conv2d_forward(x, weight, {3, 3}, bias, {1, 1}, {1, 1}));
  c.out("conv3d", torch::slow_conv3d_forward(c.randn({1, 2, 4, 4, 4}), c.randn({3, 2, 2, 2, 2}), {2, 2, 2}, {},
                                             {1, 1, 1}, {0, 0, 0}));
  c.out("grid", torch::_grid_sampler_2d_cpu_fallback(x, grid, 0, 0, false));
  const auto [of_input, of_grid] =
      torch::_grid_sampler_2d_cpu_fallback_backward(c.randn({2, 3, 4, 4}), x, grid, 0, 0, false);
  c.out("gradient of input", of_input);
  c.out("gradient of grid", of_grid);
  const torch::Tensor wide = c.randn({3, 8});
  c.out("glu_jvp", torch::glu_jvp(torch::glu(wide, 1), wide, c.randn({3, 8}), 1));
  const torch::Tensor v = c.randn({4, 3}), g = c.randn({4, 1});
  const auto [w, norms] = torch::_weight_norm_interface(v, g, 0);
  const auto [of_v, of_g] = torch::_weight_norm_interface_backward(c.randn({4, 3}), v, g, norms, 0);
  c.out("gradient of v", of_v);
  c.out("gradient of g", of_g);
  const torch::Tensor noise = torch::zeros({3, 8}, wide.options());
  const auto [y, drawn] = torch::rrelu_with_noise_functional(wide, noise, 0.1, 0.3, true);
  c.out("rrelu", y);
  c.out("noise", drawn);
  c.out("noise before", noise);
}
