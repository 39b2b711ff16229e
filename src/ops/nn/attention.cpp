#include "backend/attention.h"

#include <halfbridge/ops.h>

#include <cmath>
#include "autocast/autocast.h"

#include "autograd/parts.h"
#include "autograd/record.h"
#include "core/attention_settings.h"
#include "core/physical.h"
#include "ops/common/layout.h"

namespace hb {
namespace {

// Scores plus mask, as one tensor expression; used where the fused kernel does not apply.
Tensor probabilities(const Tensor& q, const Tensor& k, const Tensor& mask, bool causal, double scale) {
  Tensor s = matmul(q * scale, k.transpose(-2, -1));
  if (mask.defined()) s = s + mask;
  if (causal) {
    const Tensor hidden = ones({q.size(-2), k.size(-2)}, q.options().dtype(kBool)).tril().logical_not();
    s = s.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  }
  // A row that sees nothing gives zeros, not NaN.
  const Tensor p = softmax(s, -1);
  if (!mask.defined()) return p;
  const Tensor nothing = s.detach().eq(-std::numeric_limits<double>::infinity()).all(-1, true);
  return p.masked_fill(nothing, 0);
}

Tensor repeat_heads(const Tensor& t, int64_t heads) {
  return t.size(-3) == heads ? t : t.repeat_interleave(heads / t.size(-3), -3);
}

Tensor composed(const Tensor& q, const Tensor& k_, const Tensor& v_, const Tensor& mask, double dropout_p, bool causal,
                double scale, bool grouped) {
  HB_CHECK(attention_settings().math, "No viable backend for scaled_dot_product_attention was found.");
  const Tensor k = grouped ? repeat_heads(k_, q.size(-3)) : k_, v = grouped ? repeat_heads(v_, q.size(-3)) : v_;
  Tensor p = probabilities(q, k, mask, causal, scale);
  if (dropout_p > 0) p = dropout(p, dropout_p, true);
  return matmul(p, v);
}

bool dense_rows(const Tensor& t) {
  const auto& s = t.impl().physical_strides();
  return s.back() == 1 || t.size(-1) <= 1;
}
/// `t`, or a copy without history.
Tensor with_dense_rows(const Tensor& t) {
  const Tensor now = physical(t);
  return dense_rows(now) ? now : ops::to_contiguous(now);
}

HeadsRef heads(const Tensor& t) {
  const auto& s = t.impl().physical_strides();
  return {t.impl().raw_data(), s[0], s[1], s[2]};
}

// (B, H, L, E) whose memory runs (B, L, H, E), as that of the results of linear layers does.
Tensor empty_heads(const Tensor& like, int64_t b, int64_t h, int64_t l, int64_t e) {
  return empty_strided({b, h, l, e}, {l * h * e, e, h * e, 1}, like.options());
}

struct Config {
  bool causal;
  double scale;
};

Attention describe(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out, const Tensor& mask,
                   const Tensor& normalizer, const Config& c) {
  Attention a;
  a.dtype = q.scalar_type();
  a.batch = q.size(0), a.heads = q.size(1), a.kv_heads = k.size(1);
  a.queries = q.size(2), a.keys = k.size(2), a.width = q.size(3), a.value_width = v.size(3);
  a.scale = c.scale, a.causal = c.causal;
  a.q = heads(q), a.k = heads(k), a.v = heads(v), a.out = heads(out);
  if (mask.defined()) {
    a.mask = mask.impl().visible_data();
    for (int d = 0; d < 4; ++d) a.mask_stride[d] = mask.size(d) == 1 ? 0 : mask.stride(d);
  }
  if (normalizer.defined()) a.normalizer = normalizer.impl().visible_data();
  return a;
}

variable_list composed_gradients(const Tensor& g, const Tensor& q, const Tensor& k_, const Tensor& v_,
                                 const Tensor& mask, const Config& c) {
  const int64_t h = q.size(1);
  const Tensor k = repeat_heads(k_, h), v = repeat_heads(v_, h);
  const Tensor p = probabilities(q, k, mask, c.causal, c.scale);
  const Tensor dp = matmul(g, v.transpose(-2, -1));
  const Tensor ds = p * (dp - (dp * p).sum(-1, true)) * c.scale;
  const auto ungroup = [&](const Tensor& t, const Tensor& like) {
    if (like.size(1) == h) return t;
    return t.reshape({t.size(0), like.size(1), h / like.size(1), t.size(2), t.size(3)}).sum(2);
  };
  return {matmul(ds, k), ungroup(matmul(ds.transpose(-2, -1), q), k_), ungroup(matmul(p.transpose(-2, -1), g), v_)};
}

variable_list gradients(Backward& b, const variable_list& s, const Config& c) {
  const Tensor &mask = s[3], &out = s[4], &normalizer = s[5];
  if (GradMode::is_enabled()) return composed_gradients(b.grad(), s[0], s[1], s[2], mask, c);
  const Tensor q = with_dense_rows(s[0]), k = with_dense_rows(s[1]), v = with_dense_rows(s[2]),
               g = with_dense_rows(b.grad());
  // Parts of one tensor, as they often are, have gradients side by side.
  const auto like = [&](const Tensor& t, size_t i) {
    const Tensor place = place_in_whole(b, i, t.sizes(), t.options());
    const bool fits = place.defined() && place.stride(3) == 1;
    return fits ? place : empty_heads(t, t.size(0), t.size(1), t.size(2), t.size(3));
  };
  const Tensor dq = like(q, 0), dk = like(k, 1), dv = like(v, 2);
  attention_backward_kernel(q.device())(describe(q, k, v, out, mask, normalizer, c),
                                        {heads(g), heads(dq), heads(dk), heads(dv)});
  return {dq, dk, dv};
}

Tensor fused(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, const Config& c) {
  const Tensor q = with_dense_rows(query), k = with_dense_rows(key), v = with_dense_rows(value);
  // As the query lies, where the result has its shape.
  Tensor out =
      v.size(3) == q.size(3) ? empty_like(q) : empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.options());
  const bool graph = needs_grad(query, key, value);
  Tensor normalizer;
  if (graph)
    normalizer =
        empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(q.scalar_type() == kDouble ? kDouble : kFloat));
  attention_kernel(q.device())(describe(q, k, v, out, mask, normalizer, c));
  if (graph) {
    // Its own result is needed as values only.
    record_many("ScaledDotProductFlashAttentionForCpuBackward0", {&out}, {&query, &key, &value},
                {SavedTensor::input(query), SavedTensor::input(key), SavedTensor::input(value),
                 SavedTensor::input(mask), SavedTensor::output(out), SavedTensor::input(normalizer)},
                [c](Backward& b, const variable_list& s) { return gradients(b, s, c); });
  }
  return out;
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, bool grouped) {
  const char* name = "scaled_dot_product_attention";
  HB_CHECK(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2, "[", name,
           "] Expected query, key, and value to all be at least 2 dimensional, got ", q.sizes(), ", ", k.sizes(),
           " and ", v.sizes());
  HB_CHECK(q.scalar_type() == k.scalar_type() && q.scalar_type() == v.scalar_type(), "[", name,
           "] Expected query, key, and value to have the same dtype, but got ", q.scalar_type(), ", ", k.scalar_type(),
           " and ", v.scalar_type());
  HB_CHECK(is_floating_type(q.scalar_type()), "[", name, "] expected floating operands, got ", q.scalar_type());
  HB_CHECK(q.size(-1) == k.size(-1) && k.size(-2) == v.size(-2), "[", name,
           "] expected (…, L, E), (…, S, E), (…, S, Ev), got ", q.sizes(), ", ", k.sizes(), " and ", v.sizes());
  if (grouped)
    HB_CHECK(q.dim() >= 3 && k.size(-3) > 0 && q.size(-3) % k.size(-3) == 0 && k.size(-3) == v.size(-3), "[", name,
             "] expected query heads that are a multiple of key heads, got ", q.sizes(), " and ", k.sizes());
}

