// What warns in LibTorch warns here, with the phrase that programs search for, as often, and goes to the program's
// handler.
#include <string>
#include <vector>

#include "parity/case.h"

using torch::Tensor;
namespace F = torch::nn::functional;

namespace {

struct Handler : c10::WarningHandler {
  std::vector<std::string> messages;
  void process(const c10::Warning& warning) override { messages.push_back(warning.msg()); }
};

template <class F>
std::vector<std::string> warnings_of(const F& f) {
  Handler handler;
  const c10::WarningUtils::WarningHandlerGuard guard(&handler);
  f();
  return handler.messages;
}

template <class F>
void warns(parity::Case& c, const std::string& name, const std::string& phrase, bool once, const F& f) {
  const auto first = warnings_of(f), second = warnings_of(f);
  c.value(name + ".first", static_cast<int64_t>(first.size()));
  c.value(name + ".second", static_cast<int64_t>(second.size()));
  c.check(first.size() == 1 && first[0].find(phrase) != std::string::npos,
          name + ": expected '" + phrase + "' in: " + (first.empty() ? "(no warning)" : first[0]));
  c.check(second.size() == (once ? 0 : 1),
          name + " warned " + std::to_string(second.size()) + " times when it ran again");
  const c10::WarningUtils::WarnAlways always;
  c.check(warnings_of(f).size() == 1, name + " warns again under WarnAlways");
}

}  // namespace

#define ONCE(phrase, ...) warns(c, #__VA_ARGS__, phrase, true, [&] { __VA_ARGS__; })
#define EACH_TIME(phrase, ...) warns(c, #__VA_ARGS__, phrase, false, [&] { __VA_ARGS__; })
#define SILENT(...) c.check(warnings_of([&] { __VA_ARGS__; }).empty(), "silent: " #__VA_ARGS__)

PARITY_CASE(warnings, gradients_of_real_inputs) {
  const Tensor x = c.leaf({4, 4});
  SILENT(torch::fft::fft2(x).abs().sum().backward());
  c.out("fft2", x.grad().clone());
  SILENT(x.to(torch::kComplexFloat).abs().sum().backward());
  c.out("to", x.grad());
}

PARITY_CASE(warnings, masks_and_shapes) {
  const Tensor x = torch::arange(6, torch::kFloat).reshape({2, 3}), mask = torch::tensor({1, 0}, torch::kByte);
  const Tensor whole = torch::ones({2, 3}, torch::kByte);
  EACH_TIME("indexing with dtype torch.uint8 is now deprecated", x.index({mask}));
  EACH_TIME("indexing with dtype torch.uint8 is now deprecated", x.clone().index_put_({mask}, torch::zeros({1, 3})));
  ONCE("where received a uint8 condition tensor", torch::where(whole, x, x));
  SILENT(x.index({mask == 1}); torch::where(whole == 1, x, x));
  ONCE("The use of `x.T` on tensors of dimension other than 2", torch::zeros({2, 3, 4}).numpy_T());
  ONCE("Tensor.T is deprecated on 0-D tensors", torch::zeros({}).numpy_T());
  ONCE("Tensor.H is deprecated on 0-D tensors", torch::zeros({}).matrix_H());
  SILENT(x.numpy_T(); x.matrix_H());
  const auto many = [] { return torch::ones({1}).expand({3}); };
  EACH_TIME("Use of index_fill_ on expanded tensors is deprecated", many().index_fill_(0, torch::tensor({0}), 1));
  EACH_TIME("Use of masked_fill_ on expanded tensors is deprecated",
            many().masked_fill_(torch::ones({3}, torch::kBool), 1));
  EACH_TIME("Use of index_put_ on expanded tensors is deprecated",
            many().index_put_({torch::tensor({0})}, torch::ones({1})));
  c.out("filled", many().masked_fill_(torch::ones({3}, torch::kBool), 4));
  c.out("conjugated", c.any({2, 3}, torch::kComplexFloat).matrix_H());
}

