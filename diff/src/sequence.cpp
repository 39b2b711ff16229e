#include "sequence.h"

#include <algorithm>
#include <map>

#include "compare_tensors.h"

namespace hb::layer_diff {
namespace {

constexpr size_t kGroup = 12;             // calls that one call may stand for
constexpr size_t kMostCells = 4'000'000;  // of the table of best sums
constexpr float kNever = -1e9f;

const std::vector<int64_t>* first_shape(const std::vector<const Record*>& records) {
  return records.empty() ? nullptr : &records.front()->shape;
}

// 1 for shapes of one layout, -1 for others, 0 where one is not known.
int fit(const std::vector<int64_t>* a, const std::vector<int64_t>* b) {
  if (!a || !b) return 0;
  return same_layout(*a, *b) ? 1 : -1;
}

// The answers of fit() for all pairs of shapes that occur: many calls share few shapes.
class Fits {
 public:
  Fits(const std::vector<Look>& ref, const std::vector<Look>& test, bool outputs) {
    std::map<std::vector<int64_t>, size_t> ref_numbers, test_numbers;
    const auto number = [outputs](const std::vector<Look>& looks, auto& numbers, auto& rows) {
      for (const Look& look : looks) {
        const auto* shape = first_shape(outputs ? look.call->outputs : look.call->inputs);
        rows.push_back(shape ? numbers.emplace(*shape, numbers.size() + 1).first->second : 0);
      }
    };
    number(ref, ref_numbers, rows_);
    number(test, test_numbers, columns_);
    width_ = test_numbers.size() + 1;
    fits_.assign((ref_numbers.size() + 1) * width_, 0);
    for (const auto& [a, i] : ref_numbers) {
      for (const auto& [b, j] : test_numbers) fits_[i * width_ + j] = static_cast<int8_t>(fit(&a, &b));
    }
  }
  int at(size_t ref, size_t test) const { return fits_[rows_[ref] * width_ + columns_[test]]; }

 private:
  std::vector<size_t> rows_, columns_;
  std::vector<int8_t> fits_;
  size_t width_;
};

// A linear layer without a bias is a product.
bool is_product(const Look& a, const Look& b) {
  return (a.type == "linear" && b.type == "matmul") || (a.type == "matmul" && b.type == "linear");
}

float pair_evidence(const Look& a, const Look& b, int outputs, int inputs) {
  const bool same_path = !a.path.empty() && a.path == b.path;
  float sum = 0;
  if (!a.type.empty() && a.type == b.type) {
    sum += 4;
  } else if (is_product(a, b) && outputs == 1) {
    sum += 2;
  } else if (a.any_type || b.any_type) {
    sum += 1;
  } else if (!same_path) {
    return kNever;
  }
  sum += 3.0f * static_cast<float>(outputs) + 0.5f * static_cast<float>(inputs);
  if (!a.states.empty() && !b.states.empty()) sum += a.states == b.states ? 3 : -3;
  if (same_path) {
    sum += 4;
  } else if (!a.name.empty() && a.name == b.name) {
    sum += 1;
  }
  return sum;
}

// One call against calls first..last of the other side, at least two, whose inputs and outputs fit.
float group_evidence(const Look& one, const std::vector<Look>& other, size_t first, size_t last) {
  uint32_t parts = one.compositions.of, needed = 0;
  bool functions = true;
  for (size_t i = first; i <= last; ++i) {
    parts &= other[i].compositions.part;
    needed |= other[i].compositions.needed;
    functions = functions && !other[i].call->has_path;
  }
  // A little less for every part, so that a group takes in no more than it needs.
  const float length = 0.01f * static_cast<float>(last - first);
  if ((parts & needed) != 0) return 6 - length;
  // A module that somebody wrote, against the operations that it may be made of.
  if (!one.known && one.call->has_path && functions) return 3 - length;
  return kNever;
}

// Moves: 0 nothing, 1 leave ref, 2 leave test, 3 pair, 4 + k: one of ref with k + 2 of test, 32 + k: k + 2 of ref with
// one.
class Table {
 public:
  Table(const std::vector<Look>& ref, const std::vector<Look>& test)
      : ref_(ref), test_(test), n_(ref.size()), m_(test.size()), outputs_(ref, test, true), inputs_(ref, test, false) {
    const size_t room = std::max<size_t>(kMostCells / (n_ + 1), 2 * kGroup);
    band_ = std::min(m_ + 1, room);
    sums_.assign((n_ + 1) * band_, kNever);
    moves_.assign((n_ + 1) * band_, 0);
  }

