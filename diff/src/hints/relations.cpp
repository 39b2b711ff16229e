#include "relations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/activation.h>

#include "../replay/error.h"

namespace hb::layer_diff::hints {

using replay::error_of;

namespace {

// Rounding of a value and of one operation on it.
constexpr double kUnits = 32;

double tolerance(const Tensor& a, const Tensor& b) {
  double u = std::max(replay::unit_roundoff(a.scalar_type()), replay::unit_roundoff(b.scalar_type()));
  return kUnits * u;
}

Tensor flat(const Tensor& t) { return t.detach().to(kDouble).contiguous().reshape({-1}); }
bool is_zero(const Tensor& t) { return t.numel() > 0 && t.count_nonzero().item<int64_t>() == 0; }

// Least squares test = scale * ref + offset.
struct Line {
  double scale, offset;
};
Line fit_line(const Tensor& ref, const Tensor& test) {
  const Tensor x = flat(ref), y = flat(test);
  const double mx = x.mean().item<double>(), my = y.mean().item<double>();
  const double xx = (x - mx).square().sum().item<double>();
  const double scale = xx > 0 ? ((x - mx) * (y - my)).sum().item<double>() / xx : 0;
  return {scale, my - scale * mx};
}

std::optional<Relation> by_scale(const Tensor& ref, const Tensor& test, const std::string& noun) {
  const auto factor = factor_between(ref, test);
  if (!factor) return std::nullopt;
  Relation relation{"input_scale", fmt::format("{} is {} times the reference's", noun, text_of_factor(*factor)), 0};
  if (*factor == -1) relation = {"sign", noun + " has the opposite sign", 0};
  agree(ref.to(kDouble) * *factor, test, &relation.max_abs);
  return relation;
}

std::optional<Relation> by_line(const Tensor& ref, const Tensor& test, const std::string& noun) {
  if (ref.numel() < 4) return std::nullopt;
  const Line line = fit_line(ref, test);
  Relation relation{
      "input_scale",
      fmt::format("{} is the reference's times {} plus {:.6g}", noun, text_of_factor(line.scale), line.offset), 0};
  if (line.scale == 0 || !agree(ref.to(kDouble) * line.scale + line.offset, test, &relation.max_abs))
    return std::nullopt;
  return relation;
}

// A scale and an offset for each index of dimension 1: mean and standard deviation taken off, or not.
std::optional<Relation> by_channel(const Tensor& ref, const Tensor& test, const std::string& noun) {
  if (ref.dim() < 3 || ref.sizes() != test.sizes() || ref.size(1) > 16 || ref.numel() / ref.size(1) < 8)
    return std::nullopt;
  Tensor mapped = ref.to(kDouble).clone();
  std::string scales, offsets;
  for (int64_t c = 0; c < ref.size(1); ++c) {
    const Line line = fit_line(ref.select(1, c), test.select(1, c));
    if (line.scale == 0) return std::nullopt;
    mapped.select(1, c).mul_(line.scale).add_(line.offset);
    scales += (c ? ", " : "") + fmt::format("{:.6g}", line.scale);
    offsets += (c ? ", " : "") + fmt::format("{:.6g}", line.offset);
  }
  Relation relation{"input_scale",
                    fmt::format("{} is the reference's times [{}] plus [{}] by channel (mean and standard deviation)",
                                noun, scales, offsets),
                    0};
  if (!agree(mapped, test, &relation.max_abs)) return std::nullopt;
  return relation;
}

std::optional<Relation> by_order(const Tensor& ref, const Tensor& test, const std::string& noun) {
  // Another order keeps the sums of values and squares.
  const double sum = flat(ref).sum().item<double>(), other = flat(test).sum().item<double>();
  const double squares = flat(ref).square().sum().item<double>(), others = flat(test).square().sum().item<double>();
  const double close = 64 * tolerance(ref, test);
  const double size = std::sqrt(squares * static_cast<double>(ref.numel()));
  if (std::abs(squares - others) > close * squares || std::abs(sum - other) > close * size) return std::nullopt;
  std::optional<Relation> found;
  for_rearrangements(ref, test.sizes().vec(), noun, [&](const Rearranged& r) {
    double max_abs = 0;
    if (!agree(r.tensor, test, &max_abs)) return false;
    found = Relation{r.cause, r.text, max_abs};
    return true;
  });
  return found;
}

// Slices along a dimension that are all there, in an order that none of the known ones is.
std::optional<Relation> by_slices(const Tensor& ref, const Tensor& test, const std::string& noun) {
  if (ref.sizes() != test.sizes()) return std::nullopt;
  for (int64_t d = 0; d < std::min<int64_t>(ref.dim(), 2); ++d) {
    const int64_t n = ref.size(d);
    if (n < 3 || ref.numel() == n) continue;
    std::unordered_map<std::string, int64_t> places;
    const auto key = [&](const Tensor& t, int64_t i) {
      const Tensor slice = t.select(d, i).contiguous();
      return std::string(static_cast<const char*>(slice.data_ptr()), slice.nbytes());
    };
    for (int64_t i = 0; i < n; ++i) places.emplace(key(ref, i), i);
    int64_t moved = 0, found = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto place = places.find(key(test, i));
      if (place == places.end()) break;
      ++found;
      moved += place->second != i;
      places.erase(place);
    }
    if (found == n && moved > 0)
      return Relation{"permuted_weight",
                      fmt::format("{} has the same slices along dimension {} in another order", noun, d), 0};
  }
  return std::nullopt;
}

struct Activation {
  const char* name;
  Tensor (*apply)(const Tensor&);
};
const std::array<Activation, 10> kActivations = {{
    {"relu", [](const Tensor& x) { return hb::relu(x); }},
    {"sigmoid", [](const Tensor& x) { return hb::sigmoid(x); }},
    {"tanh", [](const Tensor& x) { return hb::tanh(x); }},
    {"gelu", [](const Tensor& x) { return hb::gelu(x); }},
    {"silu", [](const Tensor& x) { return hb::silu(x); }},
    {"softmax", [](const Tensor& x) { return x.softmax(-1); }},
    {"log_softmax", [](const Tensor& x) { return x.log_softmax(-1); }},
    {"leaky_relu", [](const Tensor& x) { return hb::leaky_relu(x); }},
    {"elu", [](const Tensor& x) { return hb::elu(x); }},
    {"abs", [](const Tensor& x) { return hb::abs(x); }},
}};

}  // namespace

