#include "optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <halfbridge/ops.h>

#include "../replay/error.h"

namespace hb::layer_diff::hints {

namespace {

using Column = std::vector<double>;

Column column(const Tensor& t) {
  const Tensor flat = t.detach().to(kDouble).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

struct Fit {
  std::vector<double> factors;
  double rms = INFINITY, max = INFINITY;
};

// Least squares of target = sum of factors * columns: normal equations, solved by elimination. At most three columns.
Fit fit(const std::vector<const Column*>& columns, const Column& target) {
  const size_t n = columns.size();
  std::array<std::array<double, 4>, 3> m{};
  for (size_t i = 0; i < n; ++i) {
    for (size_t e = 0; e < target.size(); ++e) {
      for (size_t j = 0; j < n; ++j) m[i][j] += (*columns[i])[e] * (*columns[j])[e];
      m[i][n] += (*columns[i])[e] * target[e];
    }
  }
  Fit result;
  for (size_t i = 0; i < n; ++i) {
    size_t pivot = i;
    for (size_t r = i + 1; r < n; ++r)
      if (std::abs(m[r][i]) > std::abs(m[pivot][i])) pivot = r;
    std::swap(m[i], m[pivot]);
    if (m[i][i] == 0) return result;
    for (size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double f = m[r][i] / m[i][i];
      for (size_t c = i; c <= n; ++c) m[r][c] -= f * m[i][c];
    }
  }
  for (size_t i = 0; i < n; ++i) result.factors.push_back(m[i][n] / m[i][i]);
  double squares = 0;
  result.max = 0;
  for (size_t e = 0; e < target.size(); ++e) {
    double left = target[e];
    for (size_t i = 0; i < n; ++i) left -= result.factors[i] * (*columns[i])[e];
    squares += left * left;
    result.max = std::max(result.max, std::abs(left));
  }
  result.rms = std::sqrt(squares / static_cast<double>(target.size()));
  return result;
}

double rms(const Column& c) {
  double squares = 0;
  for (double v : c) squares += v * v;
  return std::sqrt(squares / static_cast<double>(c.size()));
}

// A number that somebody wrote: three digits hold all that an update shows of it.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 3 - std::ceil(std::log10(std::abs(value))));
  const double round = std::round(value * scale) / scale;
  return std::abs(round - value) < 1e-3 * std::abs(value) ? round : value;
}

class Fitter {
 public:
  explicit Fitter(const UpdateData& data)
      : data_(data), p_(column(data.parameter)), g_(column(data.gradient)), d_(column(data.updated)) {
    const double u = replay::unit_roundoff(data.parameter.scalar_type());
    for (size_t i = 0; i < d_.size(); ++i) d_[i] -= p_[i];
    // The updated value is rounded to its dtype, and so is each of the few operations on the way.
    enough_ = 4 * u * rms(p_) + 64 * u * rms(d_);
    moves_ = rms(d_) > 16 * u * rms(p_);
  }

  std::optional<UpdateRule> find() {
    if (!moves_ || p_.size() < 8) return std::nullopt;
    if (data_.states.count("exp_avg_sq"))
      return adam(column(data_.states.at("exp_avg")), column(data_.states.at("exp_avg_sq")));
    if (auto rule = sgd()) return rule;
    if (data_.steps == 1 && data_.states.empty()) {
      Column squares(g_.size());
      for (size_t i = 0; i < g_.size(); ++i) squares[i] = g_[i] * g_[i];
      return adam_with(g_, squares);
    }
    return std::nullopt;
  }

 private:
  const UpdateData& data_;
  Column p_, g_, d_;
  double enough_ = 0;
  bool moves_ = false;

  bool good(const Fit& fit) const { return fit.rms <= enough_; }