  std::vector<Span> run() {
    for (size_t i = 0; i <= n_; ++i) {
      for (size_t j = begin(i); j < begin(i) + band_ && j <= m_; ++j) fill(i, j);
    }
    return walk_back();
  }

 private:
  // First column of row i that is kept.
  size_t begin(size_t i) const {
    if (band_ == m_ + 1 || n_ == 0) return 0;
    const auto middle = static_cast<size_t>(static_cast<double>(i) / static_cast<double>(n_) * static_cast<double>(m_));
    const size_t half = band_ / 2;
    return std::min(middle > half ? middle - half : 0, m_ + 1 - band_);
  }
  bool kept(size_t i, size_t j) const { return j >= begin(i) && j < begin(i) + band_; }
  size_t place(size_t i, size_t j) const { return i * band_ + (j - begin(i)); }
  float sum(size_t i, size_t j) const { return kept(i, j) ? sums_[place(i, j)] : kNever; }

  void fill(size_t i, size_t j) {
    float best = i == 0 && j == 0 ? 0 : kNever;
    uint8_t move = 0;
    const auto offer = [&](float from, float evidence, size_t how) {
      if (from > kNever / 2 && evidence >= 0 && from + evidence > best) {
        best = from + evidence;
        move = static_cast<uint8_t>(how);
      }
    };
    // A pair is taken before calls are left, so that of equals the later ones belong together.
    if (i > 0 && j > 0) {
      const float evidence =
          pair_evidence(ref_[i - 1], test_[j - 1], outputs_.at(i - 1, j - 1), inputs_.at(i - 1, j - 1));
      if (evidence > 0) offer(sum(i - 1, j - 1), evidence, 3);
    }
    if (i > 0) offer(sum(i - 1, j), 0, 1);
    if (j > 0) offer(sum(i, j - 1), 0, 2);
    if (i == 0 || j == 0) {
      store(i, j, best, move);
      return;
    }
    // Groups end where this cell does: their outputs must fit.
    const bool ends = outputs_.at(i - 1, j - 1) == 1;
    for (size_t k = 2; ends && k <= std::min(kGroup, std::max(i, j)); ++k) {
      if (j >= k && inputs_.at(i - 1, j - k) == 1) {
        offer(sum(i - 1, j - k), group_evidence(ref_[i - 1], test_, j - k, j - 1), 4 + k - 2);
      }
      if (i >= k && inputs_.at(i - k, j - 1) == 1) {
        offer(sum(i - k, j - 1), group_evidence(test_[j - 1], ref_, i - k, i - 1), 32 + k - 2);
      }
    }
    store(i, j, best, move);
  }

  void store(size_t i, size_t j, float best, uint8_t move) {
    sums_[place(i, j)] = best;
    moves_[place(i, j)] = move;
  }

  std::vector<Span> walk_back() const {
    std::vector<Span> spans;
    size_t i = n_, j = m_;
    while (i > 0 || j > 0) {
      const uint8_t move = kept(i, j) ? moves_[place(i, j)] : 0;
      size_t di = 1, dj = 1;
      if (move == 1 || (move == 0 && i > 0)) {
        --i;
        continue;
      }
      if (move == 2 || move == 0) {
        --j;
        continue;
      }
      if (move >= 32) {
        di = move - 32u + 2;
      } else if (move >= 4) {
        dj = move - 4u + 2;
      }
      spans.push_back({i - di, i - 1, j - dj, j - 1});
      i -= di;
      j -= dj;
    }
    std::reverse(spans.begin(), spans.end());
    return spans;
  }

  const std::vector<Look>& ref_;
  const std::vector<Look>& test_;
  size_t n_, m_;
  Fits outputs_, inputs_;
  size_t band_ = 0;
  std::vector<float> sums_;
  std::vector<uint8_t> moves_;
};

}  // namespace

bool outputs_fit(const Call& ref, const Call& test) {
  return fit(first_shape(ref.outputs), first_shape(test.outputs)) >= 0;
}

std::vector<Span> align_sequences(const std::vector<Look>& ref, const std::vector<Look>& test) {
  if (ref.empty() || test.empty()) return {};
  return Table(ref, test).run();
}

}  // namespace hb::layer_diff