bool agree(const Tensor& a, const Tensor& b, double* max_abs) {
  if (a.numel() != b.numel()) return false;
  const auto error = error_of(a, b);
  if (max_abs) *max_abs = error.max;
  const double t = tolerance(a.scalar_type() == kDouble ? b : a, b);
  return error.rms <= t * error.ref_rms && error.max <= 4 * t * error.ref_max;
}

bool is_rounded_to(const Tensor& ref, const Tensor& test) {
  return ref.is_floating_point() && test.is_floating_point() && ref.numel() == test.numel() &&
         replay::unit_roundoff(test.scalar_type()) > replay::unit_roundoff(ref.scalar_type()) &&
         error_of(test, ref.to(test.scalar_type())).max == 0;
}

std::string text_of_factor(double factor) {
  const double back = 1 / factor;
  if (std::abs(factor) < 1 && std::abs(back - std::round(back)) < 1e-5 * std::abs(back))
    return fmt::format("1/{:.0f}", std::round(back));
  return fmt::format("{:.6g}", factor);
}

std::optional<double> factor_between(const Tensor& ref, const Tensor& test) {
  if (ref.numel() != test.numel() || ref.numel() == 0) return std::nullopt;
  const Tensor x = flat(ref), y = flat(test);
  const double xx = x.square().sum().item<double>();
  if (!(xx > 0) || !std::isfinite(xx)) return std::nullopt;
  double factor = (x * y).sum().item<double>() / xx;
  if (std::abs(factor) >= 0.5 && std::abs(factor - std::round(factor)) < 1e-5 * std::abs(factor))
    factor = std::round(factor);
  if (factor == 0 || !std::isfinite(factor) || !agree(x * factor, test)) return std::nullopt;
  return factor;
}

std::optional<Relation> relate_by_activation(const Tensor& ref, const Tensor& test, const std::string& noun) {
  if (!ref.is_floating_point() || !test.is_floating_point() || ref.numel() != test.numel() || ref.dim() == 0)
    return std::nullopt;
  const Tensor x = ref.to(kDouble), y = test.to(kDouble).reshape(ref.sizes());
  for (const Activation& activation : kActivations) {
    double max_abs = 0;
    if (agree(activation.apply(x), test, &max_abs))
      return Relation{
          "doubled_activation",
          fmt::format("{} is {} of the reference's: one {} too many", noun, activation.name, activation.name), max_abs};
    if (agree(activation.apply(y), ref, &max_abs))
      return Relation{
          "missing_activation",
          fmt::format("{} of {} is the reference's: a {} is missing", activation.name, noun, activation.name), max_abs};
  }
  return std::nullopt;
}

std::optional<Relation> relate(const Tensor& ref, const Tensor& test, const std::string& noun) {
  NoGradGuard no_grad;
  if (!ref.defined() || !test.defined() || ref.numel() != test.numel() || ref.numel() == 0) return std::nullopt;
  if (ref.sizes() == test.sizes() && agree(ref, test)) return std::nullopt;
  if (is_zero(test) && !is_zero(ref)) return Relation{"zero", noun + " is zero", 0};
  if (auto r = by_scale(ref, test, noun)) return r;
  if (auto r = by_order(ref, test, noun)) return r;
  if (auto r = by_line(ref, test, noun)) return r;
  if (auto r = by_channel(ref, test, noun)) return r;
  if (auto r = by_slices(ref, test, noun)) return r;
  return relate_by_activation(ref, test, noun);
}

}  // namespace hb::layer_diff::hints
