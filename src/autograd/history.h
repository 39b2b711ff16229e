#pragma once

#include <halfbridge/autograd.h>

namespace hb::history {

/// A second record of self's memory that holds its history: what `self` was before an in-place operation.
Tensor earlier_self(const Tensor& self);
/// Gives `self` (and the base that it is a view of) the history of `result`, whose values it has taken.
void rebase(const Tensor& self, const Tensor& result);
/// Throws for a view that was made in no_grad mode: it cannot get a history. `what`: "is being" or "has been".
void check_origin(const AutogradMeta& view, const char* what);
/// Gives a view whose base was changed in place its new grad_fn. Threads that read the view may all come at once.
void bring_up_to_date(const Tensor& view);

}  // namespace hb::history