// Bool masks (true: look) become what is added to the scores.
Tensor additive(const std::optional<Tensor>& mask, const Tensor& q) {
  if (!mask || !mask->defined()) return {};
  if (mask->scalar_type() == kBool)
    return zeros(mask->sizes(), q.options()).masked_fill(mask->logical_not(), -std::numeric_limits<double>::infinity());
  HB_CHECK(
      mask->scalar_type() == q.scalar_type() || mask->scalar_type() == kFloat,
      "[scaled_dot_product_attention] Expected attn_mask dtype to be bool or float or to match query dtype, but got ",
      mask->scalar_type(), " for ", q.scalar_type());
  return mask->to(q.scalar_type());
}

/// The formula where the program does not allow the fused kernel: half types are computed in float, unless it says so.
Tensor by_formula(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double dropout_p, bool causal,
                  double scale, bool grouped) {
  const ScalarType dtype = q.scalar_type();
  const bool widened = (dtype == kHalf || dtype == kBFloat16) && !attention_settings().half_math;
  if (!widened) return composed(q, k, v, mask, dropout_p, causal, scale, grouped);
  const Tensor wide_mask = mask.defined() ? mask.to(kFloat) : mask;
  return composed(q.to(kFloat), k.to(kFloat), v.to(kFloat), wide_mask, dropout_p, causal, scale, grouped).to(dtype);
}

bool same_batch(const Tensor& q, const Tensor& k, const Tensor& v) {
  return q.dim() == 4 && k.dim() == 4 && v.dim() == 4 && q.size(0) == k.size(0) && q.size(0) == v.size(0) &&
         k.size(1) == v.size(1);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const std::optional<Tensor>& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  HB_AUTOCAST(scaled_dot_product_attention, half, half, query, key, value, attn_mask, dropout_p, is_causal, scale,
              enable_gqa);
  check(query, key, value, enable_gqa);
  Tensor mask = additive(attn_mask, query);
  HB_CHECK(!(is_causal && mask.defined()),
           "[scaled_dot_product_attention] expected no attn_mask with is_causal, got one of shape ",
           mask.defined() ? mask.sizes() : IntArrayRef());
  const double factor = scale.value_or(1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(query.size(-1), 1))));
  if (!attention_settings().flash) return by_formula(query, key, value, mask, dropout_p, is_causal, factor, enable_gqa);
  if (query.dim() == 3 && key.dim() == 3 && value.dim() == 3 && !enable_gqa && dropout_p == 0 &&
      (!mask.defined() || mask.dim() <= 3)) {
    if (mask.defined() && mask.dim() == 3) mask = mask.unsqueeze(1);
    return scaled_dot_product_attention(query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1),
                                        mask.defined() ? std::optional<Tensor>(mask) : std::nullopt, 0, is_causal,
                                        factor, false)
        .squeeze(1);
  }
  const bool regular = same_batch(query, key, value) && query.numel() && value.numel() && key.size(1) &&
                       (query.size(1) == key.size(1) || enable_gqa);
  if (!regular || dropout_p > 0 || (mask.defined() && (mask.requires_grad() || mask.dim() > 4))) {
    return composed(query, key, value, mask, dropout_p, is_causal, factor, enable_gqa);
  }
  if (mask.defined()) mask = mask.expand({query.size(0), query.size(1), query.size(2), key.size(2)});
  return fused(query, key, value, mask, {is_causal, factor});
}

}  // namespace hb
