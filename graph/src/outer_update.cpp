#include "outer_update.h"

#include <algorithm>

#include "backend/gemm.h"
#include "call_types.h"
#include "cpu/parallel.h"

namespace hb::graph {

namespace {

using Product = capture::CallOf<const Gemm&>;

/// A product with k = 1, then the update that reads its result.
template <class Rule>
class OuterUpdate final : public capture::Call {
 public:
  OuterUpdate(std::unique_ptr<capture::Call> product, std::unique_ptr<capture::Call> update)
      : Call(update->name), product_(std::move(product)), update_(std::move(update)) {}

  void run() override {
    constexpr int64_t kBlock = 8192;  // elements
    const Gemm& g = std::get<0>(static_cast<Product&>(*product_).kept).value;
    UpdateTensor& t = std::get<1>(update().kept).value[0];
    Counters after{};
    const int64_t rows = std::max<int64_t>(1, kBlock / g.n), blocks = (g.m + rows - 1) / rows;
    cpu::parallel_for(0, blocks, std::max<int64_t>(1, cpu::kGrain / (4 * rows * g.n)), [&](int64_t from, int64_t to) {
      for (int64_t b = from; b < to; ++b) {
        const Counters c = run_rows(g, t, b * rows, std::min(g.m, (b + 1) * rows));
        if (b == 0) after = c;
      }
    });
    if (t.step) *t.step = after.step;
    if (t.scalar) *t.scalar = after.scalar;
  }
  void show(capture::Operands& v) override { product_->show(v), update_->show(v); }

 private:
  /// What an update counts on, which must happen once.
  struct Counters {
    int64_t step;
    double scalar;
  };
  Update<Rule>& update() { return static_cast<Update<Rule>&>(*update_); }
  Counters run_rows(const Gemm& g, const UpdateTensor& t, int64_t from, int64_t to) {
    Gemm part = g;
    part.m = to - from;
    part.a.data = static_cast<float*>(g.a.data) + from * g.a.row;
    part.c.data = static_cast<float*>(g.c.data) + from * g.c.row;
    static_cast<Product&>(*product_).fn(part);
    Counters c{t.step ? *t.step : 0, t.scalar ? *t.scalar : 0};
    UpdateTensor piece = t;
    const int64_t at = from * g.n;
    piece.numel = (to - from) * g.n;
    piece.param = static_cast<float*>(t.param) + at;
    piece.grad = static_cast<const float*>(t.grad) + at;
    for (void*& state : piece.state)
      if (state) state = static_cast<float*>(state) + at;
    if (t.step) piece.step = &c.step;
    if (t.scalar) piece.scalar = &c.scalar;
    update().fn(std::get<0>(update().kept).value, piece, std::get<2>(update().kept).value);
    return c;
  }

  std::unique_ptr<capture::Call> product_, update_;
};

const Place* place_at(const RecordedCall& c, const void* pointer) {
  for (const Place& p : c.places)
    if (p.pointer == pointer) return &p;
  return nullptr;
}

/// Whether `update` is that of one parameter in float, by the gradient that `product` makes.
template <class Rule>
bool fits(const RecordedCall& product, const RecordedCall& update) {
  const auto* const p = as_call_of(gemm_kernel, *product.call);
  const auto* const u = dynamic_cast<const Update<Rule>*>(update.call.get());
  if (!p || !u || std::get<1>(u->kept).value.size() != 1) return false;
  const Gemm& g = std::get<0>(p->kept).value;
  const UpdateCall& call = std::get<0>(u->kept).value;
  const UpdateTensor& t = std::get<1>(u->kept).value[0];
  const bool outer = g.k == 1 && g.batch_count() == 1 && g.beta == 0 && !g.bias && g.dtype == kFloat;
  const bool plain = call.param == kFloat && call.grad == kFloat && call.state == kFloat && !t.master;
  if (!outer || !plain || g.c.row != g.n || t.numel != g.m * g.n) return false;
  const Place *const made = place_at(product, &g.c.data), *const read = place_at(update, &t.grad);
  if (!made || !read || made->memory != read->memory || made->offset != read->offset) return false;
  return std::none_of(update.places.begin(), update.places.end(), [&](const Place& x) {
    return x.access != Access::reads && std::any_of(product.places.begin(), product.places.end(),
                                                    [&](const Place& y) { return x.memory == y.memory; });
  });
}

template <class Rule>
bool fuse(RecordedCall& product, RecordedCall& update) {
  if (!fits<Rule>(product, update)) return false;
  RecordedCall both;
  both.places = std::move(product.places);
  both.places.insert(both.places.end(), update.places.begin(), update.places.end());
  // The options are those of the update within.
  both.refresh = [inner = update.call.get(), refresh = std::move(update.refresh)](
                     capture::Call&, capture::Numbers numbers) { return refresh(*inner, numbers); };
  both.call = std::make_unique<OuterUpdate<Rule>>(std::move(product.call), std::move(update.call));
  product = std::move(both);
  return true;
}

}  // namespace

void fuse_outer_updates(std::vector<RecordedCall>& calls) {
  std::vector<RecordedCall> kept;
  for (RecordedCall& c : calls) {
    bool fused = false;
#define HB_FUSE(Rule, kernel, name) fused = fused || (!kept.empty() && fuse<Rule>(kept.back(), c));
    HB_FORALL_UPDATE_RULES(HB_FUSE)
#undef HB_FUSE
    if (!fused) kept.push_back(std::move(c));
  }
  calls = std::move(kept);
}

}  // namespace hb::graph
