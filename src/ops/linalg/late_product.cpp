#include "ops/linalg/late_product.h"

#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/pending.h"

namespace hb::ops {
namespace {

/// Places whose product was needed although a relu had been computed with it: a program that keeps both gets each
/// product once.
class Doubled {
 public:
  bool has(const ProductPlace& place) {
    const std::lock_guard lock(mutex_);
    return places_.count(place) > 0;
  }
  void add(const ProductPlace& place) {
    constexpr size_t kMost = 4096;  // of memory that is long gone
    const std::lock_guard lock(mutex_);
    if (places_.size() >= kMost) places_.clear();
    places_.insert(place);
  }
  static Doubled& all() {
    static auto* const made = new Doubled;  // threads may end after main
    return *made;
  }

 private:
  std::mutex mutex_;
  std::set<ProductPlace> places_;
};

class LateProduct final : public pending::Work {
 public:
  LateProduct(const Tensor& result, const Gemm& g, std::vector<intrusive_ptr<StorageImpl>> read,
              const ProductPlace& where)
      : Work(result), gemm(g), read_(std::move(read)), place_(where) {}
  void run() override {
    if (used) Doubled::all().add(place_);
    gemm_kernel(device())(gemm);
  }

  const Gemm gemm;
  bool used = false;  // its values went into another result
  const StorageImpl* relu = nullptr;
  Tensor signs;  // of that result of a relu

 private:
  const std::vector<intrusive_ptr<StorageImpl>> read_;
  const ProductPlace place_;
};

std::shared_ptr<LateProduct> late_product_of(const Tensor& t) {
  return pending::any() ? std::dynamic_pointer_cast<LateProduct>(pending::find(t)) : nullptr;
}

/// Does the product with an epilogue, into new memory; undefined where that cannot be. `writes_both`: the product's own
/// result is written, too.
Tensor multiply_now(const std::shared_ptr<LateProduct>& late, const Tensor& like, const GemmEpilogue& epilogue,
                    bool writes_both) {
  Tensor out = empty(like.sizes(), like.options().requires_grad(false));
  Gemm g = late->gemm;
  g.c.data = out.impl().raw_data();
  const GemmEpilogueQuery has = has_gemm_epilogue.load(std::memory_order_acquire);
  if (!has || !has(out.device(), g, epilogue)) return {};
  struct Taken {  // else the call would have it done first
    std::shared_ptr<LateProduct> late;
    bool written = false;
    explicit Taken(std::shared_ptr<LateProduct> l) : late(std::move(l)) { pending::forget(*late); }
    ~Taken() {
      if (!written) pending::add(late);
    }
  } taken{late};
  gemm_epilogue_kernel(out.device())(g, epilogue);
  late->used = true;
  if (writes_both) {
    taken.written = true;
    like.impl().settle();
  }
  return out;
}

int64_t bits_of_row(int64_t columns) { return (columns + 127) / 128 * 128; }

Tensor relu_of(const std::shared_ptr<LateProduct>& late, const Tensor& x) {
  if (late->used) return {};
  GemmEpilogue e{GemmEpilogue::Kind::relu, nullptr, bits_of_row(late->gemm.n)};
  Tensor signs;
  if (needs_grad(x)) {
    signs = empty({late->gemm.m * e.width / 8}, x.options().dtype(kByte).requires_grad(false));
    e.beside = signs.impl().raw_data();
  }
  Tensor out = multiply_now(late, x, e, false);
  if (out.defined()) late->signs = signs, late->relu = out.impl().physical_storage().get();
  return out;
}

bool fits_gelu(const Gemm& g) { return g.n % 8 == 0; }

}  // namespace

bool may_wait() {
  static const bool exact = [] {
    const char* text = std::getenv("CUDA_LAUNCH_BLOCKING");
    return text && std::string_view(text) == "1";
  }();
  return !exact;
}

bool multiply_later(const Tensor& out, const Gemm& g, std::initializer_list<Tensor> read, const ProductPlace& place) {
  if (!gemm_epilogue_kernel.available(out.device()) || !may_wait()) return false;
  const bool half = g.dtype == kHalf || g.dtype == kBFloat16;
  if ((!half && g.dtype != kFloat) || out.dim() < 2 || g.m * g.n * g.k == 0 || Doubled::all().has(place)) return false;
  std::vector<intrusive_ptr<StorageImpl>> memory;
  for (const Tensor& t : read)
    if (t.defined()) memory.push_back(t.impl().physical_storage());
  out.impl().set_deferred();
  pending::add(std::make_shared<LateProduct>(out, g, std::move(memory), place));
  return true;
}

Tensor after_late_product(const FormulaKernel& formula, ScalarType result, ArrayRef<const Tensor*> inputs) {
  const bool relu = &formula == &relu_formula, gelu = &formula == &gelu_tanh_formula;
  const bool gradient = &formula == &gelu_tanh_backward_formula && inputs.size() == 2;
  if (!relu && !gelu && !gradient) return {};
  const Tensor& x = *inputs[0];
  const auto late = late_product_of(x);
  if (!late || x.scalar_type() != result) return {};
  if (relu) return relu_of(late, x);
  if (!fits_gelu(late->gemm)) return {};
  if (gelu) return multiply_now(late, x, {GemmEpilogue::Kind::gelu, late->gemm.c.data, late->gemm.n}, true);
  const TensorImpl& into = inputs[1]->impl();
  if (!into.physically_contiguous() || into.sizes() != x.impl().sizes() || into.dtype() != result) return {};
  return multiply_now(late, x, {GemmEpilogue::Kind::gelu_gradient, into.raw_data(), late->gemm.n}, false);
}

Tensor signs_of_relu(const Tensor& relu, const Tensor& x) {
  const auto late = late_product_of(x);
  return late && late->relu == relu.impl().physical_storage().get() ? late->signs : Tensor();
}

Tensor relu_gradient_of_product(const Tensor& g, const Tensor& signs) {
  const auto late = late_product_of(g);
  if (!late) return {};
  const int64_t width = bits_of_row(late->gemm.n);
  if (signs.numel() * 8 != late->gemm.m * width) return {};
  return multiply_now(late, g, {GemmEpilogue::Kind::relu_gradient, signs.impl().raw_data(), width}, false);
}

}  // namespace hb::ops
