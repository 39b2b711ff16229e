// Values, out tensors and lists that do not fit: what both builds say.
#include <functional>
#include <sstream>
#include <stdexcept>

#include "parity/bad.h"

using torch::Tensor;

PARITY_CASE(bad_conversions, numbers) {
  const auto half = torch::zeros({2}, torch::kHalf), mask = torch::ones({2}, torch::kBool), zero = torch::tensor({0});
  const c10::Scalar z(c10::complex<double>(1, 2));
  SAYS("value cannot be converted to type float without overflow", torch::full({2}, 1e39));
  SAYS("value cannot be converted to type float without overflow", torch::zeros({2}).fill_(-1e39));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::full({2}, 1e6, torch::kHalf));
  SAYS("value cannot be converted to type c10::Half without overflow", half.clone().fill_(1e6));
  SAYS("value cannot be converted to type c10::Half without overflow", half.masked_fill(mask, -1e9));
  SAYS("value cannot be converted to type c10::Half without overflow", half.index_fill(0, zero, 1e6));
  SAYS("value cannot be converted to type c10::Half without overflow", half.scatter(0, zero, 1e6));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::constant_pad_nd(half, {1, 1}, 1e6));
  SAYS("value cannot be converted to type c10::BFloat16 without overflow",
       torch::zeros({2}, torch::kBFloat16).fill_(1e39));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::full({2}, 300, torch::kByte));
  SAYS("value cannot be converted to type float without overflow", torch::zeros({2}).masked_fill_(mask, z));
  SAYS("value cannot be converted to type float without overflow", torch::zeros({2}).fill_(z));
  SAYS("value cannot be converted to type float without overflow", torch::full({2}, z, torch::kFloat));
  SAYS("value cannot be converted to type float without overflow",
       torch::zeros({2}).masked_fill(mask, torch::tensor(c10::complex<double>(1, 2))));
  c.out("infinity", half.clone().fill_(INFINITY));
  c.out("largest", half.clone().fill_(65504));
  c.out("real", torch::zeros({2}).fill_(c10::Scalar(c10::complex<double>(3, 0))));
  c.out("cut", torch::zeros({2}, torch::kLong).masked_fill(mask, torch::tensor(1.5)));
}

// Programs catch std::runtime_error; c10::Error is none.
PARITY_CASE(bad_conversions, overflow_is_a_runtime_error) {
  const auto overflows = [&](const char* what, const std::function<void()>& f) {
    bool caught = false;
    try {
      f();
    } catch (const std::runtime_error& e) {
      caught = std::string(e.what()).find("without overflow") != std::string::npos;
    } catch (const std::exception&) {
    }
    c.check(caught, what);
  };
  overflows("int", [] { torch::tensor(int64_t{1} << 40).item<int>(); });
  overflows("int64_t", [] { torch::tensor(1e30).item<int64_t>(); });
  overflows("uint8_t", [] { torch::tensor(300).item<uint8_t>(); });
  overflows("float", [] { torch::tensor(1e300, torch::kDouble).item<float>(); });
  overflows("NaN", [] { c10::Scalar(NAN).toInt(); });
  overflows("complex", [] { c10::Scalar(c10::complex<double>(1, 2)).toDouble(); });
}

