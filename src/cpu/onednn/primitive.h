#pragma once
// oneDNN primitives kept for reuse. Only src/cpu includes this.

#include <array>
#include <cstring>
#include <initializer_list>
#include <vector>

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>
#include <dnnl.hpp>

#include "cpu/scratch.h"

namespace hb::cpu {

/// Turns a vendor error into an Error that names what was called.
#define HB_ONEDNN(name, ...)                                                                                  \
  do {                                                                                                        \
    try {                                                                                                     \
      __VA_ARGS__;                                                                                            \
    } catch (const dnnl::error& e) {                                                                          \
      HB_CHECK(false, "[", name, "] oneDNN failed with status ", static_cast<int>(e.status), ": ", e.what()); \
    }                                                                                                         \
  } while (0)

const dnnl::engine& onednn_engine();
dnnl::stream& onednn_stream();
/// Only f32 and bf16 are computed by oneDNN; others are converted before.
dnnl::memory::data_type onednn_type(ScalarType t);

/// Everything that tells two primitives apart, as plain numbers.
class PrimitiveKey {
 public:
  static constexpr size_t kWords = 48;
  PrimitiveKey(std::initializer_list<int64_t> words) {
    for (int64_t w : words) add(w);
  }
  void add(int64_t w) { words_[count_++] = w; }
  size_t hash() const {
    uint64_t h = count_;
    for (size_t i = 0; i < count_; ++i) {
      h ^= static_cast<uint64_t>(words_[i]);
      h *= 0x9e3779b97f4a7c15ull;
      h ^= h >> 29;
    }
    return h;
  }
  bool operator==(const PrimitiveKey& o) const {
    return count_ == o.count_ && std::memcmp(words_.data(), o.words_.data(), count_ * sizeof(int64_t)) == 0;
  }

 private:
  std::array<int64_t, kWords> words_;
  size_t count_ = 0;
};
struct PrimitiveKeyHash {
  size_t operator()(const PrimitiveKey& k) const { return k.hash(); }
};

/// A primitive and the memory objects of its arguments, whose addresses are set for each run.
struct Prepared {
  dnnl::primitive primitive;
  std::vector<int> args;               // DNNL_ARG_…
  std::vector<dnnl::memory> memories;  // beside args
  std::vector<dnnl_exec_arg_t> exec;
  size_t scratch_bytes = 0;
  bool has_run = false;  // the first run may compile code
  // The formats that the primitive chose for what was left to it (weights).
  dnnl::memory::desc weights;

  void bind(int arg, const dnnl::memory::desc& desc);
  /// Adds the scratchpad; call last.
  void finish(const dnnl::memory::desc& scratchpad);
  /// Addresses in the order of bind().
  void run(const char* what, std::initializer_list<const void*> addresses);
};

/// The primitive of this key, made by `make` when this thread has not used it of late.
Prepared& prepared(const PrimitiveKey& key, Prepared (*make)(const void* context), const void* context);
template <class F>
Prepared& prepared(const PrimitiveKey& key, const F& make) {
  return prepared(
      key, [](const void* f) { return (*static_cast<const F*>(f))(); }, &make);
}

}  // namespace hb::cpu
