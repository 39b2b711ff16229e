// LAMB and Adafactor. Sums are made of parts whose bounds do not depend on the number of threads.

#include <cmath>

#include "cpu/isa/update_blocks.h"
#include "formulas/update_rules/scaled.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kPart = 16384;

/// The sum of squares of value(0) to value(n - 1), computed in blocks and lanes that the compiler turns into vectors.
template <class T, class F>
double sum_squares(int64_t n, const F& value) {
  constexpr int64_t kBlock = 256, kLanes = 16;
  double sum = 0;
  for (int64_t at = 0; at < n; at += kBlock) {
    alignas(64) T block[kBlock], lanes[kLanes] = {};
    const int64_t size = std::min(kBlock, n - at);
    HB_INDEPENDENT
    for (int64_t i = 0; i < size; ++i) block[i] = value(at + i);
    const int64_t padded = (size + kLanes - 1) / kLanes * kLanes;
    for (int64_t i = size; i < padded; ++i) block[i] = 0;
    for (int64_t i = 0; i < padded; i += kLanes)
      for (int64_t k = 0; k < kLanes; ++k) lanes[k] = std::fma(block[i + k], block[i + k], lanes[k]);
    for (T lane : lanes) sum += static_cast<double>(lane);
  }
  return sum;
}
double total(const std::vector<double>& parts) {
  double sum = 0;
  for (double part : parts) sum += part;
  return sum;
}

template <class T>
void lamb_tensor(const UpdateCall& call, const UpdateTensor& t, const LambRule& rule) {
  const LambRule::Formula<T> f(begun(rule, t));
  const T factor = grad_factor<T>(call);
  const int64_t parts = (t.numel + kPart - 1) / kPart;
  std::vector<double> weights(parts), steps(parts);
  const auto for_parts = [&](const auto& fn) {
    parallel_for(0, parts, 1, [&](int64_t from, int64_t to) {
      for (int64_t part = from; part < to; ++part)
        for_blocks<3, T>(call, t, part * kPart, std::min(t.numel, (part + 1) * kPart),
                         [&](const UpdateBlock<T>& b) { fn(b, part); });
    });
  };
  for_parts([&](const UpdateBlock<T>& b, int64_t part) {
    HB_INDEPENDENT
    for (int64_t i = 0; i < b.size; ++i) f.moments(b.grad[i] * factor, b.state[0][i], b.state[1][i]);
    weights[part] += sum_squares<T>(b.size, [&](int64_t i) { return b.param[i]; });
    steps[part] +=
        sum_squares<T>(b.size, [&](int64_t i) { return f.direction(b.param[i], b.state[0][i], b.state[1][i]); });
  });
  const double weight = std::sqrt(total(weights)), step = std::sqrt(total(steps));
  const T by = rule.scale(weight, step);
  for_parts([&](const UpdateBlock<T>& b, int64_t) {
    HB_INDEPENDENT
    for (int64_t i = 0; i < b.size; ++i)
      b.param[i] = std::fma(f.direction(b.param[i], b.state[0][i], b.state[1][i]), by, b.param[i]);
  });
  count_step(rule, t);
}

void lamb(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const LambRule& rule) {
  if (skipped(call)) return;
  for (const auto& t : tensors)
    call.param == kDouble ? lamb_tensor<double>(call, t, rule) : lamb_tensor<float>(call, t, rule);
}
HB_REGISTER_ISA(lamb_update, lamb);

template <class T>
class Adafactor {
 public:
  Adafactor(const UpdateCall& call, const FactoredTensor& factored, const AdafactorRule& rule)
      : call_(call), f_(factored), t_(factored.tensor), rule_(rule), factor_(grad_factor<T>(call)) {
    step_ = static_cast<double>(*t_.step + 1);
    gain_ = static_cast<T>(rule.gain(step_));
    floor_ = static_cast<T>(rule.eps1 * rule.eps1);
    // A part is a number of whole matrices, or of rows of the one matrix.
    rows_ = f_.batch * f_.rows;
    const int64_t least = std::max<int64_t>(1, kPart / std::max<int64_t>(1, f_.cols));
    part_rows_ = f_.batch > 1 ? std::max<int64_t>(1, least / f_.rows) * f_.rows : std::max(least, (rows_ + 15) / 16);
    parts_ = (rows_ + part_rows_ - 1) / part_rows_;
  }

  void run() {
    if (t_.numel > 0) {
      const double weight = f_.variance ? weight_of_vector() : weight_of_matrices();
      apply(rule_.scale(weight, size_of_update(), step_, t_.numel));
    }
    ++*t_.step;
  }

