// Numbers, dtypes, options, generators and out= forms used wrongly: what both builds say.
#include "parity/bad.h"

#include <limits>
#include <vector>

using torch::Tensor;
using torch::indexing::Slice;

PARITY_CASE(bad_values, creation) {
  const auto whole = torch::dtype(torch::kLong);
  SAYS("Expected all sub-lists to have sizes", torch::tensor({{1, 2}, {3}}));
  SAYS("Expected all sub-lists to have sizes", torch::tensor({{{2, 3, 4}, {{5, 6}, {7}}}}));
  SAYS("Expected all elements of the tensor to have the same scalar type", torch::tensor({{{1, 2.0}, {1, 2.0}}}));
  SAYS("Expected all elements of the tensor to have the same scalar type: Bool, but got element",
       torch::tensor({{{true, 2.0, 3}, {true, 2.0, 3}}}));
  SAYS("Expected all elements of the tensor to have the same scalar type: Bool, but got element",
       torch::tensor({{{true}, {2}}}));
  SAYS("Only Tensors of floating point and complex dtype can require gradients",
       torch::tensor({1, 2}, whole.requires_grad(true)));
  SAYS("Only Tensors of floating point and complex dtype can require gradients",
       torch::ones({2}, whole.requires_grad(true)));
  SAYS("options.requires_grad set as true", torch::zeros({2}).to(torch::TensorOptions().requires_grad(true)));
  SAYS("value cannot be converted to type", torch::full({2}, 300, torch::kChar));
  SAYS("value cannot be converted to type", torch::full({2}, 1e20, torch::kLong));
  SAYS("value cannot be converted to type", torch::zeros({2}, torch::kByte).fill_(256));
  SAYS("value cannot be converted to type", torch::scalar_tensor(1e10, torch::kInt));
  SAYS("unsupported range: 0 -> inf", torch::arange(0, std::numeric_limits<double>::infinity()));
  SAYS("unsupported range: 0 -> nan", torch::arange(0, std::numeric_limits<double>::quiet_NaN()));
  SAYS("Trying to create tensor with negative dimension -1: [-1]", torch::from_blob(nullptr, {-1}));
  SAYS("Trying to create tensor with negative dimension -1: [2, -1]", torch::empty({2, -1}));
  SAYS("m must be greater or equal to 0, got -1", torch::eye(2, -1));
  SAYS("requires non-negative window_length, got window_length=-1", torch::hann_window(-1));
  SAYS("floating point", torch::hann_window(3, torch::kLong));
  SAYS("Expected object of scalar type Float but got scalar type Double for second argument",
       torch::complex(torch::ones({2}), torch::ones({2}, torch::kDouble)));
  SAYS("Float or Double tensors but got Long and Long",
       torch::complex(torch::ones({2}, torch::kLong), torch::ones({2}, torch::kLong)));
  SAYS("Expected object of scalar type Float but got scalar type Double for second argument",
       torch::polar(torch::ones({2}), torch::ones({2}, torch::kDouble)));
  BAD(torch::tril_indices(2, 2, 0, torch::kFloat), torch::tril_indices(-2, 2));
  BAD(torch::empty_like(Tensor()));
  SAYS("x must be a one-dimensional tensor", torch::vander(torch::ones({2, 2})));
  SAYS("Expect a 1D vector, but got shape [2, 2]", torch::cartesian_prod({torch::ones({2, 2})}));
  SAYS("2 or fewer dimensions", torch::block_diag({torch::ones({2, 2, 2})}));
  SAYS("got shape [2, 2]", torch::combinations(torch::ones({2, 2})));
  SAYS("Expect a non-negative number, but got -1", torch::combinations(torch::ones({2}), -1));
}

