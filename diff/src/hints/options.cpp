// Causes among the options of a layer: its type, mode, and what it prints or could print.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <halfbridge/ops.h>

#include "search.h"

namespace hb::layer_diff::hints {

using replay::Option;
using replay::Value;

std::string option_text(const std::string& name, const Value& value, const Value& of_ref) {
  return fmt::format("agrees with {}={} (the reference has {}={})", name, replay::text_of(value), name,
                     replay::text_of(of_ref));
}

namespace {

bool attempt_option(Search& search, const Option& option, const Value& value) {
  const Value& of_ref = search.layer().args.at(option.name);
  if (replay::same(value, of_ref)) return false;
  Layer changed = search.layer();
  changed.args.set(option.name, value);
  return search.attempt(option.name, option_text(option.name, value, of_ref), changed);
}

// [1, 2] given as [2, 1]
std::optional<Value> swapped(const Value& value) {
  if (value.type != Value::Type::list || value.items.size() < 2) return std::nullopt;
  Value turned = value;
  std::reverse(turned.items.begin(), turned.items.end());
  if (replay::same(turned, value)) return std::nullopt;
  return turned;
}

}  // namespace

void try_other_type(Search& search) {
  const std::string &mine = search.test.call->type, &theirs = search.ref.call->type;
  if (mine == theirs || !search.test_model.reproduces) return;
  if (search.test_model.layer->declaration->forward == search.layer().declaration->forward) return;  // relu and ReLU
  search.add("type", fmt::format("the test computes {} where the reference computes {}", mine, theirs),
             search.test_model.noise.max / replay::kNoiseMargin);
}

// Every element zero or the input's times one factor: a dropout that is on.
static void try_running_dropout(Search& search) {
  if (search.layer().declaration->type.rfind("Dropout", 0) != 0 && search.layer().declaration->type != "dropout")
    return;
  const Tensor x = search.inputs.at(0).to(kDouble), y = search.output().to(kDouble).reshape(x.sizes());
  const Tensor kept = y != 0;
  const double count = kept.sum().item<double>(), total = static_cast<double>(y.numel());
  if (count == 0 || count == total) return;
  const double factor = y.abs().sum().item<double>() / (x.abs() * kept.to(kDouble)).sum().item<double>();
  const auto error = replay::error_of(y, x * kept.to(kDouble) * factor);
  if (!search.noise.explains(error)) return;
  search.add(
      "training_mode",
      fmt::format("the test drops: {:.3g} of the elements are zero, the others {:.6g} times the input. Its mode is "
                  "training (eval() forgotten?), the reference's is not",
                  1 - count / total, factor),
      error.max);
}

void try_mode(Search& search) {
  Layer changed = search.layer();
  const bool training = changed.args.has("training") ? changed.args.flag("training") : changed.training;
  if (!search.test.call->masks.empty() && !search.ref.call->masks.empty()) {
    changed.masks = search.test_model.layer ? search.test_model.layer->masks : changed.masks;
    search.attempt(
        "dropout_mask",
        "agrees with the test's dropout mask: the random numbers differ, not the layer. Give the test the masks of "
        "the reference (HALFBRIDGE_TRACE_MASKS)",
        changed);
    changed = search.layer();
  }
  changed.training = !training;
  if (changed.args.has("training")) changed.args.set("training", Value::of(!training));
  if (search.test_model.layer && !search.test_model.layer->masks.empty())
    changed.masks = search.test_model.layer->masks;
  search.attempt("training_mode",
                 training
                     ? "agrees in eval mode: the reference is in training mode, the test is not"
                     : "agrees in training mode: the reference is in eval mode, the test is not (eval() forgotten?)",
                 changed);
  if (search.found.empty() && !training) try_running_dropout(search);
}

void try_printed_options(Search& search) {
  if (!search.test_model.layer || search.test_model.layer->declaration->type != search.layer().declaration->type)
    return;
  Layer all = search.layer();
  std::string text, first;
  int changed = 0;
  for (const Option& option : search.layer().declaration->options) {
    const Value& value = search.test_model.layer->args.at(option.name);
    if (attempt_option(search, option, value)) return;
    if (replay::same(value, all.args.at(option.name))) continue;
    text += (text.empty() ? "" : ", ") + option.name + "=" + replay::text_of(value);
    all.args.set(option.name, value);
    if (++changed == 1) first = option.name;
  }
  if (text.empty()) return;
  if (search.attempt("options", "agrees with the options that the test prints: " + text, all)) return;
  // Options that decide the shapes of parameters, as groups do: the test's parameters come with them.
  bool other_shapes = false;
  for (const auto& [name, tensor] : search.test_model.layer->state) {
    const auto of_ref = search.layer().state.find(name);
    other_shapes = other_shapes || (of_ref != search.layer().state.end() && of_ref->second.sizes() != tensor.sizes());
  }
  if (!other_shapes) return;
  all.state = search.test_model.layer->state;
  search.attempt(changed == 1 ? first : "options",
                 "agrees with the options that the test prints, which make its parameters of another shape: " + text,
                 all);
}

void try_options(Search& search) {
  for (const Option& option : search.layer().declaration->options) {
    for (const Value& other : option.others) attempt_option(search, option, other);
    if (const auto turned = swapped(search.layer().args.at(option.name))) attempt_option(search, option, *turned);
  }
}

// A scan over magnitudes, then the golden section between the neighbours of the best.
void solve_options(Search& search) {
  for (const Option& option : search.layer().declaration->options) {
    if (!option.continuous || search.layer().args.at(option.name).type != Value::Type::number) continue;
    const auto left = [&](double exponent) {
      Layer changed = search.layer();
      changed.args.set(option.name, Value::of(std::pow(10.0, exponent)));
      return search.left(changed).value_or(INFINITY);
    };
    constexpr double kLow = -13, kHigh = 3, kStep = 0.5;
    double best = kLow, least = INFINITY;
    for (double e = kLow; e <= kHigh && !search.out_of_time(); e += kStep)
      if (const double l = left(e); l < least) best = e, least = l;
    if (!std::isfinite(least)) continue;
    const double ratio = (std::sqrt(5.0) - 1) / 2;
    double low = best - kStep, high = best + kStep;
    for (int i = 0; i < 40 && !search.out_of_time(); ++i) {
      const double a = high - ratio * (high - low), b = low + ratio * (high - low);
      (left(a) < left(b) ? high : low) = left(a) < left(b) ? b : a;
    }
    const double value = std::pow(10.0, (low + high) / 2);
    // The roundest number that agrees is what somebody wrote.
    for (int digits = 1; digits <= 6; ++digits)
      if (attempt_option(search, option, replay::parse_value(fmt::format("{:.{}e}", value, digits - 1)))) break;
  }
}

}  // namespace hb::layer_diff::hints
