// Dtypes that a function does not take, numbers that a dtype does not hold, and what is taken though it looks alike.
#include "parity/bad.h"

using torch::Tensor;
namespace F = torch::nn::functional;

#define LONG(...) SAYS("not implemented for 'Long'", __VA_ARGS__)
#define BOOL(...) SAYS("not implemented for 'Bool'", __VA_ARGS__)

PARITY_CASE(bad_dtypes, integers) {
  const Tensor x = torch::arange(1, 7), m = x.reshape({2, 3}), image = x.reshape({1, 1, 2, 3});
  const Tensor labels = torch::tensor({0, 1});
  LONG(torch::silu(x));
  LONG(torch::mish(x));
  LONG(torch::hardsigmoid(x));
  LONG(torch::hardswish(x));
  LONG(torch::log_sigmoid(x));
  LONG(torch::frac(x));
  LONG(torch::hypot(x, x));
  LONG(torch::logaddexp(x, x));
  LONG(torch::logaddexp2(x, x));
  LONG(torch::max_pool1d(x.reshape({1, 1, 6}), 2));
  LONG(torch::im2col(image, {2, 2}, {1, 1}, {0, 0}, {1, 1}));
  LONG(torch::col2im(x.slice(0, 0, 4).reshape({1, 4, 1}), {2, 2}, {2, 2}, {1, 1}, {0, 0}, {1, 1}));
  LONG(torch::upsample_nearest1d(x.reshape({1, 1, 6}), {12}));
  LONG(torch::upsample_nearest2d(image, {4, 6}));
  LONG(torch::upsample_nearest3d(x.reshape({1, 1, 1, 2, 3}), {1, 4, 6}));
  LONG(torch::_upsample_nearest_exact2d(image, {4, 6}));
  LONG(torch::upsample_bilinear2d(image, {4, 6}, false));
  LONG(torch::multi_margin_loss(m, labels));
  LONG(torch::multilabel_margin_loss(x, torch::tensor({0, 1, 2, 3, 4, -1})));
  LONG(F::multilabel_soft_margin_loss(m, m));
  SAYS("Integral inputs not supported", torch::kl_div(x, x));
  SAYS("cdist only supports floating-point dtypes, X1 got: Long", torch::cdist(m, m));
  SAYS("cdist only supports floating-point dtypes, X2 got: ComplexFloat",
       torch::cdist(m.to(torch::kFloat), m.to(torch::kComplexFloat)));
  SAYS("pdist only supports floating-point dtypes", torch::pdist(m.to(torch::kComplexFloat)));
  SAYS("can't be cast to the desired output type Long", torch::soft_margin_loss(x, x));
  c.out("mixed", torch::soft_margin_loss(x.to(torch::kFloat), x));
}

PARITY_CASE(bad_dtypes, bools) {
  const Tensor b = torch::tensor({0, 1, 1, 0, 1, 1}).to(torch::kBool), m = b.reshape({2, 3});
  BOOL(torch::silu(b));
  BOOL(torch::threshold(b, 1, 0));
  BOOL(torch::median(b));
  BOOL(torch::nanmedian(b));
  BOOL(torch::kthvalue(b, 1));
  BOOL(torch::addcmul(b, b, b));
  BOOL(torch::trace(m));
  BOOL(torch::searchsorted(b, b));
  BOOL(torch::linspace(0, 3, 4, torch::kBool));
  BOOL(torch::logspace(0, 2, 3, 10, torch::kBool));
  BOOL(F::pad(b.reshape({1, 1, 6}), F::PadFuncOptions({1, 1}).mode(torch::kReflect)));
  BOOL(F::pad(b.reshape({1, 1, 6}), F::PadFuncOptions({1, 1}).mode(torch::kReplicate)));
  SAYS("topk does not support bool dtypes on CPU", torch::topk(b, 2));
  SAYS("argmax(): does not support bool input", torch::argmax(b));
  SAYS("Unsupported input type encountered for isin(): Bool", torch::isin(b, b));
  const Tensor f = b.to(torch::kFloat);
  SAYS("with a bool tensor is not supported", torch::sub(b, 1.5));
  SAYS("with a bool tensor is not supported", torch::sub(f, true));
  SAYS("with a bool tensor is not supported", b - f);
  SAYS("with a bool tensor is not supported", F::tanhshrink(b));
  c.out("square", torch::square(b));
  c.out("addr", torch::addr(b, b, b));
  c.out("addr.beta0", torch::addr(b, b, b, 0, 1));
}

