#include "cpu/conv.h"

#include <string_view>

#include "cpu/onednn/primitive.h"
#include "cpu/parallel.h"

namespace hb::cpu {
namespace {

using dnnl::memory;

// What oneDNN is asked for; one spatial dimension becomes two.
struct Problem {
  memory::dims x, y, weight, stride, dilation, padding;
  memory::format_tag data_tag, weight_tag;
  memory::data_type type;
  bool bias;

  Problem(const Tensor& tx, const Tensor& ty, const Tensor& tw, bool has_bias, const ConvParams& p) : bias(has_bias) {
    type = onednn_type(tx.scalar_type());
    const auto dims = [&](const Tensor& t) {
      memory::dims d(t.impl().sizes().begin(), t.impl().sizes().end());
      if (p.dims == 1) d.insert(d.begin() + 2, 1);
      return d;
    };
    x = dims(tx), y = dims(ty), weight = dims(tw);
    if (p.groups > 1) {
      weight[0] /= p.groups;
      weight.insert(weight.begin(), p.groups);
    }
    if (p.dims == 1) stride = {1}, dilation = {0}, padding = {0};
    for (int d = 0; d < p.dims; ++d) {
      stride.push_back(p.stride[d]), dilation.push_back(p.dilation[d] - 1), padding.push_back(p.padding[d]);
    }
    using tag = memory::format_tag;
    const bool volume = p.dims == 3;
    data_tag = volume ? tag::ndhwc : tag::nhwc;
    weight_tag = p.groups > 1 ? (volume ? tag::goidhw : tag::goihw) : (volume ? tag::oidhw : tag::oihw);
  }

  // The sum of padding and input decides the output; a transposed convolution may be given more than it reaches.
  memory::dims right_padding() const {
    memory::dims r = padding;
    for (size_t d = 0; d < r.size(); ++d) {
      const int64_t kernel = (weight[weight.size() - r.size() + d] - 1) * (dilation[d] + 1) + 1;
      if ((x[2 + d] + 2 * padding[d] - kernel) / stride[d] + 1 != y[2 + d])
        r[d] = (y[2 + d] - 1) * stride[d] + kernel - x[2 + d] - padding[d];
    }
    return r;
  }
  memory::desc desc_x() const { return {x, type, data_tag}; }
  memory::desc desc_y() const { return {y, type, data_tag}; }
  memory::desc desc_weight() const { return {weight, type, memory::format_tag::any}; }
  memory::desc plain_weight() const { return {weight, type, weight_tag}; }
  memory::desc desc_bias() const { return {{y[1]}, type, memory::format_tag::a}; }

  PrimitiveKey key(int64_t kind) const {
    PrimitiveKey k{kind, static_cast<int64_t>(type), bias, get_num_threads(), static_cast<int64_t>(weight.size())};
    for (const auto* list : {&x, &y, &weight, &stride, &dilation, &padding})
      for (int64_t v : *list) k.add(v);
    return k;
  }
};

dnnl::primitive_attr user_scratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

dnnl::convolution_forward::primitive_desc forward_desc(const Problem& p) {
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto kind = dnnl::prop_kind::forward_training;
  const auto right = p.right_padding();
  const auto desc = p.bias
                        ? dnnl::convolution_forward::desc(kind, algorithm, p.desc_x(), p.desc_weight(), p.desc_bias(),
                                                          p.desc_y(), p.stride, p.dilation, p.padding, right)
                        : dnnl::convolution_forward::desc(kind, algorithm, p.desc_x(), p.desc_weight(), p.desc_y(),
                                                          p.stride, p.dilation, p.padding, right);
  dnnl::convolution_forward::primitive_desc pd(desc, user_scratch(), onednn_engine());
  // Its kernel of batched products takes a row of outputs at a time, which is half as fast as the plain one on short
  // rows (512 channels, 4x4, f32: 128 against 254 GFLOP/s a core).
  const auto is = [&](std::string_view name) {
    return std::string_view(pd.impl_info_str()).substr(0, name.size()) == name;
  };
  if (p.type == memory::data_type::f32 && p.y.back() <= 4 && is("brgconv:")) {
    const dnnl::convolution_forward::primitive_desc first = pd;
    if (!pd.next_impl() || !is("jit:avx512_core")) pd = first;
  }
  return pd;
}

// A reference implementation is one plain loop: worse than what stands beside this file.
template <class Desc>
bool is_slow(const Desc& pd) {
  return std::string_view(pd.impl_info_str()).substr(0, 3) == "ref";
}

// An entry without a primitive says that the case is slow.
bool usable(const Prepared& p) { return static_cast<bool>(p.primitive); }

// Copies weights between the plain format and the one that the primitive chose; the same address where they agree.
Prepared& weight_reorder(const Problem& p, const memory::desc& from, const memory::desc& to, int64_t kind) {
  return prepared(p.key(kind), [&] {
    Prepared r;
    HB_ONEDNN("convolution", {
      const dnnl::reorder::primitive_desc pd(onednn_engine(), from, onednn_engine(), to, user_scratch());
      r.primitive = dnnl::reorder(pd);
      r.bind(DNNL_ARG_FROM, from);
      r.bind(DNNL_ARG_TO, to);
      r.finish(pd.scratchpad_desc());
    });
    return r;
  });
}

const void* weights_for(const Problem& p, const memory::desc& wanted, const Tensor& weight, int64_t kind) {
  const void* plain = weight.impl().raw_data();
  if (wanted == p.plain_weight()) return plain;
  void* buffer = scratch_buffer(Scratch::weights, wanted.get_size());
  weight_reorder(p, p.plain_weight(), wanted, kind).run("convolution", {plain, buffer});
  return buffer;
}

}  // namespace

bool onednn_conv_forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         const ConvParams& params) {
  const Problem p(x, y, weight, bias.defined(), params);
  Prepared& conv = prepared(p.key(10), [&] {
    Prepared c;
    HB_ONEDNN("convolution", {
      const auto pd = forward_desc(p);
      if (is_slow(pd)) return c;
      c.primitive = dnnl::convolution_forward(pd);
      c.weights = pd.weights_desc();
      c.bind(DNNL_ARG_SRC, pd.src_desc());
      c.bind(DNNL_ARG_WEIGHTS, pd.weights_desc());
      c.bind(DNNL_ARG_DST, pd.dst_desc());
      if (p.bias) c.bind(DNNL_ARG_BIAS, pd.bias_desc());
      c.finish(pd.scratchpad_desc());
    });
    return c;
  });
  if (!usable(conv)) return false;
  const void* w = weights_for(p, conv.weights, weight, 11);
  if (p.bias) {
    conv.run("convolution", {x.impl().raw_data(), w, y.impl().raw_data(), bias.impl().raw_data()});
  } else {
    conv.run("convolution", {x.impl().raw_data(), w, y.impl().raw_data()});
  }
  return true;
}

