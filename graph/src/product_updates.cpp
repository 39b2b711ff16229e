// A weight's gradient that is a product of matrices, and the optimizer's rule right behind it: each thread computes
// rows of the gradient and updates the weight by them while they lie in its own cache. Otherwise the threads divide the
// product among them in another way than the update, wait for each other between the two, and read what the other one
// wrote.
#include <algorithm>

#include "call_types.h"
#include "consumed_gradients.h"
#include "core/isa_level.h"
#include "cpu/parallel.h"
#include "operands.h"
#include "passes.h"
#include "updates.h"

namespace hb::graph {

namespace {

using Calls = std::vector<RecordedCall>;

constexpr int64_t kLeast = 1 << 16;  // elements that both threads get enough of
constexpr int64_t kMostTerms = 128;  // of a sum: the library adds so many up in order, whatever rows it is given
constexpr int64_t kRows = 64;        // that stay together

template <class Rule>
class ProductUpdate final : public capture::Call {
 public:
  ProductUpdate(std::unique_ptr<capture::Call> product, std::unique_ptr<capture::Call> update)
      : Call("matmul and update"), product_(std::move(product)), update_(std::move(update)) {}

  void run() override {
    const auto& product = static_cast<const Product&>(*product_);
    auto& update = static_cast<Update<Rule>&>(*update_);
    const UpdateCall& common = std::get<0>(update.kept).value;
    const Gemm& gemm = std::get<0>(product.kept).value;
    const UpdateTensor& tensor = std::get<1>(update.kept).value[0];
    const int64_t units = gemm.m / kRows;
    cpu::parallel_ranges(0, units, cpu::threads_for(units, 1), [&](int64_t first, int64_t last, int) {
      const int64_t from = first * kRows, to = last == units ? gemm.m : last * kRows;
      product.fn(rows(gemm, from, to));
      UpdateTensor part = tensor;
      int64_t step = tensor.step ? *tensor.step : 0;
      shift(part, from * gemm.n), part.numel = (to - from) * gemm.n;
      if (tensor.step) part.step = &step;
      update.fn(common, ArrayRef<UpdateTensor>(part), std::get<2>(update.kept).value);
    });
    if (tensor.step && !(common.found_inf && *common.found_inf != 0)) ++*tensor.step;
  }
  void show(capture::Operands& v) override { product_->show(v), update_->show(v); }
  capture::Call& update() { return *update_; }

 private:
  static Gemm rows(Gemm g, int64_t from, int64_t to) {
    g.a.data = static_cast<float*>(g.a.data) + from * g.a.row;
    g.c.data = static_cast<float*>(g.c.data) + from * g.c.row;
    g.m = to - from;
    return g;
  }
  static void shift(UpdateTensor& t, int64_t by) {
    t.param = static_cast<float*>(t.param) + by;
    t.grad = static_cast<const float*>(t.grad) + by;
    for (void*& state : t.state)
      if (state) state = static_cast<float*>(state) + by;
  }

  const std::unique_ptr<capture::Call> product_, update_;
};

/// Whether rows of the product can be computed and used by themselves, and give the same.
bool divides(const Gemm& g, const UpdateCall& common, const UpdateTensor& t) {
  const bool plain = g.batch_count() == 1 && g.alpha == 1 && g.beta == 0 && !g.bias && g.c.row == g.n;
  const bool one_type = g.dtype == kFloat && common.grad == kFloat && common.param == kFloat && common.state == kFloat;
  return plain && one_type && g.k > 1 && g.k <= kMostTerms && g.m >= 2 * kRows && g.m * g.n == t.numel && !t.master &&
         !t.scalar && !common.left;
}

class Joining {
 public:
  explicit Joining(Calls& calls) : calls_(calls) {}

  void run() {
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (!calls_[i].call || !calls_[i].refresh) continue;
#define HB_TAKE(Rule, kernel, name) \
  if (calls_[i].call && dynamic_cast<const Update<Rule>*>(calls_[i].call.get())) take<Rule>(i);
      HB_FORALL_UPDATE_RULES(HB_TAKE)
#undef HB_TAKE
    }
    calls_.erase(std::remove_if(calls_.begin(), calls_.end(), [](const RecordedCall& c) { return !c.call; }),
                 calls_.end());
  }

 private:
  /// The product behind which the update of its only parameter may stand, with nothing between them; -1: none.
  template <class Rule>
  int product_for(size_t at) const {
    const auto& update = static_cast<const Update<Rule>&>(*calls_[at].call);
    const auto& list = std::get<1>(update.kept).value;
    if (list.size() != 1 || list[0].numel < kLeast) return -1;
    const Place* const read = place_at(calls_[at], &list[0].grad);
    const int product = read && read->offset == 0 ? sole_writer(calls_, read->memory, at, /*others=*/true) : -1;
    if (product < 0 || !is_call_of(gemm_kernel, *calls_[product].call)) return -1;
    const RecordedCall& p = calls_[product];
    const Gemm& g = std::get<0>(static_cast<const Product&>(*p.call).kept).value;
    const Place* const written = place_at(p, &g.c.data);
    if (!written || written->offset != 0 || !divides(g, std::get<0>(update.kept).value, list[0])) return -1;
    // The product is made where the update stands, even if a call between them ends the step.
    for (size_t i = product + 1; i < at; ++i)
      if (checks_values(calls_, i)) return -1;
    for (const void* const operand : {&g.a.data, &g.b.data}) {
      const Place* const from = place_at(p, operand);
      if (!from || changes(calls_[at], from->memory) || changed(calls_, from->memory, product + 1, at)) return -1;
    }
    return product;
  }

  template <class Rule>
  void take(size_t at) {
    const int product = product_for<Rule>(at);
    if (product < 0) return;
    RecordedCall &first = calls_[product], &second = calls_[at];
    auto joined = std::make_unique<ProductUpdate<Rule>>(std::move(first.call), std::move(second.call));
    second.places.insert(second.places.begin(), first.places.begin(), first.places.end());
    second.refresh = [inner = std::move(second.refresh), update = &joined->update()](
                         capture::Call&, capture::Numbers numbers) { return inner(*update, numbers); };
    second.call = std::move(joined);
    first = {};
  }

  Calls& calls_;
};

}  // namespace

void update_with_products(std::vector<RecordedCall>& calls) {
  // oneDNN's products by AVX2 round in another way at the edges of what they are given.
  if (cpu::isa_level() >= 4) Joining(calls).run();
}

}  // namespace hb::graph
