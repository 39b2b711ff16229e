#pragma once

#include <functional>

#include <halfbridge/tensor.h>

namespace hb {

/// Before a change of self's place in memory: throws for leaves that require a gradient and for views that must not be
/// changed. `name` is the operation ("unsqueeze_").
void check_changeable(const char* name, const Tensor& self);
/// Before a change of self's values: throws for these and for memory that overlaps itself.
void check_inplace(const char* name, const Tensor& self);

/// An in-place operation by way of its out-of-place form: `self` gets the values (cast to its dtype) and the history of
/// `compute(old self)`. Views and their bases stay connected. Use it for any in-place form; where no gradient is
/// involved `direct` (may be empty) writes into self at once and no second buffer is made.
///   Tensor& exp_(Tensor& self) { return inplace("exp_", self, [&](const Tensor& x) { return exp(x); }); }
Tensor& inplace(const char* name, Tensor& self, const std::function<Tensor(const Tensor&)>& compute,
                const std::function<void(Tensor&)>& direct = nullptr, std::initializer_list<const Tensor*> others = {});

/// Gives `out`, whose shape is another one, this shape; warns where it had elements.
void size_out(const char* name, Tensor& out, IntArrayRef size);
/// Resizes `out` to the shape if it is empty or differs (with LibTorch's rule), checks its dtype, and copies.
Tensor& assign_out(const char* name, Tensor& out, const Tensor& result);

}  // namespace hb
