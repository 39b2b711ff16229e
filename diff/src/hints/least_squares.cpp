#include "least_squares.h"

#include <algorithm>
#include <array>

namespace hb::layer_diff::hints {

double rms(const Column& column) {
  double squares = 0;
  for (double v : column) squares += v * v;
  return std::sqrt(squares / static_cast<double>(column.size()));
}

// Normal equations of columns of length one, solved by elimination.
Fit fit(const std::vector<const Column*>& columns, const Column& target) {
  constexpr double kSingular = 1e-13;
  const size_t n = columns.size();
  std::array<double, 3> length{};
  for (size_t i = 0; i < n; ++i)
    if (!((length[i] = rms(*columns[i])) > 0) || !std::isfinite(length[i])) return {};
  std::array<std::array<double, 4>, 3> m{};
  for (size_t i = 0; i < n; ++i) {
    for (size_t e = 0; e < target.size(); ++e) {
      const double x = (*columns[i])[e] / length[i];
      for (size_t j = 0; j < n; ++j) m[i][j] += x * (*columns[j])[e] / length[j];
      m[i][n] += x * target[e];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    size_t pivot = i;
    for (size_t r = i + 1; r < n; ++r)
      if (std::abs(m[r][i]) > std::abs(m[pivot][i])) pivot = r;
    std::swap(m[i], m[pivot]);
    if (!(std::abs(m[i][i]) > kSingular * static_cast<double>(target.size()))) return {};
    for (size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double f = m[r][i] / m[i][i];
      for (size_t c = i; c <= n; ++c) m[r][c] -= f * m[i][c];
    }
  }
  Fit result;
  for (size_t i = 0; i < n; ++i) result.factors.push_back(m[i][n] / m[i][i] / length[i]);
  double squares = 0;
  result.max = 0;
  for (size_t e = 0; e < target.size(); ++e) {
    double left = target[e];
    for (size_t i = 0; i < n; ++i) left -= result.factors[i] * (*columns[i])[e];
    squares += left * left;
    result.max = std::max(result.max, std::abs(left));
  }
  result.rms = std::sqrt(squares / static_cast<double>(target.size()));
  return result;
}

}  // namespace hb::layer_diff::hints
