#pragma once
// The equation of einsum, as "i...j,jk->ik", with labels as numbers.

#include <algorithm>
#include <string_view>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::ops::equations {

// A letter is a number below 52; dimensions of the ellipsis count from there.
constexpr int kLetters = 52, kLabels = kLetters + 16;
using Labels = std::vector<int>;

inline bool has(const Labels& list, int label) { return std::find(list.begin(), list.end(), label) != list.end(); }

struct Equation {
  std::vector<Labels> terms;
  Labels result;
};

/// Labels are numbered anew: those of the result come first, in its order. Throws where operands do not fit.
Equation parse(std::string_view text, TensorList operands);

}  // namespace hb::ops::equations
