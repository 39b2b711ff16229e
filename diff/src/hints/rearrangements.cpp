#include <algorithm>
#include <numeric>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "../replay/config.h"
#include "relations.h"

namespace hb::layer_diff::hints {

namespace {

using Sizes = std::vector<int64_t>;
using Visit = std::function<bool(const Rearranged&)>;

std::string text_of(const Sizes& sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

Sizes permuted(const Sizes& sizes, const Sizes& order) {
  Sizes result;
  for (int64_t d : order) result.push_back(sizes[static_cast<size_t>(d)]);
  return result;
}
Sizes inverse(const Sizes& order) {
  Sizes result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

// Moving dimensions of size one changes nothing.
bool moves_nothing(const Sizes& sizes, const Sizes& order) {
  Sizes real;
  for (int64_t d : order)
    if (sizes[static_cast<size_t>(d)] > 1) real.push_back(d);
  return std::is_sorted(real.begin(), real.end());
}

bool permutations(const Tensor& t, const Sizes& shape, const std::string& noun, const Visit& visit) {
  const Sizes sizes = t.sizes().vec();
  if (sizes.size() < 2 || sizes.size() > 5) return false;
  const bool matrix = sizes.size() == 2;
  Sizes order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  while (std::next_permutation(order.begin(), order.end())) {
    if (moves_nothing(sizes, order)) continue;
    if (permuted(sizes, order) == shape &&
        visit({"transposed",
               matrix ? noun + " is transposed" : noun + " has its dimensions in the order " + text_of(order),
               t.permute(order)}))
      return true;
    if (sizes != shape) continue;
    // The same bytes read as if their dimensions stood in another order.
    const std::string bytes = noun + " is read from memory whose dimensions are in the order ";
    if (permuted(sizes, order) != shape &&
        visit({"memory_order", bytes + text_of(inverse(order)), t.permute(order).reshape(shape)}))
      return true;
    if (visit({"memory_order", bytes + text_of(order), t.reshape(permuted(sizes, order)).permute(inverse(order))}))
      return true;
  }
  return false;
}

bool reversals(const Tensor& t, const std::string& noun, const Visit& visit) {
  for (int64_t d = 0; d < t.dim(); ++d) {
    const std::string text = t.dim() >= 3 && d == 1 && t.size(1) == 3
                                 ? noun + " has its channels in reverse order (RGB and BGR)"
                                 : noun + " is reversed along dimension " + std::to_string(d);
    if (t.size(d) > 1 && visit({"reversed", text, t.flip({d})})) return true;
  }
  if (t.dim() < 4) return false;
  Sizes spatial;
  for (int64_t d = 2; d < t.dim(); ++d) spatial.push_back(d);
  return visit(
      {"reversed", noun + " is reversed along its spatial dimensions (convolution and correlation)", t.flip(spatial)});
}

// Blocks of rows: the gates of recurrent layers, q, k and v of attention.
bool blocks(const Tensor& t, const std::string& noun, const Visit& visit) {
  for (int64_t count : {2, 3, 4}) {
    if (t.dim() == 0 || t.size(0) % count != 0 || t.size(0) == count) continue;
    const auto parts = t.chunk(count, 0);
    Sizes order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    while (std::next_permutation(order.begin(), order.end())) {
      std::vector<Tensor> chosen;
      for (int64_t i : order) chosen.push_back(parts[static_cast<size_t>(i)]);
      if (visit({"permuted_weight",
                 noun + " has its " + std::to_string(count) + " blocks of rows (gates) in the order " + text_of(order),
                 hb::cat(chosen, 0)}))
        return true;
    }
  }
  return false;
}

// Columns of a layer behind a flattened (C, S): its input was flattened as (S, C), or the other way round.
bool flatten_orders(const Tensor& t, const std::string& noun, const Visit& visit) {
  if (t.dim() != 2) return false;
  const int64_t rows = t.size(0), columns = t.size(1);
  for (int64_t c = 2; c <= columns / 2; ++c) {
    if (columns % c != 0) continue;
    const std::string text = noun + " has its columns in the order of a flattened (" + std::to_string(columns / c) +
                             ", " + std::to_string(c) + ") where (" + std::to_string(c) + ", " +
                             std::to_string(columns / c) + ") is meant (NCHW and NHWC)";
    if (visit({"flatten_order", text, t.reshape({rows, c, columns / c}).transpose(1, 2).reshape({rows, columns})}))
      return true;
  }
  return false;
}

// Attention that splits (B, T, E) into heads and forgets to move them, before or after.
bool heads(const Tensor& t, const std::string& noun, const Visit& visit) {
  if (t.dim() != 3) return false;
  const int64_t batch = t.size(0), time = t.size(1), width = t.size(2);
  for (int64_t h = 2; h <= width / 2; ++h) {
    if (width % h != 0 || time == 1) continue;
    const std::string text = noun + " has its " + std::to_string(h) + " heads in another order: ";
    const int64_t each = width / h;
    if (visit({"memory_order", text + "(batch, head, time) was read as (batch, time, head)",
               t.reshape({batch, time, h, each}).transpose(1, 2).reshape({batch, time, width})}) ||
        visit({"memory_order", text + "(batch, time, head) was read as (batch, head, time)",
               t.reshape({batch, h, time, each}).transpose(1, 2).reshape({batch, time, width})}))
      return true;
  }
  return false;
}

}  // namespace

bool for_rearrangements(const Tensor& tensor, const Sizes& shape, const std::string& noun, const Visit& visit) {
  NoGradGuard no_grad;
  if (permutations(tensor, shape, noun, visit)) return true;
  if (tensor.sizes().vec() != shape) return false;
  return flatten_orders(tensor, noun, visit) || heads(tensor, noun, visit) || blocks(tensor, noun, visit) ||
         reversals(tensor, noun, visit);
}

}  // namespace hb::layer_diff::hints