PARITY_CASE(bad_values, scalars) {
  const auto x = c.randn({2, 3}), none = torch::empty({0}), i = torch::arange(3);
  SAYS("a Tensor with 6 elements cannot be converted to Scalar", x.item<int>());
  SAYS("a Tensor with 6 elements cannot be converted to Scalar", x.item().to<float>());
  SAYS("a Tensor with 0 elements cannot be converted to Scalar", none.item());
  SAYS("value cannot be converted to type int64_t without overflow", torch::tensor(1e20).item<int64_t>());
  SAYS("value cannot be converted to", at::Scalar(c10::complex<double>(1, 2)).toDouble());
  SAYS("value cannot be converted to", at::Scalar(c10::complex<double>(1, 2)).to<int64_t>());
  SAYS("value cannot be converted to", torch::full({}, c10::complex<double>(1, 2)).item<float>());
  SAYS("Boolean value of Tensor with no values is ambiguous", bool(none.is_nonzero()));
  SAYS("expected scalar type Double but found Float", x.data_ptr<double>());
  SAYS("expected scalar type Float but found Long", i.data_ptr<float>());
  SAYS("expected scalar type Float but found Long", i.const_data_ptr<float>());
  BAD(x.accessor<float, 1>());
  SAYS("expected scalar type Float but found Long", i.accessor<float, 1>());
  BAD(x.packed_accessor64<float, 3>());
  BAD(Tensor().dim(), Tensor().data_ptr());
  SAYS("Expected a proper Tensor but got None (or an undefined Tensor in C++)", Tensor().is_contiguous(), Tensor() + 1);
  BAD(Tensor().options());
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 5)", x.size(5));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got -4)", x.stride(-4));
  SAYS("specified as 0 but tensor has no dimensions", torch::tensor(1).size(0));
  BAD(x.set_data(torch::ones({2}, torch::kLong)); x.set_data(Tensor()));
  BAD(x.clone().resize_({-1, 2}));
  SAYS("Only Tensors of floating point and complex dtype can require gradients",
       x.clone().requires_grad_().resize_({7}));
  BAD(x.to(torch::kFloat, false, false, torch::MemoryFormat::ChannelsLast));
  BAD(x.contiguous(torch::MemoryFormat::ChannelsLast));
  SAYS("float and double tensors, but got a tensor of scalar type: Long", torch::view_as_complex(x));
  SAYS("view_as_real is only supported for complex tensors", torch::view_as_real(x));
  SAYS("imag is not implemented for tensors with non-complex dtypes", torch::imag(x));
}

PARITY_CASE(bad_values, out_and_in_place) {
  const auto x = c.randn({2, 3}), i = torch::arange(3);
  Tensor whole = torch::empty({3}, torch::kLong), wide = torch::empty({2, 3}, torch::kDouble);
  SAYS("result type Float can't be cast to the desired output type Long", torch::mean_out(whole, x, {0}));
  SAYS("result type Float can't be cast to the desired output type Long", torch::exp_out(whole, x));
  SAYS("can't be cast to the desired output type Long", torch::cat_out(whole, {x, x}));
  BAD(torch::index_select_out(whole, x, 0, torch::tensor({0})));
  SAYS("step must be nonzero", torch::arange_out(whole, 0, 5, 0));
  BAD(torch::softmax_out(whole, x, 0));
  SAYS("functions with out=... arguments don't support automatic differentiation, but one of the",
       Tensor o = c.leaf({2, 3});
       torch::add_out(o, x, x));
  SAYS("functions with out=... arguments don't support automatic differentiation, but one of the",
       Tensor l = c.leaf({2, 3}), o = x.clone();
       torch::add_out(o, l, l));
  BAD(i.clone().copy_(x));
  SAYS("result type Float can't be cast to the desired output type Long", i.clone().exp_());
  BAD(i.clone().addmm_(x, x));
  SAYS("result type Float can't be cast to the desired output type Long", i.clone().pow_(0.5));
  SAYS("result type Float can't be cast to the desired output type", i.clone().clamp_(0.5, 2.5));
  SAYS("\"check_uniform_bounds\" not implemented for 'Long'", i.clone().uniform_());
  SAYS("\"normal_kernel_cpu\" not implemented for 'Long'", i.clone().normal_());
  BAD(i.clone().index_put_({torch::tensor({0})}, 0.5), i.clone().index_put_({torch::tensor({0})}, x.select(0, 0)));
  SAYS("result type Long can't be cast to the desired output type Bool", (i > 1).add_(i));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 5)", x.clone().squeeze_(5));
  SAYS("Dimension out of range (expected to be in range of [-3, 2], but got 9)", x.clone().t_().unsqueeze_(9));
  SAYS("tensors used as indices must be long, int, byte or bool tensors", x.clone().index({torch::tensor({0.5f})}));
  SAYS("Passing an empty index list to Tensor::index() is not valid syntax", x.clone().index({"...", "..."}),
       x.index({}), x.index({0, 1, 2}));
  BAD(x.index({Slice(0, 2, 0)}));
  SAYS("too many indices for tensor of dimension 2", x.index({torch::indexing::None, 0, 0, 0}));
  BAD(x.index({"wrong"}));
  SAYS("4) at non-singleton dimension 0", x.clone().index_put_({0}, torch::ones({4})));
  SAYS("3) at non-singleton dimension 1", x.clone().index_put_({Slice(), Slice(0, 2)}, torch::ones({3})));
  SAYS("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in",
       torch::tensor(1).index({0}));
  SAYS("select() cannot be applied to a 0-dim tensor", torch::tensor(1)[0]);
  SAYS("Can only index with tensors that are scalars (zero-dim)", x[torch::tensor({0.5f})]);
  BAD(x[Tensor()]);
  SAYS("too many indices for tensor of dimension 2",
       x.index({torch::tensor({0}), torch::tensor({0}), torch::tensor({0})}));
}

