#pragma once

#include <algorithm>

#include "cpu/conv.h"
#include "cpu/onednn/primitive.h"

namespace hb::cpu {

/// What oneDNN is asked for; one spatial dimension becomes two.
struct ConvProblem {
  dnnl::memory::dims x, y, weight, stride, dilation, padding;
  dnnl::memory::format_tag data_tag, weight_tag;
  dnnl::memory::data_type type, gradient_type;  // of the data; of the weight's gradient
  bool bias;
  int threads = 1;  // that oneDNN computes with

  ConvProblem(const Tensor& tx, const Tensor& ty, const Tensor& tw, bool has_bias, const ConvParams& p)
      : bias(has_bias) {
    type = gradient_type = onednn_type(tx.scalar_type());
    const auto dims = [&](const Tensor& t) {
      dnnl::memory::dims d(t.impl().sizes().begin(), t.impl().sizes().end());
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
    using tag = dnnl::memory::format_tag;
    const bool volume = p.dims == 3;
    data_tag = volume ? tag::ndhwc : tag::nhwc;
    weight_tag = p.groups > 1 ? (volume ? tag::goidhw : tag::goihw) : (volume ? tag::oidhw : tag::oihw);
  }

  // The sum of padding and input decides the output; a transposed convolution may be given more than it reaches.
  dnnl::memory::dims right_padding() const {
    dnnl::memory::dims r = padding;
    for (size_t d = 0; d < r.size(); ++d) {
      const int64_t kernel = (weight[weight.size() - r.size() + d] - 1) * (dilation[d] + 1) + 1;
      if ((x[2 + d] + 2 * padding[d] - kernel) / stride[d] + 1 != y[2 + d])
        r[d] = (y[2 + d] - 1) * stride[d] + kernel - x[2 + d] - padding[d];
    }
    return r;
  }
  dnnl::memory::desc desc_x() const { return {x, type, data_tag}; }
  dnnl::memory::desc desc_y() const { return {y, type, data_tag}; }
  dnnl::memory::desc desc_weight() const { return {weight, type, dnnl::memory::format_tag::any}; }
  dnnl::memory::desc plain_weight() const { return {weight, type, weight_tag}; }
  dnnl::memory::desc desc_bias() const { return {{y[1]}, type, dnnl::memory::format_tag::a}; }
  dnnl::memory::desc desc_gradient() const { return {weight, gradient_type, dnnl::memory::format_tag::any}; }
  dnnl::memory::desc plain_gradient() const { return {weight, gradient_type, weight_tag}; }
  dnnl::memory::desc desc_bias_gradient() const { return {{y[1]}, gradient_type, dnnl::memory::format_tag::a}; }

  ConvProblem of_images(int64_t count) const {
    ConvProblem part = *this;
    part.x[0] = part.y[0] = count;
    return part;
  }
  static int64_t image(const dnnl::memory::dims& data) {
    int64_t elements = 1;
    for (size_t d = 1; d < data.size(); ++d) elements *= data[d];
    return elements;
  }
  /// Multiplications.
  int64_t work() const {
    int64_t each = 1;  // of an output
    for (int64_t size : weight) each *= size;
    return x[0] * image(y) * std::max<int64_t>(1, each / y[1]);
  }

  PrimitiveKey key(int64_t kind) const {
    PrimitiveKey k{kind,    static_cast<int64_t>(type),         static_cast<int64_t>(gradient_type), bias,
                   threads, static_cast<int64_t>(weight.size())};
    for (const auto* list : {&x, &y, &weight, &stride, &dilation, &padding})
      for (int64_t v : *list) k.add(v);
    return k;
  }
};

}  // namespace hb::cpu