PARITY_CASE(bad_conversions, dtypes_of_out) {
  const Tensor x = torch::arange(6, torch::kFloat).reshape({2, 3}), square = torch::eye(2), first = torch::tensor({0});
#define OUT(dtype, phrase, function, ...) \
  SAYS(phrase, Tensor out = torch::empty({0}, dtype); torch::function##_out(out, __VA_ARGS__))
#define DOUBLE "Expected out tensor to have dtype float, but got double instead"
  OUT(torch::kDouble, DOUBLE, mm, x, x.t());
  OUT(torch::kDouble, DOUBLE, addmm, square, x, x.t());
  OUT(torch::kDouble, DOUBLE, matmul, x, x.t());
  OUT(torch::kDouble, DOUBLE, mv, x, x[0]);
  OUT(torch::kDouble, DOUBLE, softmax, x, 0);
  OUT(torch::kDouble, DOUBLE, gather, x, 0, torch::zeros({1, 3}, torch::kLong));
  OUT(torch::kDouble, DOUBLE, tril, x);
  OUT(torch::kDouble, DOUBLE, diag, x);
  OUT(torch::kDouble, DOUBLE, norm, x, 2, 0);
  OUT(torch::kDouble, DOUBLE, linalg_inv, square);
  OUT(torch::kHalf, "Expected out tensor to have dtype float, but got c10::Half instead", mm, x, x.t());
  OUT(torch::kLong, "Expected out tensor to have dtype float, but got long int instead", bmm, x.unsqueeze(0),
      x.t().unsqueeze(0));
  OUT(torch::kFloat, "Expected out tensor to have dtype long int, but got float instead", argmax, x);
#undef DOUBLE
  OUT(torch::kDouble, "Found dtype Double but expected Float", abs, x);
  OUT(torch::kDouble, "Found dtype Double but expected Float", neg, x);
  OUT(torch::kDouble, "Found dtype Double but expected Float", round, x);
  OUT(torch::kDouble, "Found dtype Double but expected Float", clamp, x, 0, 1);
  OUT(torch::kDouble, "result dtype Double does not match input dtype Float", dot, x[0], x[0]);
  OUT(torch::kDouble, "index_select(): self and result must have the same scalar type", index_select, x, 0, first);
  OUT(torch::kDouble, "masked_select(): self and result must have the same scalar type", masked_select, x, x > 2);
  OUT(torch::kDouble, "take(): self and out expected to have the same dtype", take, x, first);
  OUT(torch::kDouble, "Expected out type to be Float but got Double", where, x > 2, x, x);
  OUT(torch::kFloat, "any only supports bool tensor for result, got: Float", any, x > 2, 0);
  OUT(torch::kFloat, "Expected out tensor to have scalar type Long", nonzero, x);
  OUT(torch::kDouble, "Expected the dtype for input and out to match", amax, x, 0);
  OUT(torch::kLong, "result type Float can't be cast to the desired output type Long", exp, x);
  OUT(torch::kLong, "result type Float can't be cast to the desired output type Long", add, x, x);
#undef OUT
  for (auto dtype : {torch::kDouble, torch::kHalf}) {
    Tensor a = torch::empty({0}, dtype), b = torch::empty({0}, dtype), s = torch::empty({0}, dtype);
    c.out("exp", torch::exp_out(a, x));
    c.out("add", torch::add_out(b, x, x));
    c.out("sum", torch::sum_out(s, x, 0));
  }
  Tensor whole = torch::empty({0}, torch::kLong);
  c.out("sum_of_whole", torch::sum_out(whole, x, 0));
}

PARITY_CASE(bad_conversions, norms) {
  const Tensor x = torch::arange(6, torch::kFloat).reshape({2, 3}), cube = torch::zeros({2, 2, 2}),
               none = torch::zeros({0});
  SAYS("linalg.matrix_norm: Order abc not supported.", torch::linalg_norm(x, "abc"));
  SAYS("linalg.matrix_norm: Order 3 not supported.", torch::linalg_norm(x, 3));
  SAYS("linalg.matrix_norm: Order 0.5 not supported.", torch::linalg_matrix_norm(x, 0.5));
  SAYS("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.", torch::linalg_norm(x[0], "fro"));
  SAYS("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.", torch::linalg_matrix_norm(x[0]));
  SAYS("the input must be 1D or 2D. Got 3D.", torch::linalg_norm(cube, 2));
  SAYS("it must be of length 1 or 2. Got [0, 1, 2]", torch::linalg_norm(cube, 2, at::IntArrayRef{0, 1, 2}));
  SAYS("linalg.matrix_norm: dims must be different. Got (0, 0)", torch::linalg_norm(x, 2, at::IntArrayRef{0, 0}));
  SAYS("linalg.vector_norm cannot compute the inf norm on an empty tensor", torch::linalg_norm(none, INFINITY));
  SAYS("linalg.vector_norm cannot compute the -1 norm on an empty tensor", torch::linalg_norm(none, -1));
}

PARITY_CASE(bad_conversions, values_and_gradients) {
  const c10::IValue number(3), text("abc");
  SAYS("Expected Tensor but got Int", number.toTensor());
  SAYS("Expected Tensor but got String", text.toTensor());
  SAYS("Expected Tensor but got Int", number.to<Tensor>());
  SAYS("Expected String but got Int", number.toStringRef());
  SAYS("Expected Tuple but got Int", number.toTuple());
  SAYS("Expected GenericDict but got Int", number.toGenericDict());
  SAYS("Invalid device string: ':0'", torch::Device(":0"));
  SAYS("Device string must not be empty", torch::Device(""));
  const Tensor a = torch::ones({3}, torch::requires_grad());
  SAYS("which is output 0 of ExpBackward0, is at version 1; expected version 0 instead", auto y = a.exp(); y.add_(1);
       y.sum().backward());
  SAYS("[3]] is at version 2; expected version 0 instead", auto w = torch::ones({3}); auto y = a * w; w.mul_(2);
       w.mul_(2); y.sum().backward());
  SAYS("element 0 of the input tensors does not require grad", torch::autograd::grad({a.sum()}, {torch::ones({2})}));
  SAYS("invalid gradient at index 0 - got [2] but expected shape compatible with [3]",
       torch::autograd::grad({a * 2}, {a}, {torch::ones({2})}));
  (a * 2).sum().backward(torch::ones({2}));
  c.out("summed_gradient", a.grad());
}

PARITY_CASE(bad_conversions, archives_and_sequences) {
  namespace rnn = torch::nn::utils::rnn;
  SAYS("PytorchStreamReader failed reading zip archive", std::istringstream in("not a zip"); Tensor t;
       torch::load(t, in));
  SAYS("PytorchStreamReader failed reading zip archive", torch::pickle_load(std::vector<char>{'a', 'b'}));
  SAYS("No such file or directory", Tensor t; torch::load(t, "missing.pt"));
  const Tensor x = torch::ones({3, 2, 4});
  SAYS("'lengths' argument should be a 1D CPU int64 tensor, but got 2D cpu Long tensor",
       rnn::pack_padded_sequence(x, torch::tensor({{3, 2}})));
  SAYS("Cannot pack empty tensors.",
       rnn::pack_padded_sequence(torch::zeros({3, 0, 4}), torch::zeros({0}, torch::kLong)));
  SAYS("`enforce_sorted` is True. You can pass `enforce_sorted=False`",
       rnn::pack_padded_sequence(x, torch::tensor({2, 3})));
}

// The nodes that programs put into graphs of their own; numbers as tensors.
PARITY_CASE(bad_conversions, accumulators) {
  const Tensor a = torch::ones({3}, torch::requires_grad());
  const auto y = a * 2;
  c.text("leaf", y.grad_fn()->next_edge(0).function->name());
  c.out("scalar", c10::scalar_to_tensor(2.5));
  c.out("whole", at::scalar_to_tensor(7));
}
