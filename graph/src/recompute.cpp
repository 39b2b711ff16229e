// Values that would lie in memory from the forward part of a step to its backward part are made again where they are
// read next, by copies of the calls that made them. The same kernels get the same operands: no bit changes. A batch
// norm's call has effects that must happen once; the last part of it, which makes its result, stands for it.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "backend/attention.h"
#include "backend/conv.h"
#include "backend/gemm.h"
#include "call_types.h"
#include "chain.h"
#include "consumed_gradients.h"
#include "norm_parts.h"
#include "operands.h"
#include "passes.h"
#include "program.h"

namespace hb::graph {

namespace {

constexpr int kLongestRecipe = 6;  // calls that one value may cost

/// Multiplications of the calls that do many for each number that they read; 0 for others.
double multiplications(const RecordedCall& c) {
  if (const auto* const product = as_call_of(gemm_kernel, *c.call)) {
    const Gemm& g = std::get<0>(product->kept).value;
    return static_cast<double>(g.batch_count()) * static_cast<double>(g.m) * static_cast<double>(g.n * g.k);
  }
  if (const auto* const attention = as_call_of(attention_kernel, *c.call)) {
    const Attention& a = std::get<0>(attention->kept).value;
    return static_cast<double>(a.batch * a.heads * a.queries) * static_cast<double>(a.keys * (a.width + a.value_width));
  }
  const auto of_convolution = [](const Tensor& y, const Tensor& w) {
    return static_cast<double>(y.numel()) * static_cast<double>(w.numel() / w.size(0));
  };
  if (std::string_view(c.call->name) == conv_forward_kernel.name()) {
    const auto* const convolution = as_call_of(conv_forward_kernel, *c.call);
    return of_convolution(std::get<0>(convolution->kept).value, std::get<2>(convolution->kept).value);
  }
  if (const auto* const of_data = as_call_of(conv_backward_data_kernel, *c.call))
    return of_convolution(std::get<1>(of_data->kept).value, std::get<2>(of_data->kept).value);
  if (std::string_view(c.call->name) == conv_backward_weight_kernel.name()) {
    const auto* const of_weight = as_call_of(conv_backward_weight_kernel, *c.call);
    return of_convolution(std::get<3>(of_weight->kept).value, std::get<0>(of_weight->kept).value);
  }
  return 0;
}

/// Whether an element-wise call does so little that memory sets its pace.
bool is_arithmetic(const capture::Call& call) {
  static constexpr std::string_view kNames[] = {"add", "add_scaled", "sub",       "mul",
                                                "neg", "relu",       "threshold", "square"};
  return std::find(std::begin(kNames), std::end(kNames), call.name) != std::end(kNames);
}

/// What a call costs, in bytes that a sum of two tensors would have moved meanwhile.
double cost_of(const RecordedCall& c, const std::vector<Memory>& memories) {
  constexpr double kPerByte = 4;   // multiplications
  constexpr double kFunction = 5;  // times a sum, of as many bytes: GELU takes 7, tanh 4
  double bytes = 0;
  for (const Place& p : c.places) bytes += static_cast<double>(memories[p.memory].bytes);
  for (const TensorPlace& t : c.tensors) bytes += static_cast<double>(memories[t.memory].bytes);
  const double each = !elementwise(*c.call) ? 2 : is_arithmetic(*c.call) ? 1 : kFunction;
  return bytes * each + multiplications(c) / kPerByte;
}

/// A call that makes `memory` alone, of what `c` made of its operands: of a batch norm, which updates the running
/// statistics, too, its last part. None for other calls and values.
std::optional<RecordedCall> part_of(const RecordedCall& c, int memory) {
  return result_of_norm(c) == memory ? affine_of(c) : std::nullopt;
}

class Recomputation {
 public:
  Recomputation(std::vector<RecordedCall>& calls, std::vector<Memory>& memories)
      : calls_(calls), memories_(memories), age_(memories.size()) {}

  void run_until(size_t most) {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    const size_t longest = 3 * calls_.size();
    do look(false);
    while (peak_bytes_ > most && calls_.size() < longest && (drop_one(0, 0, kAny) > 0 || drop_one(1, 0, kAny) > 0));
  }

  void run_cheap(double share) {
    constexpr size_t kLarge = 1 << 18, kOfPeak = 512;
    double spare = 0;
    for (const RecordedCall& c : calls_) spare += share * cost_of(c, memories_);
    for (double cost = 1; cost > 0; spare -= cost) {
      look(true);
      cost = drop_one(0, std::max(kLarge, peak_bytes_ / kOfPeak), spare);
    }
  }

