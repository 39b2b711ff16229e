// einsum and tensordot: rearranged into one stacked product per pair of operands.
#include <halfbridge/ops.h>

#include <algorithm>
#include <iterator>

#include "autocast/autocast.h"
#include "ops/common/defined.h"
#include "ops/linalg/einsum_equation.h"

namespace hb {
namespace {

using ops::equations::Equation;
using ops::equations::has;
using ops::equations::kLabels;
using ops::equations::Labels;

int64_t wrap(const char* name, int64_t d, int64_t dim) {
  HB_CHECK_INDEX(d >= -dim && d < dim, "[", name, "] Dimension out of range (expected to be in range of [", -dim, ", ",
                 dim - 1, "], but got ", d, ")");
  return d < 0 ? d + dim : d;
}

struct Operand {
  Tensor tensor;  // one dimension per label
  Labels labels;  // ascending, all different
};

// Repeated labels become diagonals; dimensions are sorted by label.
Operand normalise(Tensor t, Labels labels) {
  for (size_t i = 0; i < labels.size(); ++i)
    for (size_t j = i + 1; j < labels.size(); ++j) {
      if (labels[i] != labels[j]) continue;
      HB_CHECK(t.size(i) == t.size(j), "[einsum] expected repeated subscripts of the same size, got ", t.sizes());
      t = t.diagonal(0, static_cast<int64_t>(i), static_cast<int64_t>(j)).movedim(-1, static_cast<int64_t>(i));
      labels.erase(labels.begin() + j--);
    }
  std::vector<int64_t> order(labels.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return labels[a] < labels[b]; });
  Operand out{std::is_sorted(order.begin(), order.end()) ? t : t.permute(order), {}};
  for (int64_t o : order) out.labels.push_back(labels[o]);
  return out;
}

Operand sum_out(const Operand& x, const std::vector<bool>& keep) {
  std::vector<int64_t> dims;
  Labels left;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (keep[x.labels[i]]) {
      left.push_back(x.labels[i]);
    } else {
      dims.push_back(static_cast<int64_t>(i));
    }
  }
  return dims.empty() ? x : Operand{x.tensor.sum(dims), left};
}

// Dimensions of x with these labels, in this order; 1 where it has none.
struct Group {
  std::vector<int64_t> order;
  int64_t size = 1;
  DimVector sizes;
};
Group group(const Operand& x, const Labels& labels) {
  Group g;
  for (int l : labels)
    for (size_t i = 0; i < x.labels.size(); ++i)
      if (x.labels[i] == l) {
        g.order.push_back(static_cast<int64_t>(i));
        g.size *= x.tensor.size(i), g.sizes.push_back(x.tensor.size(i));
      }
  return g;
}

/// Each element times each, but for labels that both have.
Operand product_of_elements(const Operand& a, const Operand& b) {
  Labels labels;
  std::set_union(a.labels.begin(), a.labels.end(), b.labels.begin(), b.labels.end(), std::back_inserter(labels));
  const auto spread = [&](const Operand& x) {
    Tensor t = x.tensor;
    for (size_t d = 0; d < labels.size(); ++d)
      if (!has(x.labels, labels[d])) t = t.unsqueeze(static_cast<int64_t>(d));
    return t;
  };
  return {spread(a) * spread(b), labels};
}

Operand contract(Operand a, Operand b, const std::vector<bool>& needed_later) {
  // What only one operand has and nobody needs is summed before the product.
  std::vector<bool> keep_a = needed_later, keep_b = needed_later;
  for (int l : b.labels) keep_a[l] = true;
  for (int l : a.labels) keep_b[l] = true;
  a = sum_out(a, keep_a), b = sum_out(b, keep_b);
  Labels stacked, inner, left, right;
  for (int l : a.labels) (has(b.labels, l) ? (needed_later[l] ? stacked : inner) : left).push_back(l);
  for (int l : b.labels)
    if (!has(a.labels, l)) right.push_back(l);
  // A dimension of size 1 broadcasts against the other operand's.
  for (const Labels* list : {&stacked, &inner})
    for (int l : *list) {
      const auto at = [&](const Operand& x) {
        return std::find(x.labels.begin(), x.labels.end(), l) - x.labels.begin();
      };
      const int64_t na = a.tensor.size(at(a)), nb = b.tensor.size(at(b));
      HB_CHECK(na == nb || na == 1 || nb == 1, "[einsum] subscript has size ", nb,
               " which does not broadcast with previously seen size ", na);
      const auto grow = [&](Operand& x, int64_t n) {
        DimVector sizes(x.tensor.sizes());
        sizes[at(x)] = n;
        x.tensor = x.tensor.expand(sizes);
      };
      if (na < nb || (na == 1 && nb == 0)) grow(a, nb);
      if (nb < na || (nb == 1 && na == 0)) grow(b, na);
    }
  // Without a sum it is not a product of matrices, which autocast would run in half.
  if (inner.empty()) return product_of_elements(a, b);
  const auto matrix = [&](const Operand& x, const Labels& rows, const Labels& cols) {
    const Group s = group(x, stacked), r = group(x, rows), c = group(x, cols);
    std::vector<int64_t> order = s.order;
    order.insert(order.end(), r.order.begin(), r.order.end());
    order.insert(order.end(), c.order.begin(), c.order.end());
    return (order.empty() ? x.tensor : x.tensor.permute(order)).reshape({s.size, r.size, c.size});
  };
  // As LibTorch does: what comes first in the result lies outside.
  if (!left.empty() && !right.empty() && right[0] < left[0]) std::swap(a, b), std::swap(left, right);
  const Tensor product = matmul(matrix(a, left, inner), matrix(b, inner, right));
  DimVector sizes = group(a, stacked).sizes;
  for (int64_t n : group(a, left).sizes) sizes.push_back(n);
  for (int64_t n : group(b, right).sizes) sizes.push_back(n);
  Labels labels = stacked;
  labels.insert(labels.end(), left.begin(), left.end());
  labels.insert(labels.end(), right.begin(), right.end());
  return normalise(product.reshape(sizes), labels);
}

}  // namespace

