// Products, embeddings, dropout, shapes, padding and resizing.
#include <cmath>

#include <halfbridge/ops.h>
#include <halfbridge/ops/nn.h>

#include <halfbridge/bridge/nn/embedding.h>
#include <halfbridge/bridge/nn/vision.h>

#include "declarations.h"

namespace hb::layer_diff::replay {

namespace F = hb::bridge::nn::functional;

namespace {

Tensors linear(Run& run) {
  const Tensor weight = run.operand("weight", 1);
  HB_CHECK(weight.defined(), "[replay] the weight of this layer is not in the trace");
  return {hb::linear(run.input(0), weight, run.operand("bias", 2))};
}
Tensors bilinear(Run& run) {
  return {hb::bilinear(run.input(0), run.input(1), run.operand("weight", 2), run.operand("bias", 3))};
}

bool is_index(const Tensor& t) { return t.defined() && !t.is_floating_point(); }

bool has_own_weight(const Run& run) { return run.layer.is_module || run.state.count("weight") != 0; }

// The function of LibTorch takes (weight, indices), that of Python (indices, weight).
std::pair<Tensor, Tensor> indices_and_weight(Run& run) {
  if (has_own_weight(run)) return {run.input(0), run.operand("weight", 0)};
  return is_index(run.input(0)) ? std::pair{run.input(0), run.input(1)} : std::pair{run.input(1), run.input(0)};
}

Tensors embedding(Run& run) {
  const auto [indices, weight] = indices_and_weight(run);
  HB_CHECK(weight.defined(), "[replay] the weight of this embedding is not in the trace");
  F::EmbeddingFuncOptions options;
  const int64_t padding = run.args.has("padding_idx") ? run.args.integer("padding_idx") : -1;
  if (padding >= 0 || (run.layer.is_module && run.args.has("padding_idx"))) options.padding_idx(padding);
  if (run.args.has("max_norm")) options.max_norm(run.args.number("max_norm")).norm_type(run.args.number("norm_type"));
  options.scale_grad_by_freq(run.args.flag("scale_grad_by_freq"));
  return {F::embedding(indices, run.args.has("max_norm") ? weight.clone() : weight, options)};
}

Tensors embedding_bag(Run& run) {
  const auto [indices, weight] = indices_and_weight(run);
  HB_CHECK(weight.defined(), "[replay] the weight of this embedding is not in the trace");
  F::EmbeddingBagFuncOptions options;
  const std::string mode = run.args.word("mode");
  if (mode == "sum") options.mode(bridge::kSum);
  if (mode == "max") options.mode(bridge::kMax);
  const size_t next = has_own_weight(run) ? 1 : 2;
  if (is_index(run.input_or_none(next))) options.offsets(run.input_or_none(next));
  options.include_last_offset(run.args.flag("include_last_offset"));
  if (run.args.has("padding_idx")) options.padding_idx(run.args.integer("padding_idx"));
  return {F::embedding_bag(indices, weight, options)};
}

// The mask has the shape of the random numbers: one per channel where whole channels are dropped.
Tensors dropout(Run& run) {
  const Tensor& x = run.input(0);
  const double p = run.args.number("p");
  if (!run.training() || p == 0) return {x};
  HB_CHECK(!run.masks.empty(), "[replay] the mask of this dropout is not in the trace");
  Tensor mask = run.masks[0].to(x.scalar_type());
  if (mask.numel() == x.numel()) mask = mask.reshape(x.sizes());
  return {p >= 1 ? x * 0 : x * mask / (1 - p)};
}

Tensors flatten(Run& run) { return {run.input(0).flatten(run.args.integer("start_dim"), run.args.integer("end_dim"))}; }
Tensors unflatten(Run& run) {
  return {run.input(0).unflatten(run.args.integer("dim"), run.args.integers("unflattened_size"))};
}

template <size_t D>
std::vector<int64_t> pads(const Run& run) {
  return run.args.integers("padding", 2 * D);
}
template <size_t D>
Tensors reflection_pad(Run& run) {
  return {hb::pad(run.input(0), pads<D>(run), "reflect")};
}
template <size_t D>
Tensors replication_pad(Run& run) {
  return {hb::pad(run.input(0), pads<D>(run), "replicate")};
}
template <size_t D>
Tensors constant_pad(Run& run) {
  return {hb::constant_pad_nd(run.input(0), pads<D>(run), run.args.optional_number("value").value_or(0))};
}
Tensors pad(Run& run) {
  const std::string mode = run.args.word("mode");
  return {hb::pad(run.input(0), run.args.integers("pad"), mode.empty() ? "constant" : mode,
                  run.args.optional_number("value"))};
}

Tensors upsample(Run& run) {
  const Arguments& o = run.args;
  HB_CHECK(run.input(0).dim() > 2, "[replay] expected an input of 3 to 5 dimensions, got ", run.input(0).sizes());
  const auto dims = static_cast<size_t>(run.input(0).dim() - 2);
  F::InterpolateFuncOptions options;
  if (o.has("size")) options.size(o.integers("size", dims));
  if (o.has("scale_factor")) {
    std::vector<double> scales = o.numbers("scale_factor");
    if (scales.size() == 1) scales.resize(dims, scales[0]);
    for (double scale : scales)
      for (size_t i = 2; i < dims + 2; ++i)
        whole("the size by scale_factor",
              std::floor(scale * static_cast<double>(run.input(0).size(static_cast<int64_t>(i)))));
    options.scale_factor(scales);
  }
  const std::string mode = o.word("mode");
  if (mode == "linear") options.mode(bridge::kLinear);
  if (mode == "bilinear") options.mode(bridge::kBilinear);
  if (mode == "bicubic") options.mode(bridge::kBicubic);
  if (mode == "trilinear") options.mode(bridge::kTrilinear);
  if (mode == "area") options.mode(bridge::kArea);
  HB_CHECK(mode != "nearest-exact" && mode != "nearestexact", "[replay] mode nearest-exact cannot be run again");
  if (mode != "nearest" && mode != "area") options.align_corners(o.flag("align_corners"));
  return {F::interpolate(run.input(0), options)};
}

Tensors pixel_shuffle(Run& run) { return {hb::pixel_shuffle(run.input(0), run.args.integer("upscale_factor"))}; }
Tensors pixel_unshuffle(Run& run) { return {hb::pixel_unshuffle(run.input(0), run.args.integer("downscale_factor"))}; }
Tensors identity(Run& run) { return {run.input(0)}; }

// A function of two operands; the second may be a number.
#define HB_OF_TWO(symbol)                                                 \
  [](Run& run) -> Tensors {                                               \
    if (run.inputs.size() > 1) return {run.input(0) symbol run.input(1)}; \
    return {run.input(0) symbol Scalar(run.args.number("other"))};        \
  }

}  // namespace

const Lines& basic_lines() {
  static const Lines lines = {
      {"linear", linear},
      {"bilinear", bilinear},
      {"matmul", [](Run& run) -> Tensors { return {run.input(0).matmul(run.input(1))}; }},
      {"addmm", [](Run& run) -> Tensors { return {run.input(1).matmul(run.input(2)) + run.input(0)}; }},
      {"add", HB_OF_TWO(+)},
      {"sub", HB_OF_TWO(-)},
      {"mul", HB_OF_TWO(*)},
      {"div", HB_OF_TWO(/)},
      {"embedding", embedding},
      {"embedding_bag", embedding_bag},
      {"dropout", dropout},
      {"flatten", flatten},
      {"unflatten", unflatten},
      {"reflection_pad1d", reflection_pad<1>},
      {"reflection_pad2d", reflection_pad<2>},
      {"reflection_pad3d", reflection_pad<3>},
      {"replication_pad1d", replication_pad<1>},
      {"replication_pad2d", replication_pad<2>},
      {"replication_pad3d", replication_pad<3>},
      {"constant_pad1d", constant_pad<1>},
      {"constant_pad2d", constant_pad<2>},
      {"constant_pad3d", constant_pad<3>},
      {"pad", pad},
      {"upsample", upsample},
      {"pixel_shuffle", pixel_shuffle},
      {"pixel_unshuffle", pixel_unshuffle},
      {"identity", identity},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
