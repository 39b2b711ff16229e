#include "tensor/print_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <string>
#include <vector>

namespace hb::detail {

std::string shortest(double value) {
  char buffer[40];
  const double size = std::fabs(value);
  const bool plain = !std::isfinite(value) || value == 0 || (size >= 1e-4 && size < 1e16);
  const auto end = plain ? std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed)
                         : std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  return std::string(buffer, end.ptr);
}

namespace {

struct Format {
  double scale = 1;  // common factor, printed once above the values
  int width = 0;
};

/// Digits before the point of a finite value: 3 for 123, -1 for 0.012; 1 for 0.
double magnitude(double value) { return value == 0 ? 1 : std::floor(std::log10(value)) + 1; }

/// Smallest and largest magnitude among the finite values.
std::pair<double, double> magnitudes(const double* data, int64_t n) {
  const double* first = std::find_if(data, data + n, [](double v) { return std::isfinite(v); });
  if (first == data + n) return {1, 1};
  double low = std::fabs(*first), high = low;
  for (const double* v = first; v != data + n; ++v) {
    if (!std::isfinite(*v)) continue;
    low = std::min(low, std::fabs(*v));
    high = std::max(high, std::fabs(*v));
  }
  return {magnitude(low), magnitude(high)};
}

/// Chooses how all values of a block are written, and sets the stream to it.
Format choose_format(std::ostream& out, const double* data, int64_t n) {
  const bool whole = std::all_of(data, data + n, [](double v) { return !std::isfinite(v) || v == std::ceil(v); });
  const auto [low, high] = magnitudes(data, n);
  if (whole) {
    if (high > 9) {
      out << std::scientific << std::setprecision(4);
      return {1, 11};
    }
    out << std::defaultfloat << std::setprecision(6);
    return {1, static_cast<int>(high) + 1};
  }
  if (high - low > 4) {
    out << std::scientific << std::setprecision(4);
    return {1, std::fabs(high) > 99 || std::fabs(low) > 99 ? 12 : 11};
  }
  out << std::fixed << std::setprecision(4);
  if (high > 5 || high < 0) return {std::pow(10, high - 1), 7};
  return {1, high == 0 ? 7 : static_cast<int>(high) + 6};
}

void print_columns(std::ostream& out, const double* data, int64_t rows, int64_t columns, int64_t first, int64_t last,
                   Format format, const std::string& indent) {
  for (int64_t row = 0; row < rows; ++row) {
    if (row > 0) out << indent << (format.scale != 1 ? " " : "");
    for (int64_t column = first; column < last; ++column)
      out << std::setw(format.width) << data[row * columns + column] / format.scale << (column + 1 < last ? ' ' : '\n');
  }
}

void print_matrix(std::ostream& out, const double* data, int64_t rows, int64_t columns, int64_t linesize,
                  const std::string& indent) {
  const Format format = choose_format(out, data, rows * columns);
  const int64_t per_line = (linesize - static_cast<int64_t>(indent.size())) / (format.width + 1);
  for (int64_t first = 0; first < columns;) {
    const int64_t last = std::min(first + per_line, columns);
    if (per_line < columns) out << (first ? "\n" : "") << "Columns " << first + 1 << " to " << last << indent;
    if (format.scale != 1) out << shortest(format.scale) << " *\n" << indent;
    print_columns(out, data, rows, columns, first, last, format, indent);
    first = last;
  }
}

}  // namespace

void print_values(std::ostream& out, const double* data, IntArrayRef sizes, int64_t linesize) {
  if (sizes.size() == 1) {
    const Format format = choose_format(out, data, sizes[0]);
    if (format.scale != 1) out << shortest(format.scale) << " *\n";
    for (int64_t i = 0; i < sizes[0]; ++i) out << std::setw(format.width) << data[i] / format.scale << '\n';
    return;
  }
  const size_t outer = sizes.size() - 2;
  const int64_t rows = sizes[outer], columns = sizes[outer + 1];
  if (outer == 0) return print_matrix(out, data, rows, columns, linesize, "");
  int64_t matrices = 1;
  for (size_t d = 0; d < outer; ++d) matrices *= sizes[d];
  std::vector<int64_t> index(outer, 0);  // the first dimension runs fastest
  for (int64_t k = 0; k < matrices; ++k) {
    int64_t offset = 0;
    out << (k ? "\n(" : "(");
    for (size_t d = 0; d < outer; ++d) {
      offset = offset * sizes[d] + index[d];
      out << index[d] + 1 << ',';
    }
    out << ".,.) = \n";
    print_matrix(out, data + offset * rows * columns, rows, columns, linesize, " ");
    for (size_t d = 0; d < outer && ++index[d] == sizes[d]; ++d) index[d] = 0;
  }
}

}  // namespace hb::detail
