#include "optimizer.h"

#include <algorithm>
#include <cmath>

#include <halfbridge/ops.h>

#include "../replay/error.h"
#include "least_squares.h"

namespace hb::layer_diff::hints {

namespace {

// What a moment or buffer leaves when its recurrence is right, relative.
constexpr double kStateNoise = 1e-4;

Column column(const Tensor& t) {
  const Tensor flat = t.detach().to(kDouble).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

// The step as columns.
struct Step {
  explicit Step(const UpdateData& data)
      : p(column(data.parameter)), g(column(data.gradient)), d(column(data.updated)), steps(data.steps) {
    const double u = replay::unit_roundoff(data.parameter.scalar_type());
    for (size_t i = 0; i < d.size(); ++i) d[i] -= p[i];
    // The updated value is rounded to its dtype, and so is each of the few operations on the way.
    enough = 4 * u * rms(p) + 64 * u * rms(d);
    moves = rms(d) > 16 * u * rms(p);
    for (const auto& [name, tensor] : data.states)
      if (tensor.numel() == data.parameter.numel()) after[name] = column(tensor);
    for (const auto& [name, tensor] : data.states_before)
      if (tensor.numel() == data.parameter.numel()) before[name] = column(tensor);
    has_states = !data.states.empty();
  }
  const Column* state(const std::string& name) const {
    const auto found = after.find(name);
    return found == after.end() ? nullptr : &found->second;
  }
  // Null for one that was zero before the first step, or is not known.
  const Column* old(const std::string& name) const {
    const auto found = before.find(name);
    return first() || found == before.end() ? nullptr : &found->second;
  }
  bool first() const { return steps == 1; }
  bool known_before(const std::string& name) const { return first() || before.count(name) != 0; }

  Column p, g, d;
  std::map<std::string, Column> after, before;
  int64_t steps;
  double enough = 0;
  bool moves = false, has_states = false;
};

double value_of(const UpdateRule& rule, const char* name, double otherwise = 0) {
  const auto found = rule.values.find(name);
  return found == rule.values.end() ? otherwise : found->second;
}

// state = f0 * gradient + f1 * parameter + f2 * the state before: 1 - beta, its product with the decay, beta.
struct Recurrence {
  double of_gradient, decay, of_old;
};
std::optional<Recurrence> recurrence(const Step& s, const char* name) {
  const Column& now = *s.state(name);
  const Column* old = s.old(name);
  Fit found = old ? fit({&s.g, &s.p, old}, now) : fit({&s.g, &s.p}, now);
  const bool with_parameter = !found.factors.empty();
  if (!with_parameter) found = old ? fit({&s.g, old}, now) : fit({&s.g}, now);  // the parameter is zero
  if (found.factors.empty() || !(found.rms <= kStateNoise * rms(now)) || found.factors[0] == 0) return std::nullopt;
  const bool decays = with_parameter && std::abs(found.factors[1]) * rms(s.p) > kStateNoise * rms(now);
  return Recurrence{found.factors[0], decays ? found.factors[1] / found.factors[0] : 0, old ? found.factors.back() : 0};
}

// --- SGD

std::optional<UpdateRule> plain_sgd(const Step& s) {
  const Fit plain = fit({&s.g}, s.d);
  if (plain.rms <= s.enough) return UpdateRule{"SGD", {{"lr", -plain.factors[0]}, {"weight_decay", 0}}, plain.max};
  const Fit decayed = fit({&s.g, &s.p}, s.d);
  if (decayed.factors.empty() || decayed.rms > s.enough) return std::nullopt;
  return UpdateRule{
      "SGD", {{"lr", -decayed.factors[0]}, {"weight_decay", decayed.factors[1] / decayed.factors[0]}}, decayed.max};
}

std::optional<UpdateRule> sgd(const Step& s) {
  const Column* buffer = s.state("momentum_buffer");
  if (!buffer || s.first()) {
    auto rule = plain_sgd(s);
    if (rule && !buffer && !s.first()) rule->values["momentum"] = 0;
    return rule;
  }
  UpdateRule rule{"SGD", {}, 0};
  if (const Fit step = fit({buffer}, s.d); step.rms <= s.enough) {
    rule.values = {{"lr", -step.factors[0]}, {"nesterov", 0}};
    rule.max_abs = step.max;
  } else if (const Fit looking = fit({&s.g, &s.p, buffer}, s.d);
             !looking.factors.empty() && looking.rms <= s.enough && looking.factors[0] < 0) {
    rule.values = {{"lr", -looking.factors[0]}, {"nesterov", 1}};
    rule.max_abs = looking.max;
  } else {
    return std::nullopt;
  }
  if (!s.known_before("momentum_buffer")) return rule;
  if (const auto found = recurrence(s, "momentum_buffer")) {
    rule.values["weight_decay"] = found->decay;
    rule.values["momentum"] = found->of_old;
    rule.values["dampening"] = 1 - found->of_gradient;
  }
  return rule;
}

Column sgd_update(const UpdateRule& rule, const Step& s) {
  const double lr = value_of(rule, "lr"), decay = value_of(rule, "weight_decay"), momentum = value_of(rule, "momentum");
  const Column* buffer = s.first() ? nullptr : s.state("momentum_buffer");
  const bool nesterov = value_of(rule, "nesterov") != 0;
  Column update(s.p.size());
  for (size_t i = 0; i < update.size(); ++i) {
    const double gradient = s.g[i] + decay * s.p[i];
    update[i] = -lr * (!buffer ? gradient : nesterov ? gradient + momentum * (*buffer)[i] : (*buffer)[i]);
  }
  return update;
}

// --- Adam

// m / (1 - beta1^t) and the root of v / (1 - beta2^t)
struct Moments {
  Column m, root;
};
Moments corrected(const Step& s, Column m, const Column& v, double beta1, double beta2) {
  const double c1 = 1 - std::pow(beta1, static_cast<double>(s.steps)),
               c2 = 1 - std::pow(beta2, static_cast<double>(s.steps));
  Moments result{std::move(m), Column(v.size())};
  for (double& x : result.m) x /= c1;
  for (size_t i = 0; i < v.size(); ++i) result.root[i] = std::sqrt(std::max(v[i], 0.0) / c2);
  return result;
}

Column direction(const Moments& moments, double eps) {
  Column result(moments.m.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const double root = moments.root[i] + eps;
    result[i] = root > 0 ? moments.m[i] / root : 0;
  }
  return result;
}

// d = -lr * m / (root + eps) - lr * weight_decay * p, with the eps that leaves least.
std::optional<UpdateRule> adam_step(const Step& s, const Moments& moments) {
  const auto step_with = [&](double exponent) {
    const Column along = direction(moments, std::pow(10.0, exponent));
    Fit found = fit({&along, &s.p}, s.d);
    if (found.factors.empty()) found = fit({&along}, s.d);  // the parameter is zero
    return found;
  };
  double best = -16, least = INFINITY;
  for (double e = -16; e <= 1; e += 0.5)
    if (const double left = step_with(e).rms; left < least * (1 - 1e-9)) best = e, least = left;
  double low = best - 0.5, high = best + 0.5;
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  for (int i = 0; i < 40; ++i) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    const bool left = step_with(a).rms < step_with(b).rms;
    (left ? high : low) = left ? b : a;
  }
  Fit found = step_with((low + high) / 2);
  double eps = std::pow(10.0, (low + high) / 2);
  // An eps far below every root leaves no mark.
  if (const Fit without = step_with(-16); without.rms <= s.enough) found = without, eps = 0;
  if (found.factors.empty() || !(found.rms <= s.enough) || found.factors[0] >= 0) return std::nullopt;
  UpdateRule rule{"Adam", {{"lr", -found.factors[0]}, {"eps", eps}, {"weight_decay", 0}}, found.max};
  if (found.factors.size() == 2 && std::abs(found.factors[1]) * rms(s.p) > s.enough) {
    rule.kind = "AdamW";
    rule.values["weight_decay"] = found.factors[1] / found.factors[0];
  }
  return rule;
}

// 1 - beta2, from the squares of the gradients.
std::optional<double> beta2_of(const Step& s, double decay) {
  const Column& v = *s.state("exp_avg_sq");
  Column squares(s.g.size());
  for (size_t i = 0; i < squares.size(); ++i) squares[i] = std::pow(s.g[i] + decay * s.p[i], 2);
  const Column* old = s.old("exp_avg_sq");
  const Fit found = old ? fit({&squares, old}, v) : fit({&squares}, v);
  if (found.factors.empty() || !(found.rms <= kStateNoise * rms(v))) return std::nullopt;
  return 1 - found.factors[0];
}

const Column& denominator(const Step& s) {
  const Column* largest = s.state("max_exp_avg_sq");  // of AMSGrad
  return largest ? *largest : *s.state("exp_avg_sq");
}

std::optional<UpdateRule> adam(const Step& s) {
  std::optional<double> beta1, beta2;
  double decay = 0;
  if (s.known_before("exp_avg") && s.known_before("exp_avg_sq")) {
    if (const auto found = recurrence(s, "exp_avg")) {
      beta1 = 1 - found->of_gradient;
      decay = found->decay;
      beta2 = beta2_of(s, decay);
    }
  }
  const bool known = beta1 && beta2;
  const Moments moments =
      corrected(s, *s.state("exp_avg"), denominator(s), known ? *beta1 : 0.9, known ? *beta2 : 0.999);
  auto rule = adam_step(s, moments);
  if (!rule) return rule;
  rule->assumes_betas = !known;
  if (known) rule->values["beta1"] = *beta1, rule->values["beta2"] = *beta2;
  if (decay != 0) rule->values["weight_decay"] = decay;
  return rule;
}

// The moments of a first step are those of its gradient.
std::optional<UpdateRule> adam_without_states(const Step& s) {
  Moments moments{s.g, Column(s.g.size())};
  for (size_t i = 0; i < s.g.size(); ++i) moments.root[i] = std::abs(s.g[i]);
  auto rule = adam_step(s, moments);
  if (rule && rule->kind == "Adam") rule->values.erase("weight_decay");  // in the gradient it does not show
  return rule;
}

bool explains_states(const UpdateRule& rule, const Step& s) {
  const auto near = [](double a, double b) { return std::abs(a - b) <= 2e-3 * std::max(std::abs(a), std::abs(b)); };
  const auto same = [&](const char* name, double value) {
    const auto found = rule.values.find(name);
    return found == rule.values.end() || near(1 - found->second, 1 - value);
  };
  if (s.state("exp_avg") && s.state("exp_avg_sq") && s.known_before("exp_avg") && s.known_before("exp_avg_sq")) {
    const auto m = recurrence(s, "exp_avg");
    const auto beta2 = m ? beta2_of(s, m->decay) : std::nullopt;
    const double decay = rule.kind == "Adam" ? value_of(rule, "weight_decay") : 0;
    return m && beta2 && same("beta1", 1 - m->of_gradient) && same("beta2", *beta2) && near(m->decay, decay);
  }
  if (s.state("momentum_buffer") && !s.first() && s.known_before("momentum_buffer")) {
    const auto b = recurrence(s, "momentum_buffer");
    return b && rule.values.count("momentum") && same("momentum", b->of_old) && same("dampening", 1 - b->of_gradient) &&
           near(b->decay, value_of(rule, "weight_decay"));
  }
  // A step without a buffer is one without momentum.
  return s.first() || s.state("momentum_buffer") || value_of(rule, "momentum") == 0;
}

bool complete(const UpdateData& data) {
  return data.parameter.defined() && data.gradient.defined() && data.updated.defined() &&
         data.parameter.numel() == data.gradient.numel() && data.parameter.numel() == data.updated.numel();
}

}  // namespace

std::optional<UpdateRule> fit_update(const UpdateData& data) {
  constexpr int64_t kFewest = 8;  // elements that tell one rule from another
  if (!complete(data) || data.parameter.numel() < kFewest) return std::nullopt;
  const Step s(data);
  if (!s.moves) return std::nullopt;
  if (s.state("exp_avg") && s.state("exp_avg_sq")) return adam(s);
  if (auto rule = sgd(s)) return rule;
  return s.first() && !s.has_states ? adam_without_states(s) : std::nullopt;
}

bool explains(const UpdateRule& rule, const UpdateData& data) {
  if (!complete(data)) return false;
  const Step s(data);
  Column left;
  const double decay = rule.kind == "AdamW" ? value_of(rule, "weight_decay") : 0;
  if (rule.kind == "SGD") {
    if (s.state("exp_avg")) return false;
    left = sgd_update(rule, s);
  } else if (s.state("exp_avg") && s.state("exp_avg_sq")) {
    const Moments moments =
        corrected(s, *s.state("exp_avg"), denominator(s), value_of(rule, "beta1", 0.9), value_of(rule, "beta2", 0.999));
    left = direction(moments, value_of(rule, "eps"));
    for (size_t i = 0; i < left.size(); ++i) left[i] = -value_of(rule, "lr") * (left[i] + decay * s.p[i]);
  } else {
    return false;
  }
  for (size_t i = 0; i < left.size(); ++i) left[i] -= s.d[i];
  constexpr double kRoom = 4;  // numbers that were fitted to another step
  return rms(left) <= kRoom * s.enough && explains_states(rule, s);
}

}  // namespace hb::layer_diff::hints