PARITY_CASE(bad_dtypes, of_convolutions) {
  const Tensor x = torch::ones({1, 1, 3, 3}), w = torch::ones({1, 1, 2, 2});
  for (const auto dtype : {torch::kByte, torch::kChar, torch::kShort, torch::kInt, torch::kBool}) {
    const std::string phrase = "not implemented for '" + std::string(c10::toString(dtype)) + "'";
    c.scope(c10::toString(dtype), [&] {
      SAYS(phrase, torch::conv_transpose1d(x.select(2, 0).to(dtype), w.select(2, 0).to(dtype)));
      SAYS(phrase, torch::conv_transpose2d(x.to(dtype), w.to(dtype)));
      SAYS(phrase, torch::conv_transpose3d(x.unsqueeze(0).to(dtype), w.unsqueeze(0).to(dtype)));
    });
  }
  c.out("long", torch::conv_transpose2d(x.to(torch::kLong), w.to(torch::kLong)));
  BOOL(torch::conv2d(x.to(torch::kBool), w.to(torch::kBool)));
}

PARITY_CASE(bad_dtypes, halves) {
  for (const auto dtype : {torch::kHalf, torch::kBFloat16}) {
    const std::string phrase = "not implemented for '" + std::string(c10::toString(dtype)) + "'";
    const Tensor m = torch::ones({2, 3}).to(dtype), host = m.cpu();  // other devices pool and trace halves
    c.scope(c10::toString(dtype), [&] {
      SAYS(phrase, torch::cdist(m, m));
      SAYS(phrase, torch::cdist(m, m, 1));
      c.out("cdist.by_products", torch::cdist(torch::ones({30, 3}).to(dtype), m));
      SAYS(phrase, torch::pdist(m));
      SAYS(phrase, torch::avg_pool3d(host.reshape({1, 1, 2, 3}), 1));
      SAYS(phrase, torch::trace(host));
      SAYS(phrase, torch::special_zeta(m, m));
    });
  }
}

PARITY_CASE(bad_dtypes, of_bags_and_sums) {
  const Tensor indices = torch::tensor({0, 1}), offsets = torch::tensor({0});
  for (const auto dtype : {torch::kLong, torch::kByte, torch::kBool, torch::kComplexFloat}) {
    c.scope(c10::toString(dtype), [&] {
      SAYS("to have one of the following scalar types: Half, BFloat16, Float, Double; but got ",
           torch::embedding_bag(torch::ones({2, 3}).to(dtype), indices, offsets));
    });
  }
  LONG(torch::logcumsumexp(indices, 0));
  BOOL(torch::logcumsumexp(indices.to(torch::kBool), 0));
  SAYS("not implemented for 'ComplexFloat'",
       torch::upsample_bicubic2d(torch::ones({1, 1, 2, 2}).to(torch::kComplexFloat), {3, 3}, false));
}