 private:
  struct Uses {
    std::vector<int> readers, writers;  // calls, in order
  };
  struct Step {
    int call;
    int part;  // the value that its part is to make, or -1: all of the call
    bool operator==(const Step&) const = default;
  };
  /// Calls to make again, the last one for the value itself.
  struct Recipe {
    int memory = -1, at = 0;  // what, and before which call
    std::vector<Step> steps;
    double cost = 0;
  };

  /// `all`: gradients and results, which stay, count at the peak, too.
  void look(bool all) {
    find_lifetimes(calls_, memories_);
    uses_.assign(memories_.size(), {});
    for (int i = 0; i < static_cast<int>(calls_.size()); ++i) {
      const auto note = [&](std::vector<int>& list) {
        if (list.empty() || list.back() != i) list.push_back(i);
      };
      for (const Operand& o : operands_of(calls_[i]))
        note(o.written ? uses_[o.memory].writers : uses_[o.memory].readers);
    }
    const std::vector<int64_t> change = changes_of_use(all);
    in_use_.assign(calls_.size() + 1, 0);
    int64_t now = 0, most = -1;
    for (size_t i = 0; i <= calls_.size(); ++i)
      if ((in_use_[i] = now += change[i]) > most) most = now, peak_ = static_cast<int>(i);
    peak_bytes_ = static_cast<size_t>(std::max<int64_t>(most, 0));
  }

  /// By how many bytes what is in use grows at each call, and at the end of the step.
  std::vector<int64_t> changes_of_use(bool all) const {
    const int end = static_cast<int>(calls_.size());
    std::vector<int> first(memories_.size()), last(memories_.size());
    for (size_t i = 0; i < memories_.size(); ++i)
      first[i] = memories_[i].first, last[i] = memories_[i].temporary() ? std::min(memories_[i].last, end) : end;
    for (const RecordedCall& c : calls_)
      if (is_late(c))
        for (const Place& p : c.places)
          if (p.access != Access::reads && !reads(c, p.memory)) first[p.memory] = end;
    // What takes another's place prolongs its life.
    const std::vector<int> into = share_in_place(calls_, memories_);
    for (bool again = true; std::exchange(again, false);)
      for (size_t i = 0; i < memories_.size(); ++i)
        if (into[i] >= 0 && last[into[i]] < last[i]) last[into[i]] = last[i], again = true;
    std::vector<int64_t> change(calls_.size() + 2);
    for (size_t i = 0; i < memories_.size(); ++i) {
      const Memory& m = memories_[i];
      if (m.first < 0 || into[i] >= 0 || !(m.temporary() || (all && m.origin == Memory::Origin::made))) continue;
      change[first[i]] += static_cast<int64_t>(m.bytes);
      change[last[i] + 1] -= static_cast<int64_t>(m.bytes);
    }
    return change;
  }

  /// Whether a value lies where call `maker` put it when call `at` begins, and nobody has changed it meanwhile.
  bool holds(int memory, int maker, int at) const {
    const Memory& m = memories_[memory];
    if (m.temporary() && (m.last < at || m.first >= at)) return false;
    return unchanged(memory, maker, at);
  }
  bool unchanged(int memory, int from, int to) const {
    const auto& w = uses_[memory].writers;
    return std::none_of(w.begin(), w.end(), [&](int i) { return i > from && i < to; });
  }

  /// Adds to `recipe` what makes `memory` again before call `at`.
  bool extend(Recipe& recipe, int memory, int at) const {
    const Uses& uses = uses_[memory];
    if (!memories_[memory].temporary() || uses.writers.size() != 1) return false;
    const int maker = uses.writers[0];
    const std::optional<RecordedCall> part = part_of(calls_[maker], memory);
    const Step step{maker, part ? memory : -1};
    if (std::find(recipe.steps.begin(), recipe.steps.end(), step) != recipe.steps.end()) return true;
    const RecordedCall& c = part ? *part : calls_[maker];
    if (!repeats(c) || static_cast<int>(recipe.steps.size()) >= kLongestRecipe) return false;
    for (const Operand& o : operands_of(c)) {
      if (o.written) {
        // Its other results, too, are its own alone, and it makes them of nothing that was there.
        if (!memories_[o.memory].temporary() || uses_[o.memory].writers[0] != maker || reads(c, o.memory)) return false;
        continue;
      }
      if (holds(o.memory, maker, at)) continue;
      if (small(o.memory, memory) && unchanged(o.memory, maker, at)) continue;  // it lives longer
      if (!extend(recipe, o.memory, at)) return false;
    }
    recipe.steps.push_back(step);
    recipe.cost += cost_of(c, memories_);
    return true;
  }
  bool small(int memory, int beside) const {
    return memories_[memory].temporary() && memories_[memory].bytes * 16 <= memories_[beside].bytes;
  }