bool onednn_conv_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight,
                               const ConvParams& params) {
  const Problem p(grad_x, grad_y, weight, false, params);
  Prepared& conv = prepared(p.key(12), [&] {
    Prepared c;
    HB_ONEDNN("convolution_backward", {
      const dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, p.desc_x(), p.desc_weight(),
                                                       p.desc_y(), p.stride, p.dilation, p.padding, p.right_padding());
      const dnnl::convolution_backward_data::primitive_desc pd(desc, user_scratch(), onednn_engine(), forward_desc(p));
      if (is_slow(pd)) return c;
      c.primitive = dnnl::convolution_backward_data(pd);
      c.weights = pd.weights_desc();
      c.bind(DNNL_ARG_DIFF_DST, pd.diff_dst_desc());
      c.bind(DNNL_ARG_WEIGHTS, pd.weights_desc());
      c.bind(DNNL_ARG_DIFF_SRC, pd.diff_src_desc());
      c.finish(pd.scratchpad_desc());
    });
    return c;
  });
  if (!usable(conv)) return false;
  const void* w = weights_for(p, conv.weights, weight, 13);
  conv.run("convolution_backward", {grad_y.impl().raw_data(), w, grad_x.impl().raw_data()});
  return true;
}

bool onednn_conv_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x,
                                 const Tensor& grad_y, const ConvParams& params) {
  const Problem p(x, grad_y, grad_weight, grad_bias.defined(), params);
  Prepared& conv = prepared(p.key(14), [&] {
    Prepared c;
    HB_ONEDNN("convolution_backward", {
      using Backward = dnnl::convolution_backward_weights;
      const auto algorithm = dnnl::algorithm::convolution_direct;
      const auto right = p.right_padding();
      const auto desc = p.bias ? Backward::desc(algorithm, p.desc_x(), p.desc_weight(), p.desc_bias(), p.desc_y(),
                                                p.stride, p.dilation, p.padding, right)
                               : Backward::desc(algorithm, p.desc_x(), p.desc_weight(), p.desc_y(), p.stride,
                                                p.dilation, p.padding, right);
      const Backward::primitive_desc pd(desc, user_scratch(), onednn_engine(), forward_desc(p));
      if (is_slow(pd)) return c;
      c.primitive = Backward(pd);
      c.weights = pd.diff_weights_desc();
      c.bind(DNNL_ARG_SRC, pd.src_desc());
      c.bind(DNNL_ARG_DIFF_DST, pd.diff_dst_desc());
      c.bind(DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc());
      if (p.bias) c.bind(DNNL_ARG_DIFF_BIAS, pd.diff_bias_desc());
      c.finish(pd.scratchpad_desc());
    });
    return c;
  });
  if (!usable(conv)) return false;
  void* plain = grad_weight.impl().raw_data();
  const bool direct = conv.weights == p.plain_weight();
  void* out = direct ? plain : scratch_buffer(Scratch::weights, conv.weights.get_size());
  if (p.bias) {
    conv.run("convolution_backward", {x.impl().raw_data(), grad_y.impl().raw_data(), out, grad_bias.impl().raw_data()});
  } else {
    conv.run("convolution_backward", {x.impl().raw_data(), grad_y.impl().raw_data(), out});
  }
  if (!direct) {
    const memory::desc from = conv.weights;
    weight_reorder(p, from, p.plain_weight(), 15).run("convolution_backward", {out, plain});
  }
  return true;
}

}  // namespace hb::cpu
