#include "ops/linalg/einsum_equation.h"

#include <array>
#include <optional>
#include <string>

namespace hb::ops::equations {
namespace {

int label_of(char ch) {
  if (ch >= 'A' && ch <= 'Z') return ch - 'A';
  if (ch >= 'a' && ch <= 'z') return ch - 'a' + 26;
  HB_CHECK(false, "[einsum] invalid subscript given in the equation string, subscripts must be in [a-zA-Z], got '", ch,
           "'");
  return 0;
}

// "i...j" for a tensor of `dim` dimensions (or, dim < 0, for the result) with `ellipsis` dimensions at the dots.
Labels parse_term(std::string_view term, int ellipsis) {
  Labels out;
  bool dots = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] != '.') {
      out.push_back(label_of(term[i]));
      continue;
    }
    HB_CHECK(term.substr(i, 3) == "...", "[einsum] expected an ellipsis of three dots in \"", term, "\"");
    HB_CHECK(!dots, "[einsum] found '.' in \"", term, "\" for which an ellipsis was already found");
    dots = true;
    for (int e = 0; e < ellipsis; ++e) out.push_back(kLetters + e);
    i += 2;
  }
  return out;
}

std::string without_spaces(std::string_view text) {
  std::string out;
  for (char ch : text)
    if (ch != ' ') out += ch;
  return out;
}

/// The terms of the left side, one per operand.
std::vector<std::string> split_terms(std::string_view text, std::string_view left, size_t operands) {
  std::vector<std::string> terms(1);
  for (char ch : left) {
    if (ch == ',') {
      terms.emplace_back();
    } else {
      terms.back() += ch;
    }
  }
  HB_CHECK(operands >= terms.size(), "[einsum] fewer operands were provided than specified in the equation \"", text,
           "\": ", operands);
  HB_CHECK(operands <= terms.size(), "[einsum] more operands were provided than specified in the equation \"", text,
           "\": ", operands);
  return terms;
}

/// How many dimensions of each operand its ellipsis stands for.
std::vector<int> under_ellipses(const std::vector<std::string>& terms, TensorList operands) {
  std::vector<int> dots(terms.size(), 0);
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool ellipsis = terms[i].find("...") != std::string::npos;
    const int letters = static_cast<int>(terms[i].size()) - (ellipsis ? 3 : 0);
    dots[i] = static_cast<int>(operands[i].dim()) - letters;
    HB_CHECK(ellipsis ? dots[i] >= 0 : dots[i] == 0, "[einsum] the number of subscripts in the equation (", letters,
             ") does not match the number of dimensions (", operands[i].dim(), ") for operand ", i);
    HB_CHECK(dots[i] <= kLabels - kLetters, "[einsum] expected at most 16 dimensions under an ellipsis");
  }
  return dots;
}

/// `right` is what follows the arrow, if there is one; else the result has the letters that occur once, in order.
Labels result_labels(std::string_view text, const std::optional<std::string>& right, int most,
                     const std::array<int, kLabels>& seen) {
  Labels result;
  if (!right) {
    for (int d = 0; d < most; ++d) result.push_back(kLetters + d);
    for (int l = 0; l < kLetters; ++l)
      if (seen[l] == 1) result.push_back(l);
    return result;
  }
  result = parse_term(*right, most);
  for (int l : result)
    HB_CHECK(l >= kLetters || seen[l],
             "[einsum] output subscript does not appear in the equation for any input operand: \"", text, "\"");
  for (int l : result)
    HB_CHECK(std::count(result.begin(), result.end(), l) == 1,
             "[einsum] output subscript appears more than once in the output: \"", text, "\"");
  return result;
}

/// Renumbers the labels: those of the result come first, in its order, so that products lie in memory as LibTorch's.
void renumber(Equation& e) {
  std::array<int, kLabels> rank{};
  int next = 0;
  for (int l : e.result) rank[l] = next++;
  for (int l = 0; l < kLabels; ++l)
    if (!has(e.result, l)) rank[l] = next++;
  for (Labels& term : e.terms)
    for (int& l : term) l = rank[l];
  for (int& l : e.result) l = rank[l];
}

}  // namespace

Equation parse(std::string_view text, TensorList operands) {
  const std::string equation = without_spaces(text);
  const size_t arrow = equation.find("->");
  const std::vector<std::string> terms = split_terms(text, equation.substr(0, arrow), operands.size());
  const std::vector<int> dots = under_ellipses(terms, operands);
  const int most = std::max(0, *std::max_element(dots.begin(), dots.end()));
  Equation e;
  std::array<int, kLabels> seen{};
  for (size_t i = 0; i < terms.size(); ++i) {
    Labels labels = parse_term(terms[i], dots[i]);
    // Ellipses are aligned at their ends.
    for (int& l : labels)
      if (l >= kLetters) l += most - dots[i];
    for (int l : labels) ++seen[l];
    e.terms.push_back(std::move(labels));
  }
  std::optional<std::string> right;
  if (arrow != std::string::npos) right = equation.substr(arrow + 2);
  e.result = result_labels(text, right, most, seen);
  renumber(e);
  return e;
}

}  // namespace hb::ops::equations