 private:
  /// fn(block, row, first column, part) for all elements; a row may come in several blocks.
  template <class F>
  void for_rows(const F& fn) const {
    parallel_for(0, parts_, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        const int64_t end = std::min(rows_, (part + 1) * part_rows_);
        for (int64_t row = part * part_rows_; row < end; ++row) {
          int64_t column = 0;
          for_blocks<0, T>(call_, t_, row * f_.cols, (row + 1) * f_.cols, [&](const UpdateBlock<T>& b) {
            fn(b, row, column, part);
            column += b.size;
          });
        }
      }
    });
  }

  /// The norm of the parameter; brings the second moment up to date.
  double weight_of_vector() {
    std::vector<double> weights(parts_);
    T* variance = static_cast<T*>(f_.variance);
    for_rows([&](const UpdateBlock<T>& b, int64_t row, int64_t column, int64_t part) {
      weights[part] += sum_squares<T>(b.size, [&](int64_t i) { return b.param[i]; });
      T* v = variance + row * f_.cols + column;
      for (int64_t i = 0; i < b.size; ++i) {
        const T g = b.grad[i] * factor_;
        v[i] = AdafactorRule::moved(v[i], g * g, gain_);
      }
    });
    return std::sqrt(total(weights));
  }

  /// The same for the factors of the second moment.
  double weight_of_matrices() {
    // Parts of one matrix each have column sums of their own.
    const int64_t sets = f_.batch > 1 ? f_.batch : parts_;
    std::vector<double> weights(parts_), row_sums(rows_), col_sums(sets * f_.cols);
    for_rows([&](const UpdateBlock<T>& b, int64_t row, int64_t column, int64_t part) {
      weights[part] += sum_squares<T>(b.size, [&](int64_t i) { return b.param[i]; });
      row_sums[row] += sum_squares<T>(b.size, [&](int64_t i) { return b.grad[i] * factor_; });
      double* sums = &col_sums[(f_.batch > 1 ? row / f_.rows : part) * f_.cols + column];
      for (int64_t i = 0; i < b.size; ++i) {
        const T g = b.grad[i] * factor_;
        sums[i] += static_cast<double>(g * g);
      }
    });
    if (f_.batch == 1)
      for (int64_t set = 1; set < sets; ++set)
        for (int64_t c = 0; c < f_.cols; ++c) col_sums[c] += col_sums[set * f_.cols + c];
    T *row_var = static_cast<T*>(f_.row_var), *col_var = static_cast<T*>(f_.col_var);
    row_means_.resize(f_.batch);
    for (int64_t row = 0; row < rows_; ++row) {
      row_var[row] =
          AdafactorRule::moved(row_var[row], static_cast<T>(row_sums[row] / static_cast<double>(f_.cols)), gain_);
      row_means_[row / f_.rows] += row_var[row];
    }
    for (T& mean : row_means_) mean = std::max(mean / static_cast<T>(f_.rows), static_cast<T>(rule_.eps1));
    for (int64_t i = 0; i < f_.batch * f_.cols; ++i)
      col_var[i] = AdafactorRule::moved(col_var[i], static_cast<T>(col_sums[i] / static_cast<double>(f_.rows)), gain_);
    return std::sqrt(total(weights));
  }

  /// Calls fn(update) with a function that gives the update of the block's element i.
  template <class F>
  void with_update(const UpdateBlock<T>& b, int64_t row, int64_t column, const F& fn) const {
    const T *g = b.grad, factor = factor_, floor = floor_;
    if (f_.variance) {
      const T* v = static_cast<const T*>(f_.variance) + row * f_.cols + column;
      fn([=](int64_t i) { return g[i] * factor / std::sqrt(std::max(v[i], floor)); });
    } else {
      const int64_t matrix = row / f_.rows;
      const T* cols = static_cast<const T*>(f_.col_var) + matrix * f_.cols + column;
      const T by = static_cast<const T*>(f_.row_var)[row], mean = row_means_[matrix];
      fn([=](int64_t i) { return g[i] * factor / std::sqrt(std::max(by * cols[i] / mean, floor)); });
    }
  }

  double size_of_update() const {
    std::vector<double> sizes(parts_);
    for_rows([&](const UpdateBlock<T>& b, int64_t row, int64_t column, int64_t part) {
      with_update(b, row, column, [&](const auto& update) { sizes[part] += sum_squares<T>(b.size, update); });
    });
    return std::sqrt(total(sizes));
  }

  void apply(double by) {
    const T scale = static_cast<T>(by), shrink = static_cast<T>(1 - rule_.lr * rule_.weight_decay);
    for_rows([&](const UpdateBlock<T>& b, int64_t row, int64_t column, int64_t) {
      with_update(b, row, column, [&](const auto& update) {
        T* __restrict p = b.param;
        HB_INDEPENDENT
        for (int64_t i = 0; i < b.size; ++i) p[i] = std::fma(update(i), scale, p[i] * shrink);
      });
    });
  }

  const UpdateCall& call_;
  const FactoredTensor& f_;
  const UpdateTensor& t_;
  const AdafactorRule& rule_;
  T factor_, gain_, floor_;
  double step_;
  int64_t rows_, part_rows_, parts_;
  std::vector<T> row_means_;
};

void adafactor(const UpdateCall& call, const FactoredTensor& tensor, const AdafactorRule& rule) {
  if (skipped(call)) return;
  if (call.param == kDouble) return Adafactor<double>(call, tensor, rule).run();
  Adafactor<float>(call, tensor, rule).run();
}
HB_REGISTER_ISA(adafactor_update, adafactor);

}  // namespace
}  // namespace hb::cpu::HB_ISA
