#include "cpu/conv.h"

#include <algorithm>
#include <atomic>
#include <string_view>

#include "cpu/gemm.h"
#include "cpu/onednn/conv_problem.h"
#include "cpu/onednn/describe.h"
#include "cpu/parallel.h"
#include "cpu/pool.h"

namespace hb::cpu {
namespace {

using dnnl::memory;

dnnl::primitive_attr user_scratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

template <class Desc>
std::string_view implementation(const Desc& pd) {
  return pd.impl_info_str();
}

dnnl::convolution_forward::primitive_desc forward_desc(const ConvProblem& p) {
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto kind = dnnl::prop_kind::forward_training;
  const auto right = p.right_padding();
  using Forward = dnnl::convolution_forward;
  // Its kernel of batched products takes a row of outputs at a time, which is half as fast as the plain one on short
  // rows (512 channels, 4x4, f32: 128 against 254 GFLOP/s a core).
  const auto choose = [&](Forward::primitive_desc& pd) {
    if (p.type != memory::data_type::f32 || p.y.back() > 4 || !implementation(pd).starts_with("brgconv:")) return;
    const Forward::primitive_desc first = pd;
    if (!pd.next_impl() || !implementation(pd).starts_with("jit:avx512_core")) pd = first;
  };
  return p.bias ? describe_chosen<Forward>(choose, onednn_engine(), user_scratch(), kind, algorithm, p.desc_x(),
                                           p.desc_weight(), p.desc_bias(), p.desc_y(), p.stride, p.dilation, p.padding,
                                           right)
                : describe_chosen<Forward>(choose, onednn_engine(), user_scratch(), kind, algorithm, p.desc_x(),
                                           p.desc_weight(), p.desc_y(), p.stride, p.dilation, p.padding, right);
}

// A reference implementation is one plain loop: worse than what stands beside this file.
template <class Desc>
bool is_slow(const Desc& pd) {
  return implementation(pd).starts_with("ref");
}

// An entry without a primitive says that the case is slow.
bool usable(const Prepared& p) { return static_cast<bool>(p.primitive); }

// Copies weights between the plain format and the one that the primitive chose; the same address where they agree.
Prepared& weight_reorder(const ConvProblem& p, const memory::desc& from, const memory::desc& to, int64_t kind) {
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

/// Weights in the format that a primitive chose.
struct Arranged {
  memory::desc format;
  const void* data = nullptr;
};

/// `ready` where it has the format, else a copy of the calling thread's.
const void* weights_for(const ConvProblem& p, const memory::desc& wanted, const Tensor& weight, const Arranged& ready,
                        int64_t kind, Scratch slot = Scratch::weights) {
  const void* plain = weight.impl().raw_data();
  if (wanted == p.plain_weight()) return plain;
  if (ready.data && ready.format == wanted) return ready.data;
  void* buffer = scratch_buffer(slot, wanted.get_size());
  weight_reorder(p, p.plain_weight(), wanted, kind).run("convolution", {plain, buffer});
  return buffer;
}

/// Calls part(problem, first image, number of the part) for parts of the batch on all threads; false where one of them
/// was. A batch of one part is left to oneDNN's own threads.
template <class F>
bool over_batch(ConvProblem p, int parts, const F& part) {
  constexpr int64_t kWork = 1 << 18;  // multiplications per thread
  if (parts > 1) {
    std::atomic<bool> done{true};
    parallel_ranges(0, p.x[0], parts, [&](int64_t from, int64_t to, int i) {
      if (!part(p.of_images(to - from), from, i)) done.store(false);
    });
    return done.load();
  }
  p.threads = threads_for(p.work(), kWork);
  if (p.threads > 1) return part(p, 0, 0);
  OneThread one;
  return part(p, 0, 0);
}

/// How many threads share a batch.
int batch_parts(const ConvProblem& p) {
  constexpr int64_t kWork = 1 << 18;
  const int threads = threads_for(p.work(), kWork);
  return p.x[0] >= threads ? threads : 1;
}

/// How many parts of a batch the threads share where parts have nothing in common but weights: several per thread if
/// they take long, so that a thread whose core another process takes leaves most of them to the others.
int batch_pieces(const ConvProblem& p) {
  const int64_t piece = p.type == memory::data_type::f32 ? 1 << 26 : 1 << 27;  // multiplications
  const int threads = batch_parts(p);
  if (threads == 1) return 1;
  const int64_t images = std::max<int64_t>(1, piece * p.x[0] / p.work());
  return std::max(threads, static_cast<int>((p.x[0] + images - 1) / images));
}

/// Addresses of a part.
struct ForwardData {
  const void *x, *bias;
  void* y;
};

Prepared& prepared_forward(const ConvProblem& p) {
  return prepared(p.key(10), [&] {
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
}

bool forward_part(const ConvProblem& p, const ForwardData& data, const Tensor& weight, const Arranged& ready) {
  Prepared& conv = prepared_forward(p);
  if (!usable(conv)) return false;
  const void* w = weights_for(p, conv.weights, weight, ready, 11);
  if (p.bias) {
    conv.run("convolution", {data.x, w, data.y, data.bias});
  } else {
    conv.run("convolution", {data.x, w, data.y});
  }
  return true;
}

Prepared& prepared_backward_data(const ConvProblem& p) {
  return prepared(p.key(12), [&] {
    Prepared c;
    HB_ONEDNN("convolution_backward", {
      const auto pd = describe_backward<dnnl::convolution_backward_data>(
          onednn_engine(), user_scratch(), forward_desc(p), dnnl::algorithm::convolution_direct, p.desc_x(),
          p.desc_weight(), p.desc_y(), p.stride, p.dilation, p.padding, p.right_padding());
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
}

bool backward_data_part(const ConvProblem& p, void* grad_x, const void* grad_y, const Tensor& weight,
                        const Arranged& ready) {
  Prepared& conv = prepared_backward_data(p);
  if (!usable(conv)) return false;
  const void* w = weights_for(p, conv.weights, weight, ready, 13);
  conv.run("convolution_backward", {grad_y, w, grad_x});
  return true;
}

/// oneDNN 2.6 and 3.2 gather the pixels of a strided 1x1 convolution a vector of channels at a time, and where it has
/// fewer channels they write behind the end of their scratch memory.
bool writes_too_far(const ConvProblem& p, const dnnl::convolution_backward_weights::primitive_desc& pd) {
  constexpr int64_t kVector = 16;
  const int64_t channels = p.weight[p.weight.size() - p.stride.size() - 1];
  const bool strided = std::any_of(p.stride.begin(), p.stride.end(), [](int64_t s) { return s > 1; });
  return strided && channels < kVector && implementation(pd).starts_with("jit_1x1");
}

/// The bf16 implementation of both versions gives wrong weights for images narrower than the stride, for volumes, and
/// for dilated convolutions unless their channels fill vectors; it writes outside of its memory there, too.
bool computes_wrong(const ConvProblem& p, const dnnl::convolution_backward_weights::primitive_desc& pd) {
  constexpr int64_t kVector = 16;
  const bool dilated = std::any_of(p.dilation.begin(), p.dilation.end(), [](int64_t d) { return d > 0; });
  const bool grouped = p.weight.size() > p.stride.size() + 2;
  const bool whole = !grouped && p.weight[0] % kVector == 0 && p.weight[1] % kVector == 0;
  const bool volume = p.stride.size() == 3;
  return ((dilated && !whole) || volume || p.x.back() < p.stride.back()) && implementation(pd).starts_with("jit_bf16:");
}

bool is_broken(const ConvProblem& p, const dnnl::convolution_backward_weights::primitive_desc& pd) {
  return writes_too_far(p, pd) || computes_wrong(p, pd);
}

/// What then remains for bf16, a product of gathered patches, takes several times as long as f32 with its copies.
bool is_slower_than_float(const ConvProblem& p, const dnnl::convolution_backward_weights::primitive_desc& pd) {
  return p.type == memory::data_type::bf16 && implementation(pd).find("gemm") != std::string_view::npos;
}

dnnl::convolution_backward_weights::primitive_desc weight_desc(const ConvProblem& p) {
  using Backward = dnnl::convolution_backward_weights;
  const auto choose = [&p](Backward::primitive_desc& pd) {
    while (is_broken(p, pd) && pd.next_impl()) {
    }
  };
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto right = p.right_padding();
  if (p.bias)
    return describe_backward_chosen<Backward>(choose, onednn_engine(), user_scratch(), forward_desc(p), algorithm,
                                              p.desc_x(), p.desc_gradient(), p.desc_bias_gradient(), p.desc_y(),
                                              p.stride, p.dilation, p.padding, right);
  return describe_backward_chosen<Backward>(choose, onednn_engine(), user_scratch(), forward_desc(p), algorithm,
                                            p.desc_x(), p.desc_gradient(), p.desc_y(), p.stride, p.dilation, p.padding,
                                            right);
}

/// Addresses of a part; gradients of p.gradient_type.
struct WeightData {
  const void *x, *grad_y;
  void *grad_weight, *grad_bias;
};

bool backward_weight_part(const ConvProblem& p, const WeightData& data) {
  Prepared& conv = prepared(p.key(14), [&] {
    Prepared c;
    HB_ONEDNN("convolution_backward", {
      const auto pd = weight_desc(p);
      if (is_slow(pd) || is_broken(p, pd) || is_slower_than_float(p, pd)) return c;
      c.primitive = dnnl::convolution_backward_weights(pd);
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
  const bool direct = conv.weights == p.plain_gradient();
  void* out = direct ? data.grad_weight : scratch_buffer(Scratch::weights, conv.weights.get_size());
  if (p.bias) {
    conv.run("convolution_backward", {data.x, data.grad_y, out, data.grad_bias});
  } else {
    conv.run("convolution_backward", {data.x, data.grad_y, out});
  }
  if (!direct) {
    const memory::desc from = conv.weights;
    weight_reorder(p, from, p.plain_gradient(), 15).run("convolution_backward", {out, data.grad_weight});
  }
  return true;
}

const char* at_image(const Tensor& t, const memory::dims& dims, int64_t image) {
  return static_cast<const char*>(t.impl().raw_data()) +
         image * ConvProblem::image(dims) * static_cast<int64_t>(element_size(t.scalar_type()));
}

/// The weights for many pieces, arranged once; none where there is one piece per thread or fewer.
Arranged arranged(const ConvProblem& p, int pieces, Prepared& (*primitive_of)(const ConvProblem&), const Tensor& weight,
                  int64_t kind) {
  if (pieces <= batch_parts(p)) return {};
  OneThread one;  // as in the pieces: a primitive keeps the number of threads that it was made for
  const ConvProblem first = p.of_images((p.x[0] + pieces - 1) / pieces);
  const Prepared& conv = primitive_of(first);
  if (!usable(conv)) return {};
  // Not where a piece of the calling thread would put weights of another format.
  return {conv.weights, weights_for(first, conv.weights, weight, {}, kind, Scratch::patches)};
}

/// out = the sum of `parts` runs of n floats.
void add_parts(const Tensor& out, const float* parts, int count, int64_t stride) {
  if (!out.defined()) return;
  constexpr int64_t kRun = 256;
  auto* to = static_cast<char*>(out.impl().raw_data());
  const auto size = static_cast<int64_t>(element_size(out.scalar_type()));
  parallel_for(0, out.numel(), kGrain, [&](int64_t from, int64_t end) {
    float sum[kRun];
    for (int64_t i = from; i < end; i += kRun) {
      const int64_t n = std::min(kRun, end - i);
      std::copy_n(parts + i, n, sum);
      for (int part = 1; part < count; ++part)
        for (int64_t j = 0; j < n; ++j) sum[j] += parts[part * stride + i + j];
      gemm_loops().from_float(out.scalar_type(), sum, to + i * size, n);
    }
  });
}

}  // namespace

bool onednn_conv_forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         const ConvParams& params) {
  const ConvProblem p(x, y, weight, bias.defined(), params);
  const int pieces = batch_pieces(p);
  const Arranged ready = arranged(p, pieces, prepared_forward, weight, 11);
  return over_batch(p, pieces, [&](const ConvProblem& part, int64_t from, int) {
    const ForwardData data{at_image(x, p.x, from), bias.defined() ? bias.impl().raw_data() : nullptr,
                           const_cast<char*>(at_image(y, p.y, from))};
    return forward_part(part, data, weight, ready);
  });
}

bool onednn_conv_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight,
                               const ConvParams& params) {
  const ConvProblem p(grad_x, grad_y, weight, false, params);
  const int pieces = batch_pieces(p);
  const Arranged ready = arranged(p, pieces, prepared_backward_data, weight, 13);
  return over_batch(p, pieces, [&](const ConvProblem& part, int64_t from, int) {
    return backward_data_part(part, const_cast<char*>(at_image(grad_x, p.x, from)), at_image(grad_y, p.y, from), weight,
                              ready);
  });
}

bool onednn_conv_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x,
                                 const Tensor& grad_y, const ConvParams& params) {
  ConvProblem p(x, grad_y, grad_weight, grad_bias.defined(), params);
  const int parts = batch_parts(p);
  if (parts == 1) {
    return over_batch(p, 1, [&](const ConvProblem& part, int64_t, int) {
      return backward_weight_part(part, {x.impl().raw_data(), grad_y.impl().raw_data(), grad_weight.impl().raw_data(),
                                         p.bias ? grad_bias.impl().raw_data() : nullptr});
    });
  }
  // Each part has gradients of its own, in float, whose sum is rounded once.
  p.gradient_type = memory::data_type::f32;
  const int64_t weights = (grad_weight.numel() + 15) / 16 * 16, stride = weights + (p.y[1] + 15) / 16 * 16;
  auto* sums = static_cast<float*>(scratch_buffer(Scratch::patches, parts * stride * sizeof(float)));
  const bool done = over_batch(p, parts, [&](const ConvProblem& part, int64_t from, int i) {
    float* mine = sums + i * stride;
    return backward_weight_part(part, {at_image(x, p.x, from), at_image(grad_y, p.y, from), mine, mine + weights});
  });
  if (!done) return false;
  add_parts(grad_weight, sums, parts, stride);
  add_parts(grad_bias, sums + weights, parts, stride);
  return true;
}

}  // namespace hb::cpu