PARITY_CASE(bad_values, random) {
  Tensor x = torch::empty({4}), i = torch::empty({4}, torch::kInt);
  SAYS("uniform_ expects to return a [from, to) range, but found from=1 > to=0", x.clone().uniform_(1, 0));
  SAYS("to is out of bounds for float", x.clone().uniform_(0, 1e39));
  SAYS("normal expects std >= 0.0, but found std -1", x.clone().normal_(0, -1));
  SAYS("exponential_ expects lambda > 0.0, but found lambda=-1", x.clone().exponential_(-1));
  SAYS("geometric_ expects p to be in (0, 1), but got p=0", x.clone().geometric_(0));
  SAYS("geometric_ expects p to be in (0, 1), but got p=1.5", x.clone().geometric_(1.5));
  SAYS("log_normal_ expects std > 0.0, but found std=-1", x.clone().log_normal_(0, -1));
  SAYS("cauchy_ expects sigma > 0.0, but found sigma=-1", x.clone().cauchy_(0, -1));
  SAYS("random_ expects 'from' to be less than 'to', but got from=5 >= to=5", x.clone().random_(5, 5));
  SAYS("random_ expects 'from' to be less than 'to', but got from=0 >= to=0", x.clone().random_(0));
  SAYS("to - 1 is out of bounds for int", i.clone().random_(0, int64_t(1) << 40));
  SAYS("from is out of bounds for unsigned char", torch::empty({2}, torch::kByte).random_(-1, 5));
  SAYS("to - 1 is out of bounds for unsigned char", torch::empty({2}, torch::kByte).random_(0, 300));
  SAYS("bernoulli_ expects p to be in [0, 1], but got p=1.5", x.clone().bernoulli_(1.5));
  SAYS("\"bernoulli_tensor_cpu_p_\" not implemented for 'Long'", torch::bernoulli(torch::ones({2}, torch::kLong)));
  SAYS("probability tensor contains either `inf`, `nan` or element < 0",
       torch::multinomial(torch::tensor({-1.0f, 2.0f}), 1));
  SAYS("invalid multinomial distribution (sum of probabilities <= 0)", torch::multinomial(torch::zeros({2}), 1));
  SAYS("prob_dist must be 1 or 2 dim", torch::multinomial(torch::ones({2, 2, 2}), 1));
  SAYS("multinomial only supports floating-point dtypes for input, got: Long",
       torch::multinomial(torch::ones({2}, torch::kLong), 1));
  SAYS("random_ expects 'from' to be less than 'to', but got from=2 >= to=1",
       torch::randint(3, {2}, torch::kByte).random_(2, 1));
  SAYS("to - 1 is out of bounds for signed char", torch::randint(0, 300, {2}, torch::kChar));
  BAD(torch::randperm(300, torch::kChar));
  SAYS("normal expects std >= 0.0, but found std -1", torch::normal(0, -1, {2}));
  SAYS("invalid Poisson rate, expected rate to be non-negative", torch::poisson(torch::tensor({-1.0f})));
  SAYS("\"normal_kernel_cpu\" not implemented for 'Long'", torch::randn({2}, torch::kLong));
  SAYS("\"check_uniform_bounds\" not implemented for 'Int'", torch::rand({2}, torch::kInt));
  SAYS("\"check_uniform_bounds\" not implemented for 'Int'", torch::rand_like(i));
  SAYS("dropout probability has to be between 0 and 1, but got 1.5", torch::dropout(x, 1.5, true));
  SAYS("RNG state must be a torch.ByteTensor", at::detail::createCPUGenerator().set_state(torch::zeros({3})));
}