  std::optional<UpdateRule> sgd() const {
    const auto buffer = data_.states.find("momentum_buffer");
    if (buffer == data_.states.end() || data_.steps == 1) {
      const Fit plain = fit({&g_}, d_);
      if (good(plain)) return UpdateRule{"SGD", {{"lr", rounded(-plain.factors[0])}, {"weight_decay", 0}}, plain.max};
      const Fit decayed = fit({&g_, &p_}, d_);
      if (good(decayed))
        return UpdateRule{
            "SGD",
            {{"lr", rounded(-decayed.factors[0])}, {"weight_decay", rounded(decayed.factors[1] / decayed.factors[0])}},
            decayed.max};
      return std::nullopt;
    }
    const Column b = column(buffer->second);
    const Fit step = fit({&b}, d_);
    if (!good(step)) return std::nullopt;
    UpdateRule rule{"SGD", {{"lr", rounded(-step.factors[0])}}, step.max};
    const auto before = data_.states_before.find("momentum_buffer");
    if (before == data_.states_before.end()) return rule;
    const Column old = column(before->second);
    const Fit momentum = fit({&g_, &p_, &old}, b);
    if (momentum.factors.size() == 3 && momentum.rms <= 1e-4 * rms(b)) {
      rule.values["weight_decay"] = std::abs(momentum.factors[1]) * rms(p_) < 1e-5 * rms(b)
                                        ? 0
                                        : rounded(momentum.factors[1] / momentum.factors[0]);
      rule.values["momentum"] = rounded(momentum.factors[2]);
    }
    return rule;
  }

  // The moments are recorded: the decay rates show in the first step, where both were zero before it.
  std::optional<UpdateRule> adam(Column m, Column v) const {
    double beta1 = 0.9, beta2 = 0.999;
    const bool first = data_.steps == 1;
    if (first) {
      const Fit from_gradient = fit({&g_, &p_}, m);
      Column squares(g_.size());
      if (from_gradient.factors.size() == 2) beta1 = rounded(1 - from_gradient.factors[0]);
      const double decay = from_gradient.factors.size() == 2 && beta1 < 1 ? from_gradient.factors[1] / (1 - beta1) : 0;
      for (size_t i = 0; i < g_.size(); ++i) squares[i] = (g_[i] + decay * p_[i]) * (g_[i] + decay * p_[i]);
      const Fit from_squares = fit({&squares}, v);
      if (!from_squares.factors.empty()) beta2 = rounded(1 - from_squares.factors[0]);
    }
    const double c1 = 1 - std::pow(beta1, static_cast<double>(data_.steps)),
                 c2 = 1 - std::pow(beta2, static_cast<double>(data_.steps));
    for (double& x : m) x /= c1;
    for (double& x : v) x /= c2;
    auto rule = adam_with(m, v);
    if (rule && first) rule->values["beta1"] = beta1, rule->values["beta2"] = beta2;
    return rule;
  }

  // d = -lr * m / (sqrt(v) + eps) - lr * weight_decay * p, with the eps that leaves least.
  std::optional<UpdateRule> adam_with(const Column& m, const Column& v) const {
    const auto step_with = [&](double exponent) {
      const double eps = std::pow(10.0, exponent);
      Column direction(m.size());
      for (size_t i = 0; i < m.size(); ++i) direction[i] = m[i] / (std::sqrt(std::max(v[i], 0.0)) + eps);
      return fit({&direction, &p_}, d_);
    };
    double best = -16, least = INFINITY;
    for (double e = -16; e <= 1; e += 0.5)
      if (const double left = step_with(e).rms; left < least * (1 - 1e-9)) best = e, least = left;
    double low = best - 0.5, high = best + 0.5;
    const double ratio = (std::sqrt(5.0) - 1) / 2;
    for (int i = 0; i < 40; ++i) {
      const double a = high - ratio * (high - low), b = low + ratio * (high - low);
      (step_with(a).rms < step_with(b).rms ? high : low) = step_with(a).rms < step_with(b).rms ? b : a;
    }
    const Fit found = step_with((low + high) / 2);
    if (!good(found) || found.factors.size() != 2 || found.factors[0] >= 0) return std::nullopt;
    const double lr = rounded(-found.factors[0]);
    UpdateRule rule{"Adam", {{"lr", lr}}, found.max};
    const bool decays = std::abs(found.factors[1]) * rms(p_) > enough_;
    if (decays) rule.kind = "AdamW";
    rule.values["weight_decay"] = decays ? rounded(found.factors[1] / found.factors[0]) : 0;
    // An eps far below every sqrt(v) leaves no mark.
    const double eps = std::pow(10.0, (low + high) / 2);
    rule.values["eps"] = step_with(-16).rms <= enough_ ? 0 : rounded(eps);
    return rule;
  }
};

}  // namespace

std::optional<UpdateRule> fit_update(const UpdateData& data) {
  if (!data.parameter.defined() || !data.gradient.defined() || !data.updated.defined()) return std::nullopt;
  if (data.parameter.numel() != data.gradient.numel() || data.parameter.numel() != data.updated.numel())
    return std::nullopt;
  return Fitter(data).find();
}

}  // namespace hb::layer_diff::hints
