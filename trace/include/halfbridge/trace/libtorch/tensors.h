#pragma once
// Tensors of LibTorch as records.

#include <cstdio>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <halfbridge/trace/libtorch/op.h>
#include <halfbridge/trace/writer.h>
#include <torch/torch.h>

namespace hb::trace::libtorch {

inline std::optional<Dtype> dtype_of(const torch::Tensor& t) {
  switch (t.scalar_type()) {
    case torch::kDouble:
      return Dtype::F64;
    case torch::kFloat:
      return Dtype::F32;
    case torch::kHalf:
      return Dtype::F16;
    case torch::kBFloat16:
      return Dtype::BF16;
    case torch::kLong:
      return Dtype::I64;
    case torch::kInt:
      return Dtype::I32;
    case torch::kShort:
      return Dtype::I16;
    case torch::kChar:
      return Dtype::I8;
    case torch::kByte:
      return Dtype::U8;
    case torch::kBool:
      return Dtype::BOOL;
    default:
      return std::nullopt;
  }
}

/// While it lives, operators of this thread belong to the capture: nobody records them.
class OwnOperators {
 public:
  OwnOperators() : before_(std::exchange(running(), true)) {}
  ~OwnOperators() { running() = before_; }
  OwnOperators(const OwnOperators&) = delete;
  OwnOperators& operator=(const OwnOperators&) = delete;

  static bool& running() {
    static thread_local bool own = false;
    return own;
  }

 private:
  bool before_;
  torch::NoGradGuard no_grad_;
};

/// A tensor and the number of changes to it: equal keys of a living tensor are equal values, but for changes that
/// LibTorch does not count (through data_ptr()), for which the bytes' hash stands.
struct TensorKey {
  std::optional<WeakTensor> tensor;
  int64_t version = -1;  // -1: not counted
};
inline TensorKey key_of(const torch::Tensor& t) {
  return {WeakTensor(t.getIntrusivePtr()), t.is_inference() ? -1 : static_cast<int64_t>(t._version())};
}

class TensorWriter {
 public:
  TensorWriter(const std::string& folder, Options options)
      : writer_(folder, std::string("libtorch ") + TORCH_VERSION, std::move(options)) {}

  Writer& writer() { return writer_; }
  const Options& options() const { return writer_.options(); }

  /// `key`: that of the program's tensor, whose copy `t` may be; where another record has its bytes, they are not
  /// written twice.
  void write(Record record, const torch::Tensor& t, TensorKey key = {}) {
    if (t.is_complex()) return write(std::move(record), torch::view_as_real(t.detach().resolve_conj()), key);
    const auto dtype = dtype_of(t);
    if (!dtype || t.layout() != torch::kStrided || t.is_quantized()) return skip(t);
    record.dtype = *dtype;
    record.shape = t.sizes().vec();
    const torch::Tensor plain = t.detach().cpu().contiguous();
    const auto* bytes = static_cast<const char*>(plain.data_ptr());
    const auto size = static_cast<size_t>(record.bytes());
    if (key.version < 0) {
      writer_.write(record, bytes);
      return;
    }
    const uint64_t hash = hash_of(bytes, size);
    const c10::TensorImpl* impl = key.tensor->_unsafe_get_target();
    const auto known = written_.find(impl);
    if (known != written_.end() && known->second.version == key.version && known->second.hash == hash &&
        !known->second.tensor.expired())
      return writer_.write_same(record, known->second.name);
    const std::string name = writer_.write(record, bytes);
    if (name.empty()) return;
    forget_expired();
    written_.insert_or_assign(impl, Written{std::move(*key.tensor), key.version, hash, name});
  }

  static uint64_t hash_of(const torch::Tensor& t) {
    const torch::Tensor plain = t.detach().cpu().contiguous();
    return hash_of(static_cast<const char*>(plain.data_ptr()), static_cast<size_t>(plain.nbytes()));
  }

 private:
  struct Written {
    WeakTensor tensor;
    int64_t version;
    uint64_t hash;
    std::string name;
  };

  static uint64_t hash_of(const char* bytes, size_t size) {
    uint64_t lanes[4] = {1, 2, 3, 4}, last = size;
    size_t i = 0;
    for (; i + 32 <= size; i += 32) {
      uint64_t words[4];
      std::memcpy(words, bytes + i, 32);
      for (int k = 0; k < 4; ++k) lanes[k] = (lanes[k] ^ words[k]) * 0x9E3779B97F4A7C15u, lanes[k] ^= lanes[k] >> 29;
    }
    for (; i < size; ++i) last = (last ^ static_cast<unsigned char>(bytes[i])) * 0x100000001B3u;
    for (uint64_t lane : lanes) last = (last ^ lane) * 0x9E3779B97F4A7C15u;
    return last;
  }
  void forget_expired() {
    if (written_.size() < limit_) return;
    for (auto it = written_.begin(); it != written_.end();)
      it = it->second.tensor.expired() ? written_.erase(it) : std::next(it);
    limit_ = written_.size() * 2 + 1024;
  }
  void skip(const torch::Tensor& t) {
    if (told_) return;
    told_ = true;
    const std::string type = t.toString();
    std::fprintf(stderr, "[trace] tensors of type %s are not recorded: safetensors has no such type\n", type.c_str());
  }

  Writer writer_;
  std::unordered_map<const c10::TensorImpl*, Written> written_;
  size_t limit_ = 1024;
  bool told_ = false;
};

}  // namespace hb::trace::libtorch
