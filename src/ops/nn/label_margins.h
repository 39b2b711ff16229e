#pragma once

#include <halfbridge/tensor.h>

namespace hb::ops {

/// The losses of rows x whose labels are t: (rows, classes) both.
using LabelMargins = Tensor (*)(const Tensor& x, const Tensor& t);

/// Whether label_margins takes them.
bool has_label_margins(const Tensor& x, const Tensor& t);
/// What composed(x, t) gives, by loops that make no pairs in memory; labels have been checked.
Tensor label_margins(const Tensor& x, const Tensor& t, LabelMargins composed);

}  // namespace hb::ops
