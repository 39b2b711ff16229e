// Causes in what a layer is given and in what is done with its result.
#include <cmath>

#include <fmt/format.h>

#include <halfbridge/ops.h>

#include "relations.h"
#include "search.h"

namespace hb::layer_diff::hints {

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

// Every element has the few digits of a half type.
void try_precision(Search& search) {
  const Tensor &mine = search.output(), &theirs = search.ref.outputs[search.k];
  for (Dtype half : {kBFloat16, kHalf}) {
    const char* name = half == kHalf ? "float16" : "bfloat16";
    const bool stored = mine.scalar_type() == half && theirs.scalar_type() != half;
    const bool rounded = mine.numel() >= 8 && is_exact_in(mine, half) && !is_exact_in(theirs, half);
    if (!stored && !rounded) continue;
    search.add("half_precision",
               fmt::format("the test's output {} {}, the reference's does not",
                           stored ? "has the dtype" : "has only values of", name),
               0);
    return;
  }
}

}  // namespace hb::layer_diff::hints