PARITY_CASE(warnings, degrees_of_freedom) {
  EACH_TIME("std(): degrees of freedom is <= 0", torch::zeros({1}).std());
  EACH_TIME("var(): degrees of freedom is <= 0", torch::zeros({1}).var());
  EACH_TIME("var_mean(): degrees of freedom is <= 0", torch::var_mean(torch::zeros({1})));
  EACH_TIME("std(): degrees of freedom is <= 0", torch::zeros({3, 1}).std(1));
  EACH_TIME("var(): degrees of freedom is <= 0",
            torch::zeros({3, 4}).var(torch::IntArrayRef{1}, c10::optional<c10::Scalar>(4)));
  EACH_TIME("std(): degrees of freedom is <= 0", torch::zeros({0}).std(0, false));
  EACH_TIME("cov(): degrees of freedom is <= 0", torch::cov(torch::zeros({3, 1})));
  SILENT(torch::zeros({3, 1}).var(torch::IntArrayRef{1}, false); torch::cov(torch::zeros({3, 1}), 0));
}

PARITY_CASE(warnings, gradients) {
  const Tensor leaf = torch::ones({2}, torch::requires_grad()), y = leaf * 2, kept = leaf * 2;
  EACH_TIME("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed", y.grad());
  kept.retain_grad();
  SILENT(kept.grad(); leaf.grad(); y.mutable_grad());
  ONCE("Using backward() with create_graph=True will create a reference cycle",
       (leaf * 2).sum().backward({}, c10::nullopt, true));
  SILENT(torch::autograd::grad({(leaf * 2).sum()}, {leaf}, {}, c10::nullopt, true));
}