PARITY_CASE(bad_dtypes, numbers_of_elements) {
  const Tensor f = torch::ones({3}), h = f.to(torch::kHalf), b = f.to(torch::kBFloat16), u = f.to(torch::kByte),
               s = f.to(torch::kChar), i = f.to(torch::kInt), all = f.to(torch::kBool), at = torch::tensor({0});
  SAYS("value cannot be converted to type float without overflow", torch::clamp(f, -1e39, 1));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::clamp(h, -1e5, 1e5));
  SAYS("value cannot be converted to type c10::Half without overflow", h.clone().clamp_(-1e5, 1e5));
  SAYS("value cannot be converted to type c10::BFloat16 without overflow", torch::clamp(b, -1e39, 1e39));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::clamp(u, -1, 300));
  SAYS("value cannot be converted to type int8_t without overflow", torch::clamp(s, -300, 300));
  SAYS("value cannot be converted to type int without overflow", torch::clamp(i, -1, int64_t{1} << 40));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::clamp_min(h, 1e5));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::clamp_max(u, 300));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::hardtanh(h, -1e5, 1e5));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::hardtanh(u, 0, 300));
  SAYS("cannot do hardtanh on an unsigned type with negative limits", torch::hardtanh(u, -1, 1));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::linspace(0, 1e5, 3, torch::kHalf));
  SAYS("value cannot be converted to type float without overflow", torch::linspace(0, 1e39, 3));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::linspace(0, 300, 3, torch::kByte));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::threshold(h, 0, 1e5));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::hardshrink(h, 1e5));
  SAYS("lambda must be in range [0, 65504] for input dtype Half", torch::softshrink(h, 1e5));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::pow(h, 1e5));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::pow(u, 300));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::logit(h, 1e5));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::histc(h, 10, 0, 1e5));
  SAYS("value cannot be converted to type float without overflow", torch::where(all, 1e39, f));
  SAYS("value cannot be converted to type float without overflow",
       f.clone().masked_fill_(all, torch::tensor(1e39, torch::kDouble)));
  SAYS("value cannot be converted to type uint8_t without overflow", u.masked_fill(all, torch::tensor(300)));
  SAYS("value cannot be converted to type float without overflow", torch::tensor({1e39}, torch::kFloat));
  SAYS("value cannot be converted to type float without overflow", torch::tensor({{1.0}, {-1e39}}, torch::kFloat));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::tensor({1, 300}, torch::kByte));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::tensor({-300}, torch::kByte));
  SAYS("value cannot be converted to type int8_t without overflow", torch::tensor({128, -128}, torch::kChar));
  SAYS("value cannot be converted to type int64_t without overflow", torch::tensor({1e30}, torch::kLong));
  c.out("infinite bounds", torch::clamp(h, -INFINITY, INFINITY));
  c.out("edges", torch::tensor({127, -128}, torch::kChar));
  c.out("wraps", torch::tensor({-1, 255}, torch::kByte));
  c.out("infinities", torch::tensor({INFINITY, -INFINITY}, torch::kHalf));
  c.out("one step", torch::linspace(0, 1e5, 1, torch::kHalf));
  c.out("among bytes", torch::bucketize(300, u));
}

PARITY_CASE(bad_dtypes, factors) {
  const Tensor f = torch::ones({3}), h = f.to(torch::kHalf), u = f.to(torch::kByte), i = f.to(torch::kInt);
  const Tensor m = torch::ones({3, 3}), at = torch::tensor({0});
  SAYS("value cannot be converted to type float without overflow", torch::add(f, f, 1e39));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::add(h, h, 1e5));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::add(h, 1, 1e5));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::sub(h, h, 1e5));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::rsub(h, h, 1e5));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::sub(u, u, 300));
  SAYS("value cannot be converted to type int without overflow", torch::add(i, i, int64_t{1} << 40));
  SAYS("value cannot be converted to type float without overflow", torch::lerp(f, f, 1e39));
  SAYS("value cannot be converted to type float without overflow", torch::addcmul(f, f, f, 1e39));
  SAYS("value cannot be converted to type uint8_t without overflow", torch::addcmul(u, u, u, 300));
  SAYS("value cannot be converted to type float without overflow", f.clone().addcdiv_(f, f, 1e39));
  SAYS("value cannot be converted to type float without overflow", torch::addmm(m, m, m, 1e39, 1));
  SAYS("value cannot be converted to type float without overflow", torch::addmv(f, m, f, 1e39, 1));
  SAYS("value cannot be converted to type c10::Half without overflow", torch::addr(h, h, h, 1, 1e5));
  SAYS("value cannot be converted to type float without overflow", f.clone().index_add_(0, at, torch::ones({1}), 1e39));
  SAYS("value cannot be converted to type float without overflow", torch::leaky_relu(f, 1e39));
  SAYS("value cannot be converted to type float without overflow", torch::elu(f, 1e39));
  SAYS("value cannot be converted to type float without overflow", torch::celu(f, 1e39));
  SAYS("value cannot be converted to type float without overflow", torch::softplus(f, 1e39, 20));
  // Halves are multiplied in float.
  c.out("half.mul", torch::mul(h, 1e5));
  c.out("half.leaky_relu", torch::leaky_relu(-h, 1e5));
  c.out("half.addcmul", torch::addcmul(h, h, h, 1e5));
  c.out("half.lerp", torch::lerp(h, h * 2, 3e4));
}

