#pragma once

#include <halfbridge/tensor.h>

namespace hb::ops {

/// The losses of rows x whose labels are t: (rows, classes) both.
using LabelMargins = Tensor (*)(const Tensor& x, const Tensor& t);

/// What multi_margin_loss computes besides.
struct ClassMargins {
  bool squared;  // p == 2
  double margin;
  Tensor weight;  // of classes; may be undefined
};

/// Whether the functions below take them.
bool has_margin_loops(const Tensor& x, const Tensor& t);
/// What composed(x, t) gives, by loops that make no pairs in memory; labels have been checked.
Tensor label_margins(const Tensor& x, const Tensor& t, LabelMargins composed);
/// The losses of rows x (rows, classes) whose classes are t (rows, 1), which have been checked, by loops; the weight
/// requires no gradient. composed(x, t, how) gives the same.
Tensor class_margins(const Tensor& x, const Tensor& t, const ClassMargins& how,
                     Tensor (*composed)(const Tensor& x, const Tensor& t, const ClassMargins& how));

}  // namespace hb::ops