Tensor einsum(std::string_view equation, TensorList operands, OptionalIntArrayRef path) {
  HB_AUTOCAST(einsum, as_is, half, equation, operands);
  HB_CHECK(!operands.empty(), "[einsum] expected at least one operand, got none");
  HB_CHECK(!path || static_cast<size_t>(path->size()) == 2 * (operands.size() - 1) || operands.size() == 1,
           "[einsum] expected a contraction path of ", 2 * (operands.size() - 1), " places, got ", path->size());
  for (const Tensor& t : operands) ops::check_defined(t);
  const Equation e = ops::equations::parse(equation, operands);
  std::vector<Operand> queue;
  for (size_t i = 0; i < operands.size(); ++i) queue.push_back(normalise(operands[i], e.terms[i]));
  Operand current = queue[0];
  for (size_t i = 1; i < queue.size(); ++i) {
    std::vector<bool> needed(kLabels, false);
    for (int l : e.result) needed[l] = true;
    for (size_t j = i + 1; j < queue.size(); ++j)
      for (int l : queue[j].labels) needed[l] = true;
    current = contract(current, queue[i], needed);
  }
  std::vector<bool> wanted(kLabels, false);
  for (int l : e.result) wanted[l] = true;
  current = sum_out(current, wanted);
  std::vector<int64_t> order;
  for (int l : e.result)
    order.push_back(std::find(current.labels.begin(), current.labels.end(), l) - current.labels.begin());
  return std::is_sorted(order.begin(), order.end()) ? current.tensor : current.tensor.permute(order);
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  HB_AUTOCAST(tensordot, as_is, widest, self, other, dims_self, dims_other);
  HB_CHECK(dims_self.size() == dims_other.size(), "[tensordot] both dimension lists should have same length, got ",
           dims_self, " and ", dims_other);
  std::vector<int64_t> inner_a, inner_b, free_a, free_b;
  std::vector<bool> used_a(self.dim()), used_b(other.dim());
  int64_t inner = 1;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t a = wrap("tensordot", dims_self[i], self.dim()), b = wrap("tensordot", dims_other[i], other.dim());
    HB_CHECK(self.size(a) == other.size(b), "[tensordot] contracted dimensions need to match, but first has size ",
             self.size(a), " in dim ", a, " and second has size ", other.size(b), " in dim ", b);
    inner_a.push_back(a), inner_b.push_back(b), used_a[a] = used_b[b] = true, inner *= self.size(a);
  }
  DimVector sizes;
  int64_t rows = 1, cols = 1;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (!used_a[d]) free_a.push_back(d), rows *= self.size(d), sizes.push_back(self.size(d));
  for (int64_t d = 0; d < other.dim(); ++d)
    if (!used_b[d]) free_b.push_back(d), cols *= other.size(d), sizes.push_back(other.size(d));
  if (free_a.empty() && free_b.empty())
    return dot(self.permute(inner_a).reshape({inner}), other.permute(inner_b).reshape({inner}));
  free_a.insert(free_a.end(), inner_a.begin(), inner_a.end());
  inner_b.insert(inner_b.end(), free_b.begin(), free_b.end());
  const Tensor a = self.permute(free_a).reshape({rows, inner}), b = other.permute(inner_b).reshape({inner, cols});
  return mm(a, b).reshape(sizes);
}

}  // namespace hb