PARITY_CASE(warnings, out_tensors) {
  const Tensor x = torch::arange(6, torch::kFloat).reshape({2, 3});
#define RESIZED(function, ...)                                                                                     \
  EACH_TIME(                                                                                                       \
      "An output with one or more elements was resized since it had shape [7], which does not match the required " \
      "output shape [",                                                                                            \
      Tensor out = torch::empty({7});                                                                              \
      torch::function##_out(out, __VA_ARGS__))
  RESIZED(add, x, x);
  RESIZED(exp, x);
  RESIZED(mm, x, x.t());
  RESIZED(addmm, torch::zeros({2, 2}), x, x.t());
  RESIZED(matmul, x, x.t());
  RESIZED(cat, {x, x});
  RESIZED(stack, {x, x});
  RESIZED(sum, x, 1);
  RESIZED(mean, x, 0);
  RESIZED(index_select, x, 0, torch::tensor({0}));
  RESIZED(gather, x, 0, torch::zeros({2, 3}, torch::kLong));
  RESIZED(cumsum, x, 0);
  RESIZED(clamp, x, 1, 2);
  RESIZED(tril, x);
  RESIZED(eq, x, x);
  RESIZED(mse_loss, x, x);
  RESIZED(masked_select, x, x > 2);
#undef RESIZED
  EACH_TIME("The number of elements in the out tensor of shape [3] is 3 which does not match",
            Tensor out = torch::empty({3});
            torch::arange_out(out, 5));
  SILENT(Tensor out = torch::empty({0}); torch::add_out(out, x, x));
  SILENT(Tensor out = torch::empty({7}); torch::zeros_out(out, {5}); torch::eye_out(out, 4);
         torch::full_out(out, {4}, 2));
  SILENT(Tensor out = torch::empty({7}); torch::linspace_out(out, 0, 1, 10));
  SILENT(Tensor out = torch::empty({7}); torch::randn_out(out, {4}));
}

PARITY_CASE(warnings, deprecated_functions) {
  const Tensor x = torch::arange(6, torch::kFloat).reshape({2, 3}) + torch::eye(2, 3), eye = torch::eye(2),
               n = torch::arange(3);
  ONCE("torch.qr is deprecated in favor of torch.linalg.qr", torch::qr(x));
  ONCE("torch.cholesky is deprecated in favor of torch.linalg.cholesky", torch::cholesky(eye));
  ONCE("torch.lu_solve is deprecated in favor of torch.linalg.lu_solve",
       torch::lu_solve(eye, eye, torch::tensor({1, 2}, torch::kInt)));
  ONCE("torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangular",
       torch::triangular_solve(eye, eye));
  ONCE("torch.chain_matmul is deprecated", torch::chain_matmul({x, x.t()}));
  ONCE("torch.meshgrid: in an upcoming release", torch::meshgrid({n, n}));
  ONCE("Using torch.cross without specifying the dim arg is deprecated", torch::cross(torch::eye(3), torch::eye(3)));
  ONCE("at::nuclear_norm is deprecated", torch::nuclear_norm(x));
  ONCE("at::frobenius_norm is deprecated", torch::frobenius_norm(x, 0));
  SILENT(torch::linalg_qr(x); torch::linalg_cholesky(eye); torch::meshgrid({n, n}, "ij"); torch::norm(x));
  SILENT(torch::linalg_cross(torch::eye(3), torch::eye(3)); torch::cartesian_prod({n, n}));
}

PARITY_CASE(warnings, slow_or_lossy_calls) {
  const Tensor signal = c.randn({64}), z = torch::ones({2}, torch::kComplexFloat);
  ONCE("A window was not provided. A rectangular window will be applied",
       torch::stft(signal, 16, c10::nullopt, c10::nullopt, {}, false, c10::nullopt, true));
  const Tensor spectrum = torch::stft(signal, 16, c10::nullopt, c10::nullopt, {}, false, c10::nullopt, true);
  ONCE("A window was not provided. A rectangular window will be applied", torch::istft(spectrum, 16));
  ONCE("Casting complex values to real discards the imaginary part", z.to(torch::kFloat));
  ONCE("Using padding='same' with even kernel lengths",
       torch::conv2d(torch::zeros({1, 1, 4, 4}), torch::zeros({1, 1, 2, 2}), {}, 1, "same"));
  const Tensor edges = torch::arange(10, torch::kFloat).slice(0, 0, 10, 2),
               two = torch::arange(12, torch::kFloat).reshape({2, 6});
  ONCE("torch.searchsorted(): boundary tensor is non-contiguous", torch::searchsorted(edges, two[0]));
  ONCE("torch.searchsorted(): input value tensor is non-contiguous",
       torch::searchsorted(two, torch::arange(6, torch::kFloat).reshape({3, 2}).t()));
}

PARITY_CASE(warnings, layers) {
  const Tensor column = torch::zeros({3, 1}), row = torch::zeros({3}), image = torch::zeros({1, 1, 4, 4});
  EACH_TIME("Using a target size ([3]) that is different to the input size ([3, 1])", F::mse_loss(column, row));
  EACH_TIME("Using a target size ([3]) that is different to the input size ([3, 1])", F::smooth_l1_loss(column, row));
  SILENT(F::l1_loss(column, row));
  EACH_TIME("reduction: 'mean' divides the total loss by both the batch size and the support size.",
            F::kl_div(column, column, F::KLDivFuncOptions().reduction(torch::kMean)));
  const auto scaled = F::InterpolateFuncOptions().scale_factor(std::vector<double>{1.5, 1.5});
  EACH_TIME("Default upsampling behavior when mode=kBilinear is changed to align_corners=False since 0.4.0",
            F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{3, 3}).mode(torch::kBilinear)));
  EACH_TIME("The default behavior for interpolate/upsample with float scale_factor changed in 1.6.0",
            F::interpolate(image, F::InterpolateFuncOptions(scaled).mode(torch::kNearest)));
  SILENT(F::interpolate(image, F::InterpolateFuncOptions(scaled).mode(torch::kNearest).recompute_scale_factor(true)));
  EACH_TIME("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0",
            F::grid_sample(image, torch::zeros({1, 2, 2, 2})));
  EACH_TIME("dropout option adds dropout after all but last recurrent layer",
            torch::nn::LSTM(torch::nn::LSTMOptions(2, 2).dropout(0.5)));
}

PARITY_CASE(warnings, of_the_program) {
  Handler handler;
  const c10::WarningUtils::WarningHandlerGuard guard(&handler);
  TORCH_WARN("plain ", 1);
  TORCH_WARN_DEPRECATION("old ", 2);
  for (int i = 0; i < 3; ++i) TORCH_WARN_ONCE("once ", 3);
  std::string all;
  for (const std::string& message : handler.messages) all += message + ";";
  c.text("messages", all);
  const c10::Warning warning(c10::Warning::DeprecationWarning(), {"f", "file", 3}, "text", false);
  c.value("type", static_cast<int64_t>(warning.type().index()));
}
