// Causes in what a layer is given and in what is done with its result.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <halfbridge/ops.h>

#include "relations.h"
#include "search.h"

namespace hb::layer_diff::hints {

std::string input_name(const std::string& type, int64_t index) {
  const bool lstm = type.rfind("LSTM", 0) == 0;
  if (!lstm && type.rfind("GRU", 0) != 0 && type.rfind("RNN", 0) != 0) return {};
  return index == 1 ? "the initial hidden state" : index == 2 && lstm ? "the initial cell state" : "";
}

void try_given_inputs(Search& search) {
  for (size_t i = 0; i < std::max(search.ref.inputs.size(), search.test.inputs.size()); ++i) {
    const bool by_ref = i < search.ref.inputs.size() && search.ref.inputs[i].defined();
    const bool by_test = i < search.test.inputs.size() && search.test.inputs[i].defined();
    if (by_ref == by_test) continue;
    const std::string name = input_name(search.ref.call->type, static_cast<int64_t>(i));
    search.attempt(name.empty() ? "given_inputs" : "initial_state",
                   fmt::format("agrees {} {}, which the {} alone gives to it", by_test ? "with" : "without",
                               name.empty() ? fmt::format("input {}", i) : name, by_test ? "test" : "reference"),
                   search.layer());
  }
}

void try_rearranged_inputs(Search& search) {
  for (size_t i = 0; i < search.inputs.size() && !search.out_of_time(); ++i) {
    if (!search.inputs[i].defined() || search.inputs[i].dim() < 2 || !search.inputs[i].is_floating_point()) continue;
    const auto agrees_with = [&](const Rearranged& r) {
      Tensors changed = search.inputs;
      changed[i] = r.tensor;
      return search.attempt("rearranged_input", "agrees if " + r.text, search.layer(), changed) || search.out_of_time();
    };
    for_rearrangements(search.inputs[i], search.inputs[i].sizes().vec(), fmt::format("input {}", i), agrees_with);
  }
}

// The right result, changed afterwards.
void try_output(Search& search) {
  const Tensor expected = search.expected();
  if (!expected.defined() || expected.numel() != search.output().numel()) return;
  const auto relation = relate(expected, search.output(), "the output");
  if (!relation) return;
  search.add(relation->cause == "input_scale" ? "output_scale" : relation->cause,
             "the layer agrees, but " + relation->text, relation->max_abs);
}

namespace {

bool is_exact_in(const Tensor& t, Dtype dtype) {
  return t.is_floating_point() && replay::unit_roundoff(t.scalar_type()) < replay::unit_roundoff(dtype) &&
         replay::error_of(t.to(dtype), t).max == 0;
}

}  // namespace

// Every element has the few digits of a half type, and the layer run in that type gives it.
void try_precision(Search& search) {
  const Tensor &mine = search.output(), &theirs = search.ref.outputs[search.k];
  for (Dtype half : {kHalf, kBFloat16}) {
    const bool stored = mine.scalar_type() == half && theirs.scalar_type() != half;
    if (!stored && (!is_exact_in(mine, half) || is_exact_in(theirs, half))) continue;
    try {
      const Tensor exact = replay::forward(search.layer(), search.inputs, kDouble).at(search.k);
      const Tensor in_half = replay::forward(search.layer(), search.inputs, half).at(search.k);
      const auto error = replay::error_of(mine, exact);
      if (!replay::noise_between(in_half, exact, half).explains(error)) continue;
      search.add("half_precision",
                 fmt::format("agrees when run in {0}: the test's output has {1} {0}, the reference's does not",
                             half == kHalf ? "float16" : "bfloat16", stored ? "the dtype" : "only values of"),
                 error.max);
      return;
    } catch (const std::exception&) {
      continue;  // a layer that refuses the dtype did not run in it
    }
  }
}

}  // namespace hb::layer_diff::hints
