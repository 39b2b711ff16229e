// Margin losses on the CPU by loops. The composed way of that with several labels in each row makes all pairs of label
// and class; that with one takes a call for each step.
#include "ops/nn/margins.h"

#include <halfbridge/ops.h>

#include <vector>

#include "autograd/composed.h"
#include "core/recorder.h"

namespace hb::ops {
namespace {

/// What the loops read and write of a row.
template <class T>
struct Row {
  const T* x;
  const int64_t* labels;
  int64_t classes;
  std::vector<T> others{};        // values of the classes that are no labels
  std::vector<int64_t> places{};  // where they stand
  int64_t count = 0;              // of labels: they stand before the first negative entry

  void sort_out() {
    std::vector<char> is_label(classes);
    for (count = 0; count < classes && labels[count] >= 0; ++count) is_label[labels[count]] = 1;
    others.clear(), places.clear();
    for (int64_t k = 0; k < classes; ++k)
      if (!is_label[k]) others.push_back(x[k]), places.push_back(k);
  }
};

/// The sum of max(0, base + x[k]), or of its squares, in lanes of which the compiler makes vectors; NaN is kept.
template <bool squared = false, class T>
double sum_above(T base, const T* x, int64_t n) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  const auto above = [base](T v) {
    const T z = base + v < 0 ? T(0) : base + v;
    return squared ? z * z : z;
  };
  int64_t k = 0;
  double total = 0;
  if (n >= kLanes) {
    T lane[kLanes] = {};
    for (; k + kLanes <= n; k += kLanes)
      for (int64_t j = 0; j < kLanes; ++j) lane[j] += above(x[k + j]);
    for (int64_t width = kLanes / 2; width > 0; width /= 2)
      for (int64_t j = 0; j < width; ++j) lane[j] += lane[j + width];
    total = static_cast<double>(lane[0]);
  }
  for (; k < n; ++k) total += static_cast<double>(above(x[k]));
  return total;
}

template <class T>
void losses_of_rows(const Tensor& x, const Tensor& t, Tensor& out) {
  const int64_t classes = x.size(1);
  Row<T> row{x.data_ptr<T>(), t.data_ptr<int64_t>(), classes};
  T* const to = out.data_ptr<T>();
  for (int64_t i = 0, rows = x.size(0); i < rows; ++i, row.x += classes, row.labels += classes) {
    row.sort_out();
    double sum = 0;
    for (int64_t l = 0; l < row.count; ++l)
      sum += sum_above(1 - row.x[row.labels[l]], row.others.data(), static_cast<int64_t>(row.others.size()));
    to[i] = static_cast<T>(sum) / static_cast<T>(classes);
  }
}

/// A pair above 0 moves its class up and its label down.
template <class T>
void gradients_of_rows(const Tensor& x, const Tensor& t, const Tensor& g, Tensor& out) {
  const int64_t classes = x.size(1);
  Row<T> row{x.data_ptr<T>(), t.data_ptr<int64_t>(), classes};
  const T* const grads = g.data_ptr<T>();
  T* to = out.data_ptr<T>();
  std::vector<int32_t> pairs;
  for (int64_t i = 0, rows = x.size(0); i < rows; ++i, row.x += classes, row.labels += classes, to += classes) {
    row.sort_out();
    const T share = grads[i] / static_cast<T>(classes);
    pairs.assign(row.others.size(), 0);
    for (int64_t l = 0; l < row.count; ++l) {
      const T base = 1 - row.x[row.labels[l]];
      int32_t above = 0;
      for (size_t k = 0; k < pairs.size(); ++k) {
        const int32_t is_above = base + row.others[k] <= 0 ? 0 : 1;
        pairs[k] += is_above, above += is_above;
      }
      to[row.labels[l]] -= static_cast<T>(above) * share;
    }
    for (size_t k = 0; k < pairs.size(); ++k) to[row.places[k]] = static_cast<T>(pairs[k]) * share;
  }
}

// --- one class for each row

template <class T>
void losses_of_classes(const Tensor& x, const Tensor& t, const ClassMargins& how, Tensor& out) {
  const int64_t classes = x.size(1);
  const T *row = x.data_ptr<T>(), *weight = how.weight.defined() ? how.weight.data_ptr<T>() : nullptr;
  const int64_t* const labels = t.data_ptr<int64_t>();
  T* const to = out.data_ptr<T>();
  const auto sum = how.squared ? sum_above<true, T> : sum_above<false, T>;
  for (int64_t i = 0, rows = x.size(0); i < rows; ++i, row += classes) {
    const int64_t own = labels[i];
    const T base = static_cast<T>(how.margin) - row[own];
    const double total = sum(base, row, own) + sum(base, row + own + 1, classes - own - 1);
    to[i] = static_cast<T>(total) * (weight ? weight[own] : T(1)) / static_cast<T>(classes);
  }
}

template <class T>
void gradients_of_classes(const Tensor& x, const Tensor& t, const ClassMargins& how, const Tensor& g, Tensor& out) {
  const int64_t classes = x.size(1);
  const T *row = x.data_ptr<T>(), *weight = how.weight.defined() ? how.weight.data_ptr<T>() : nullptr;
  const int64_t* const labels = t.data_ptr<int64_t>();
  const T* const grads = g.data_ptr<T>();
  T* to = out.data_ptr<T>();
  for (int64_t i = 0, rows = x.size(0); i < rows; ++i, row += classes, to += classes) {
    const int64_t own = labels[i];
    const T base = static_cast<T>(how.margin) - row[own];
    const T share = grads[i] * (weight ? weight[own] : T(1)) / static_cast<T>(classes);
    for (int64_t k = 0; k < classes; ++k) {
      const T z = base + row[k];
      to[k] = z <= 0 ? T(0) : how.squared ? 2 * z * share : share;
    }
    to[own] = 0;
    double others = 0;
    for (int64_t k = 0; k < classes; ++k) others += static_cast<double>(to[k]);
    to[own] = static_cast<T>(-others);
  }
}

}  // namespace