  /// By how much the peak can sink with a value that lies there again from call `next` on; all of it where `any` will
  /// do.
  double gain_of(const Memory& m, int next, bool any) const {
    const auto bytes = static_cast<double>(m.bytes);
    return any ? bytes : std::min(bytes, static_cast<double>(peak_bytes_) - static_cast<double>(in_use_[next]));
  }

  /// Of values of `smallest` bytes that were made again `oldest` times at most: without a bound two of them could take
  /// turns for ever. Returns what it costs, `most` at most; 0 where there is none.
  double drop_one(int oldest, size_t smallest, double most) {
    Recipe best;
    double least = 0;
    for (int m = 0; m < static_cast<int>(memories_.size()); ++m) {
      const Memory& memory = memories_[m];
      if (age_[m] > oldest) continue;
      if (!memory.temporary() || memory.first < 0 || memory.first >= peak_ || memory.last <= peak_) continue;
      if (memory.bytes < smallest || memory.last == static_cast<int>(calls_.size())) continue;
      const auto& readers = uses_[m].readers;
      const auto next = std::lower_bound(readers.begin(), readers.end(), peak_);
      if (next == readers.end() || *next == peak_) continue;
      Recipe recipe{m, *next, {}, 0};
      if (!extend(recipe, m, *next) || recipe.cost > most) continue;
      const double gain = gain_of(memory, *next, smallest == 0);
      if (gain <= 0) continue;
      const double cost = recipe.cost / gain;
      if (best.memory < 0 || cost < least) best = std::move(recipe), least = cost;
    }
    if (best.memory < 0) return 0;
    apply(best);
    return best.cost;
  }

  int fresh(int memory) {
    Memory m;
    m.origin = Memory::Origin::made;
    m.begin = memories_[memory].begin;
    m.bytes = memories_[memory].bytes;
    m.impl = nullptr;
    m.alive = false;
    memories_.push_back(std::move(m));
    age_.push_back(age_[memory] + 1);
    return static_cast<int>(memories_.size()) - 1;
  }

  void apply(const Recipe& recipe) {
    std::map<int, int> made;  // the new place of each value that is made again
    std::vector<RecordedCall> copies;
    for (const Step& step : recipe.steps) {
      std::optional<RecordedCall> part;
      if (step.part >= 0) part = part_of(calls_[step.call], step.part);
      const RecordedCall& from = part ? *part : calls_[step.call];
      for (const Operand& o : operands_of(from))
        if (o.written && !made.count(o.memory)) made.emplace(o.memory, fresh(o.memory));
      copies.push_back(duplicate(from, made));
    }
    const std::map<int, int> instead = {{recipe.memory, made.at(recipe.memory)}};
    for (size_t i = recipe.at; i < calls_.size(); ++i) move_operands(calls_[i], instead);
    calls_.insert(calls_.begin() + recipe.at, std::make_move_iterator(copies.begin()),
                  std::make_move_iterator(copies.end()));
  }

  /// Where a call keeps its addresses, in an order that all copies of it have.
  class Pointers final : public capture::Operands {
   public:
    std::vector<void*> places;
    std::vector<Tensor*> tensors;

   private:
    void place(void* pointer, const void*, Access) override { places.push_back(pointer); }
    void tensor(Tensor& t) override { tensors.push_back(&t); }
    void refuse(const char*) override {}
  };

  static RecordedCall duplicate(const RecordedCall& from, const std::map<int, int>& moved) {
    RecordedCall to;
    to.call = copy_of(*from.call);
    if (!to.call) throw RecordingError{detail::str("[", from.call->name, "] max_memory: its calls cannot be copied")};
    Pointers a, b;
    from.call->show(a), to.call->show(b);
    const auto same = [](const auto& of_a, const auto& of_b, auto pointer) {
      return of_b[static_cast<size_t>(std::find(of_a.begin(), of_a.end(), pointer) - of_a.begin())];
    };
    for (const Place& p : from.places)
      to.places.push_back({same(a.places, b.places, p.pointer), p.memory, p.offset, p.access});
    for (const TensorPlace& t : from.tensors) to.tensors.push_back({same(a.tensors, b.tensors, t.tensor), t.memory});
    move_operands(to, moved);
    return to;
  }

  std::vector<RecordedCall>& calls_;
  std::vector<Memory>& memories_;
  std::vector<int> age_;  // how often the value of a memory was made again
  std::vector<Uses> uses_;
  std::vector<int64_t> in_use_;  // bytes, at each call and when the step ends
  int peak_ = 0;
  size_t peak_bytes_ = 0;
};

}  // namespace

void recompute_until(std::vector<RecordedCall>& calls, std::vector<Memory>& memories, size_t most) {
  Recomputation(calls, memories).run_until(most);
}
void recompute_cheap(std::vector<RecordedCall>& calls, std::vector<Memory>& memories, double share) {
  Recomputation(calls, memories).run_cheap(share);
}

}  // namespace hb::graph
