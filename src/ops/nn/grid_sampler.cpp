#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/composed.h"
#include "backend/grid_sample.h"
#include "formulas/cubic_weight.h"
#include "ops/common/layout.h"

namespace hb {
namespace {

// How samples are taken; then, as a formula of public functions, for gradients of gradients.
struct Rule {
  Interpolation mode;
  GridPadding padding;
  bool align_corners;
  // Elements that a sample is computed from, along one dimension.
  int64_t taps() const { return mode == Interpolation::nearest ? 1 : mode == Interpolation::bilinear ? 2 : 4; }
};

// [-1, 1] to positions between elements.
Tensor unnormalise(const Tensor& x, int64_t size, bool align_corners) {
  const double n = static_cast<double>(size);
  return align_corners ? (x + 1) * ((n - 1) / 2) : ((x + 1) * n - 1) * 0.5;
}

Tensor reflect(const Tensor& x, double twice_low, double twice_high) {
  if (twice_low == twice_high) return x * 0;
  const double low = twice_low / 2, span = (twice_high - twice_low) / 2;
  const Tensor distance = (x - low).abs(), flips = (distance / span).floor().detach(), rest = distance - flips * span;
  const Tensor even = flips.remainder(2).eq(0);
  return where(even, rest + low, span - rest + low);
}

// Positions outside of the input moved into it, unless they count as zeros. Nothing flows back from the border itself.
Tensor padded(Tensor at, int64_t size, const Rule& rule) {
  const double n = static_cast<double>(size);
  if (rule.padding == GridPadding::zeros) return at;
  if (rule.padding == GridPadding::reflection)
    at = rule.align_corners ? reflect(at, 0, 2 * (n - 1)) : reflect(at, -1, 2 * n - 1);
  return where(logical_and(at.gt(0), at.lt(n - 1)), at, at.detach().clamp(0, n - 1));
}

// One element of every sample: where it stands, its weight, whether it lies inside.
struct Corner {
  Tensor index, weight, inside;
};

// Bicubic sampling pads every element on its own, the others the position.
Tensor position(const Tensor& x, int64_t size, const Rule& rule) {
  const Tensor at = unnormalise(x, size, rule.align_corners);
  return rule.mode == Interpolation::bicubic ? at : padded(at, size, rule);
}

Corner along(const Tensor& at, int64_t size, const Rule& rule, int64_t tap) {
  Tensor whole, weight;
  if (rule.mode == Interpolation::nearest) {
    whole = at.detach().round();
  } else if (rule.mode == Interpolation::bilinear) {
    whole = at.detach().floor() + tap;
    weight = 1 - (at - whole).abs();
  } else {
    whole = at.detach().floor() + (tap - 1);
    weight = cubic_weight<double>((at - whole).abs(), tap == 1 || tap == 2);
    whole = padded(whole, size, rule);
  }
  const Tensor inside = logical_and(whole.ge(0), whole.le(static_cast<double>(size - 1)));
  return {whole.nan_to_num(0).clamp(0, static_cast<double>(size - 1)).to(kLong), weight, inside};
}

Tensor composed(const Tensor& input, const Tensor& grid, const Rule& rule) {
  const int64_t dims = input.dim() - 2, n = input.size(0), c = input.size(1), samples = grid.numel() / (n * dims);
  const Tensor flat = input.flatten(2), points = grid.reshape({n, samples, dims});
  // The grid's last dimension names x first, so dimension d of the input is read from its end.
  int64_t corners = 1;
  std::vector<std::vector<Corner>> parts(static_cast<size_t>(dims));  // [dimension][tap]
  for (int64_t d = 0; d < dims; ++d, corners *= rule.taps()) {
    const Tensor at = position(points.select(2, dims - 1 - d), input.size(2 + d), rule);
    for (int64_t tap = 0; tap < rule.taps(); ++tap) parts[d].push_back(along(at, input.size(2 + d), rule, tap));
  }
  Tensor out;
  for (int64_t corner = 0; corner < corners; ++corner) {
    Tensor index, weight, inside;
    int64_t step = corners;
    for (int64_t d = 0; d < dims; ++d) {
      step /= rule.taps();
      const Corner& part = parts[d][corner / step % rule.taps()];
      index = index.defined() ? index * input.size(2 + d) + part.index : part.index;
      inside = inside.defined() ? logical_and(inside, part.inside) : part.inside;
      if (part.weight.defined()) weight = weight.defined() ? weight * part.weight : part.weight;
    }
    Tensor value = flat.gather(2, index.unsqueeze(1).expand({n, c, samples}));
    value = value.masked_fill(inside.logical_not().unsqueeze(1), 0);
    if (weight.defined()) value = value * weight.unsqueeze(1);
    out = out.defined() ? out + value : value;
  }
  return out;
}

GridSampling describe(const Tensor& x, const Tensor& grid, const Rule& rule) {
  GridSampling s{rule.mode, rule.padding, rule.align_corners, static_cast<int>(x.dim() - 2),
                 {},        x.size(0),    x.size(1),          1,
                 nullptr,   nullptr};
  for (int d = 0; d < s.dims; ++d) s.size[d] = x.size(2 + d), s.samples *= grid.size(1 + d);
  s.in = x.impl().raw_data(), s.grid = grid.impl().visible_data();
  return s;
}

variable_list gradients(Backward& b, const Tensor& input, const Tensor& grid, const Rule& rule) {
  const Tensor& g = b.grad();
  if (g.numel() == 0) return {zeros_like(input), zeros_like(grid)};
  if (GradMode::is_enabled())
    return composed_gradients(b, {input, grid}, {g}, [&](const variable_list& v) -> variable_list {
      return {composed(v[0], v[1], rule).reshape(g.sizes())};
    });
  const Tensor x = ops::to_channels_last(input), at = grid.contiguous();
  Tensor dx, dgrid;
  if (b.needs(0)) dx = ops::empty_channels_last(x.impl().sizes(), x.scalar_type(), x.device(), false);
  if (b.needs(1)) dgrid = empty(grid.sizes(), grid.options());
  grid_sample_backward_kernel(x.device())(
      x.scalar_type(), describe(x, at, rule), ops::to_channels_last(g).impl().raw_data(),
      dx.defined() ? dx.impl().raw_data() : nullptr, dgrid.defined() ? dgrid.impl().visible_data() : nullptr);
  return {dx, dgrid};
}

void check(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode) {
  const int64_t dims = input.dim() - 2;
  HB_CHECK((dims == 2 || dims == 3) && grid.dim() == input.dim(), "[grid_sampler] expected ",
           dims == 3   ? "5D"
           : dims == 2 ? "4D"
                       : "4D or 5D",
           " input and grid with same number of dimensions, but got input with sizes ", input.sizes(),
           " and grid with sizes ", grid.sizes());
  HB_CHECK(grid.size(0) == input.size(0),
           "[grid_sampler] expected grid and input to have same batch size, but got input with sizes ", input.sizes(),
           " and grid with sizes ", grid.sizes());
  HB_CHECK(grid.size(-1) == dims, "[grid_sampler] grid_sampler(): expected grid to have size ", dims,
           " in last dimension, but got grid with sizes ", grid.sizes());
  HB_CHECK(input.scalar_type() == grid.scalar_type() && is_floating_type(input.scalar_type()),
           "[grid_sampler] expected input and grid of the same floating dtype, got ", input.scalar_type(), " and ",
           grid.scalar_type());
  HB_CHECK(padding_mode >= 0 && padding_mode <= 2, "[grid_sampler] expected padding mode 0, 1 or 2, got ",
           padding_mode);
  HB_CHECK(interpolation_mode >= 0 && interpolation_mode <= 2,
           "[grid_sampler] expected interpolation mode 0, 1 or 2, got ", interpolation_mode);
  HB_CHECK(static_cast<Interpolation>(interpolation_mode) != Interpolation::bicubic || dims == 2,
           "[grid_sampler] bicubic interpolation only supports 4D input, got ", input.sizes());
  for (int64_t d = 2; d < input.dim(); ++d)
    HB_CHECK(input.size(d) > 0,
             "[grid_sampler] expected input to have non-empty spatial dimensions, but input has sizes ", input.sizes(),
             " with dimension ", d, " being empty");
}

}  // namespace

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                    bool align_corners) {
  HB_AUTOCAST(grid_sampler, fp32, widest, input, grid, interpolation_mode, padding_mode, align_corners);
  check(input, grid, interpolation_mode, padding_mode);
  if (is_half_type(input.scalar_type()))  // rounded once, at the end
    return grid_sampler(input.to(kFloat), grid.to(kFloat), interpolation_mode, padding_mode, align_corners)
        .to(input.scalar_type());
  const Rule rule{static_cast<Interpolation>(interpolation_mode), static_cast<GridPadding>(padding_mode),
                  align_corners};
  DimVector sizes(grid.sizes());
  sizes.pop_back();
  sizes.insert(1, input.size(1));
  const bool first = input.device().is_cuda() && !ops::is_physically_channels_last(input);
  Tensor out = first ? empty(sizes, input.options())
                     : ops::empty_channels_last(sizes, input.scalar_type(), input.device(), false);
  if (out.numel()) {
    const Tensor x = first ? ops::to_contiguous(input) : ops::to_channels_last(input), at = grid.detach().contiguous();
    GridSampling s = describe(x, at, rule);
    s.channels_first = first;
    grid_sample_kernel(x.device())(x.scalar_type(), s, out.impl().raw_data());
  }
  if (needs_grad(input, grid))
    record(input.dim() == 4 ? "GridSampler2DBackward0" : "GridSampler3DBackward0", out, {&input, &grid},
           {SavedTensor::input(input), SavedTensor::input(grid)},
           [rule](Backward& b, auto& s) { return gradients(b, s[0], s[1], rule); });
  return out;
}

Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  HB_CHECK((dims == 2 || dims == 3) && theta.dim() == 3 && theta.size(1) == dims && theta.size(2) == dims + 1 &&
               theta.size(0) == size[0],
           "[affine_grid_generator] expected theta (N, 2, 3) with 4 sizes or (N, 3, 4) with 5, the first one N, got ",
           theta.sizes(), " and ", size);
  std::vector<Tensor> axes;
  DimVector full(size.data() + 2, size.data() + size.size());
  for (int64_t d = dims - 1; d >= 0; --d) {
    const int64_t n = size[2 + d];
    Tensor line = n > 1 ? linspace(-1, 1, n, theta.options()) : zeros({n}, theta.options());
    if (!align_corners) line = line * (static_cast<double>(n - 1) / static_cast<double>(n));
    DimVector shape(static_cast<size_t>(dims), 1);
    shape[d] = n;
    axes.push_back(line.to(theta.scalar_type()).view(shape).expand(full));  // also of integers
  }
  axes.push_back(ones(full, theta.options()));
  const Tensor base = stack(axes, -1).reshape({-1, dims + 1});
  DimVector out{IntArrayRef({theta.size(0)})};
  for (int64_t s : full) out.push_back(s);
  out.push_back(dims);
  return matmul(base.unsqueeze(0), theta.transpose(1, 2)).reshape(out);
}

}  // namespace hb
