#pragma once
// Gradients of a function that has a kernel of its own for them, where they must be differentiated again.

#include <halfbridge/autograd.h>
#include <halfbridge/ops.h>

#include "autograd/record.h"

namespace hb {

/// The gradients by autograd of `formula`, which computes the results from public functions alone, at `inputs` in the
/// order in which record() was given them; undefined where there is no input or b.needs() nothing. `grads`: of all
/// results.
template <class F>
variable_list composed_gradients(Backward& b, const variable_list& inputs, const variable_list& grads,
                                 const F& formula) {
  // One input may have been computed from another: nothing may flow through that, so each gets a view of its own.
  variable_list views, wanted, out(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    views.push_back(inputs[i].defined() ? inputs[i].view_as(inputs[i]) : Tensor());
    if (inputs[i].defined() && b.needs(i)) wanted.push_back(views.back());
  }
  const variable_list found = autodiff::grad(formula(views), wanted, grads, true, true, true);
  size_t k = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].defined() && b.needs(i)) out[i] = found[k++];
  return out;
}

}  // namespace hb