bool has_margin_loops(const Tensor& x, const Tensor& t) {
  return x.device().is_cpu() && t.device().is_cpu() && (x.scalar_type() == kFloat || x.scalar_type() == kDouble) &&
         !capture::recorder();
}

Tensor label_margins(const Tensor& x, const Tensor& t, LabelMargins composed) {
  Tensor out = empty({x.size(0)}, x.options().requires_grad(false));
  const Tensor dense = x.detach().contiguous(), labels = t.contiguous();
  x.scalar_type() == kFloat ? losses_of_rows<float>(dense, labels, out) : losses_of_rows<double>(dense, labels, out);
  if (needs_grad(x))
    record("MultilabelMarginLossBackward0", out, {&x}, {SavedTensor::input(x), SavedTensor::input(labels)},
           [composed](Backward& b, auto& s) -> variable_list {
             if (GradMode::is_enabled())  // a second gradient may be asked for
               return composed_gradients(b, {s[0]}, {b.grad()}, [&](const variable_list& v) -> variable_list {
                 return {composed(v[0], s[1])};
               });
             const Tensor values = s[0].contiguous(), g = b.grad().contiguous();
             Tensor dx = zeros(values.sizes(), values.options());
             values.scalar_type() == kFloat ? gradients_of_rows<float>(values, s[1], g, dx)
                                            : gradients_of_rows<double>(values, s[1], g, dx);
             return {dx};
           });
  return out;
}

Tensor class_margins(const Tensor& x, const Tensor& t, const ClassMargins& how,
                     Tensor (*composed)(const Tensor& x, const Tensor& t, const ClassMargins& how)) {
  Tensor out = empty({x.size(0)}, x.options().requires_grad(false));
  const Tensor dense = x.detach().contiguous(), classes = t.contiguous();
  const ClassMargins dense_how{how.squared, how.margin, how.weight.defined() ? how.weight.contiguous() : Tensor()};
  x.scalar_type() == kFloat ? losses_of_classes<float>(dense, classes, dense_how, out)
                            : losses_of_classes<double>(dense, classes, dense_how, out);
  if (needs_grad(x))
    record("MultiMarginLossBackward0", out, {&x},
           {SavedTensor::input(x), SavedTensor::input(classes), SavedTensor::input(dense_how.weight)},
           [squared = how.squared, margin = how.margin, composed](Backward& b, auto& s) -> variable_list {
             const ClassMargins kept{squared, margin, s[2]};
             if (GradMode::is_enabled())  // a second gradient may be asked for
               return composed_gradients(b, {s[0]}, {b.grad()}, [&](const variable_list& v) -> variable_list {
                 return {composed(v[0], s[1], kept)};
               });
             const Tensor values = s[0].contiguous(), g = b.grad().contiguous();
             Tensor dx = empty(values.sizes(), values.options().requires_grad(false));
             values.scalar_type() == kFloat ? gradients_of_classes<float>(values, s[1], kept, g, dx)
                                            : gradients_of_classes<double>(values, s[1], kept, g, dx);
             return {dx};
           });
  return out;
}

}  // namespace hb::ops