// Refused for their type even where they are one.
PARITY_CASE(bad_dtypes, ones_as_factors) {
  const Tensor f = torch::ones({3}), i = torch::arange(3);
  const c10::complex<double> one(1, 0);
  SAYS("Boolean alpha only supported for Boolean results", torch::add(f, f, true));
  SAYS("Boolean alpha only supported for Boolean results", torch::add(i, 1, true));
  SAYS("Boolean alpha only supported for Boolean results", torch::sub(i, i, true));
  SAYS("Boolean alpha only supported for Boolean results", i.clone().sub_(i, true));
  SAYS("Boolean alpha only supported for Boolean results", torch::rsub(i, i, true));
  SAYS("For integral input tensors, argument alpha must not be a floating point number", torch::add(i, i, 1.0));
  SAYS("For integral input tensors, argument alpha must not be a floating point number", i.clone().add_(1, 1.0));
  SAYS("For non-complex input tensors, argument alpha must not be a complex number", torch::add(f, f, one));
  c.out("bools", torch::add(f > 0, i > 0, true));
}

PARITY_CASE(bad_dtypes, index_copy_wants_long) {
  const Tensor x = c.randn({3, 4}), rows = c.randn({2, 4}), at = torch::tensor({0, 2}, torch::kInt);
  SAYS("Expected a long tensor for index, but got Int", torch::index_copy(x, 0, at, rows));
  SAYS("Expected a long tensor for index, but got Int", x.clone().index_copy_(0, at, rows));
  SAYS("Expected a long tensor for index, but got Short", torch::index_copy(x, 0, at.to(torch::kShort), rows));
}

PARITY_CASE(bad_dtypes, products_keep_theirs) {
  for (const auto t : {torch::kByte, torch::kInt, torch::kShort}) {
    const Tensor x = torch::arange(1, 7).to(t);
    c.scope(toString(t), [&] {
      c.out("addbmm", torch::addbmm(x.slice(0, 0, 2), x.reshape({1, 2, 3}), x.reshape({1, 3, 2})));
      c.out("bilinear",
            torch::bilinear(x.reshape({2, 3}), x.reshape({2, 3}), torch::arange(9).to(t).reshape({1, 3, 3})));
      if (t != torch::kByte)  // LibTorch's -1 as a byte is 255 or 129, by the place in the vector
        c.out("affine", torch::affine_grid_generator(x.reshape({1, 2, 3}), {1, 1, 3, 3}, true));
    });
  }
}

PARITY_CASE(bad_dtypes, resampled_bytes) {
  const Tensor small = c.randint(0, 256, {2, 3, 5, 7}, torch::kByte),
               large = c.randint(0, 256, {1, 4, 40, 33}, torch::kByte);
  const Tensor steps = torch::arange(2).mul(255).to(torch::kByte).repeat({8}).reshape({1, 1, 4, 4});
  for (const bool corners : {false, true}) {
    c.scope(corners ? "corners" : "plain", [&] {
      c.out("bilinear", torch::upsample_bilinear2d(small, {9, 16}, corners));
      c.out("bilinear.less", torch::upsample_bilinear2d(large, {11, 50}, corners));
      c.out("bilinear.one", torch::upsample_bilinear2d(large, {40, 12}, corners));
      c.out("bicubic", torch::upsample_bicubic2d(small, {9, 16}, corners));
      c.out("bicubic.steps", torch::upsample_bicubic2d(steps, {11, 9}, corners));
      c.out("scaled", torch::upsample_bilinear2d(small, {12, 17}, corners, 2.5, 2.5));
    });
  }
  c.out("antialiased", torch::_upsample_bilinear2d_aa(large, {13, 10}, false));
  c.out("antialiased cubic", torch::_upsample_bicubic2d_aa(large, {13, 50}, false));
  c.out("nearest", torch::upsample_nearest2d(small, {9, 16}));
}
