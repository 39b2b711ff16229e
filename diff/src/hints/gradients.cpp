// Causes in gradients: their scale, their sign, a branch that gives none.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <halfbridge/ops.h>

#include "causes.h"
#include "gradients.h"
#include "relations.h"
#include "search.h"

namespace hb::layer_diff::hints {

namespace {

// The loss scale of the test's trace that is next after the step's gradients.
std::optional<double> loss_scale(const Trace& trace, int64_t step) {
  for (const Record& record : trace.records()) {
    if (record.kind != Kind::loss_scale || record.step != step || record.file < 0) continue;
    double scale = 0;
    trace.read(record, 0, 1, &scale);
    return scale;
  }
  return std::nullopt;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }

std::string text_of_scale(const Trace& test, int64_t step, double factor, const std::vector<int64_t>& shape) {
  const std::string times = fmt::format("the gradient is {} times the reference's", text_of_factor(factor));
  if (const auto scale = loss_scale(test, step); scale && near(factor, *scale))
    return fmt::format("{}: the loss scale of {} was not removed", times, *scale);
  double numel = 1;
  for (int64_t size : shape) numel *= static_cast<double>(size);
  const double count = factor > 1 ? factor : 1 / factor;
  const char* reduction =
      factor > 1 ? "a sum where the reference takes the mean" : "a mean where the reference takes the sum";
  if (!shape.empty() && shape[0] > 1 && near(count, static_cast<double>(shape[0])))
    return fmt::format("{}, the size of the batch: {}", times, reduction);
  if (numel > 1 && near(count, numel)) return fmt::format("{}, the number of elements: {}", times, reduction);
  const double exponent = std::log2(count);
  if (factor >= 16 && near(exponent, std::round(exponent)))
    return times + ": a power of two, as a loss scale that was not removed";
  return times;
}

}  // namespace

std::optional<Hint> gradient_hint(const Trace& test_trace, int64_t step, const Tensor& ref, const Tensor& test,
                                  const std::string& noun) {
  const auto relation = relate(ref, test, noun);
  if (!relation) return std::nullopt;
  const bool of_parameter = noun.find('`') != std::string::npos;  // its shape has no batch
  if (relation->cause == "zero")
    return Hint{"detached", noun + " is zero: nothing flows back here (detach() or no_grad in the test?)", 0};
  if (relation->cause == "sign") return Hint{"gradient_sign", relation->text, relation->max_abs};
  if (relation->cause == "input_scale") {
    if (const auto factor = factor_between(ref, test))
      return Hint{"gradient_scale",
                  text_of_scale(test_trace, step, *factor, of_parameter ? std::vector<int64_t>{} : ref.sizes().vec()),
                  relation->max_abs};
    return std::nullopt;  // an offset of gradients says nothing
  }
  if (relation->cause == "doubled_activation" || relation->cause == "missing_activation") return std::nullopt;
  return Hint{"gradient_" + relation->cause, relation->text, relation->max_abs};
}

std::vector<Hint> causes_of_gradients(const Report& report, const LayerDiff& layer) {
  std::vector<Hint> hints;
  const auto lost = [](const TensorDiff& d) { return d.ref && !d.test && d.ref->kind == Kind::parameter_grad; };
  const auto kept = [](const TensorDiff& d) { return d.test && d.test->kind == Kind::parameter_grad; };
  if (std::any_of(layer.state.begin(), layer.state.end(), lost) &&
      std::none_of(layer.state.begin(), layer.state.end(), kept))
    hints.push_back({"detached",
                     "its parameters have no gradient in the test: nothing flows back to it (detach(), no_grad or "
                     "data() after it, or requires_grad off?)",
                     0});
  for (const TensorDiff& diff : layer.backward) {
    if (!diff.ref || !diff.test || diff.ref->kind != Kind::grad_output || diff.pass()) continue;
    if (diff.ref->file < 0 || diff.test->file < 0 || diff.ref->numel() != diff.test->numel()) continue;
    if (auto hint = gradient_hint(*report.test, layer.step, report.ref->load(*diff.ref), report.test->load(*diff.test),
                                  fmt::format("the gradient of output {}", diff.ref->index)))
      hints.push_back(*hint);
  }
  return hints;
}

namespace {

// Options that show in the backward pass alone, as the padding_idx of an embedding: the test prints another value, and
// the reference's layer with that value gives the test's gradient.
std::optional<Hint> option_of_gradient(const replay::Pair& pair, const replay::Chosen& chosen, const Tensor& test) {
  if (!pair.test_model.layer || pair.test_model.layer->declaration != pair.ref_model.layer->declaration)
    return std::nullopt;
  for (const replay::Option& option : pair.ref_model.layer->declaration->options) {
    const replay::Value &of_ref = pair.ref_model.layer->args.at(option.name),
                        &of_test = pair.test_model.layer->args.at(option.name);
    if (replay::same(of_ref, of_test)) continue;
    replay::Pair changed = pair;
    changed.ref_model.layer->args.set(option.name, of_test);
    try {
      const Tensor exact = chosen.of(replay::expected_gradients(changed, kDouble), pair.ref);
      const Tensor rounded = chosen.of(replay::expected_gradients(changed, test.scalar_type()), pair.ref);
      const auto error = replay::error_of(test, exact);
      if (replay::noise_between(rounded, exact, test.scalar_type()).explains(error))
        return Hint{option.name, option_text(option.name, of_test, of_ref), error.max};
    } catch (const std::exception&) {
      continue;  // a value that the layer refuses is not the cause
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Hint> causes_of_gradient(const replay::Pair& pair, const replay::Chosen& chosen) {
  const Tensor expected = chosen.of(replay::expected_gradients(pair, kDouble), pair.ref),
               test = chosen.recorded(pair.test);
  const Dtype dtype = test.scalar_type();
  if (auto hint = option_of_gradient(pair, chosen, test)) return {*hint};
  if (auto hint = gradient_hint(*pair.test.trace, pair.test.call->step, expected.to(dtype), test,
                                "the gradient of " + chosen.name()))
    return {*hint};
  return {};
}

}  // namespace hb::layer_diff::hints