PARITY_CASE(bad_values, linear_algebra) {
  const auto x = c.randn({2, 3}), square = torch::zeros({2, 2}), i = torch::ones({2, 2}, torch::kLong);
  SAYS("linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because",
       torch::inverse(square));
  SAYS("linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because",
       torch::linalg_inv(square));
  SAYS("linalg.inv: (Batch element 0): The diagonal element 1 is zero, the inversion could not be",
       torch::linalg_inv(torch::zeros({3, 2, 2})));
  SAYS("linalg.inv: Expected a floating point or complex tensor as input. Got Long", torch::linalg_inv(i));
  SAYS("because the input matrix is singular", torch::linalg_solve(square, torch::ones({2})));
  SAYS("linalg.cholesky: A must be batches of square matrices, but they are 2 by 3 matrices",
       torch::linalg_cholesky(x));
  SAYS("linalg.cholesky: (Batch element 0): The factorization could not be completed because the",
       torch::linalg_cholesky(-torch::eye(2).expand({2, 2, 2})));
  SAYS("cholesky: The factorization could not be completed because the input is not", torch::cholesky(-torch::eye(2)));
  SAYS("linalg.eig: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_eig(x));
  BAD(torch::linalg_eigh(i));
  SAYS("linalg.eigh: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_eigvalsh(x));
  SAYS("linalg.svd: Expected a floating point or complex tensor as input. Got Long", torch::linalg_svd(i));
  SAYS("must have at least 2 dimensions", torch::linalg_lstsq(c.randn({2}), c.randn({2})));
  BAD(torch::linalg_lu(c.randn({2})));
  SAYS("linalg.slogdet: A must be batches of square matrices, but they are 2 by 3 matrices", torch::linalg_slogdet(x));
  BAD(torch::linalg_norm(c.randn({2, 2, 2}), 2));
  BAD(torch::linalg_norm(x, "wrong"));
  BAD(torch::linalg_matrix_norm(c.randn({2}), "fro"));
  BAD(torch::linalg_matrix_norm(x, "wrong"));
  SAYS("floating point or complex", torch::linalg_vector_norm(i));
  BAD(torch::linalg_cross(c.randn({3}), c.randn({4})));
  SAYS("expected at least 2 tensors", torch::linalg_multi_dot({x}));
  SAYS("cannot be multiplied", torch::linalg_multi_dot({x, x}));
  SAYS("linalg.matrix_exp: A must be batches of square matrices, but they are 2 by 3 matrices",
       torch::linalg_matrix_exp(x));
  SAYS("linalg.matrix_rank: The input tensor", torch::linalg_matrix_rank(c.randn({2})));
  BAD(torch::linalg_pinv(c.randn({2})));
  SAYS("linalg.solve_triangular: A must be batches of square matrices, but they are 2 by 3",
       torch::linalg_solve_triangular(x, x, true));
  SAYS("must have at least 2 dimensions", torch::linalg_householder_product(c.randn({2}), c.randn({2})));
  SAYS("prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim])", torch::linalg_tensorsolve(x, c.randn({2})));
  SAYS("A must be batches of square matrices, but they are 2 by 3 matrices", torch::triangular_solve(x, x));
  SAYS("A must be batches of square matrices, but they are 2 by 3 matrices", torch::cholesky_solve(x, x));
  BAD(torch::lu_solve(x, x, i));
  SAYS("linalg.det: A must be batches of square matrices, but they are 2 by 3 matrices", torch::det(x));
  SAYS("logdet: The input tensor A must have at least 2 dimensions", torch::logdet(c.randn({2})));
}

PARITY_CASE(bad_values, products_and_transforms) {
  const auto x = c.randn({2, 3});
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", torch::mm(c.randn({2, 3}), c.randn({4, 5})));
  SAYS("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", torch::matmul(c.randn({2, 3}), c.randn({4, 5})));
  SAYS("inconsistent tensor size, expected tensor [3] and src [4] to have the same number of",
       torch::matmul(c.randn({3}), c.randn({4})));
  SAYS("size mismatch, got", torch::matmul(c.randn({2, 3}), c.randn({4})));
  SAYS("vector + matrix @ vector expected, got", torch::mv(x, x));
  SAYS("batch1 must be a 3D tensor", torch::bmm(x, x));
  SAYS("outer: Expected 1-D argument self, but got 2-D", torch::ger(x, x));
  SAYS("inner() the last dimension must match on both input tensors but got shapes [2, 3] and [2,",
       torch::inner(x, c.randn({2, 4})));
  SAYS("Invalid number of data points (0) specified", torch::fft_fft(Tensor(x), 0));
  SAYS("Dimension out of range (expected to be in range of [-2, 1], but got 5)", torch::fft_fft(x, 3, 5));
  SAYS("rfft expects a real input tensor, but got ComplexFloat",
       torch::fft_rfft(torch::ones({2}, torch::kComplexFloat)));
  SAYS("Invalid normalization mode: \"wrong\"", torch::fft_fft(x, 3, 1, "wrong"));
  SAYS("Dimension out of range (expected to be in range of [-1, 0], but got -2)", torch::fft_fft2(c.randn({2})));
  SAYS("stft requires the return_complex parameter be given for real inputs, and will further",
       torch::stft(c.randn({4}), 8));
  SAYS("stft requires the return_complex parameter be given for real inputs, and will further",
       torch::stft(c.randn({2, 2, 9}), 4));
}
