#pragma once
// Random number generators. The CPU engine is LibTorch's: a 32-bit Mersenne twister, so equal seeds give
// equal numbers.
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <halfbridge/device.h>
#include <halfbridge/intrusive_ptr.h>
#include <halfbridge/macros.h>

namespace hb {

class Tensor;

/// The seed of a generator that nobody has seeded.
constexpr uint64_t default_rng_seed_val = 67280421310721ULL;

/// The Mersenne twister MT19937 (Matsumoto and Nishimura, 1998), 32 bits a draw.
class HB_API Mt19937 {
 public:
  static constexpr int kStateSize = 624;

  explicit Mt19937(uint64_t seed = 5489) { reseed(seed); }

  /// Starts the sequence of `seed`; its low 32 bits are used.
  void reseed(uint64_t seed);
  uint64_t seed() const { return seed_; }

  /// The next 32 bits.
  uint32_t operator()() {
    if (next_ == kStateSize) refill();
    return temper(state_[next_++]);
  }
  /// The next `n` draws, as `n` calls would give them.
  void fill(uint32_t* out, int64_t n);

  /// The words not yet tempered, and how many of them have been given out (kStateSize: all).
  const std::array<uint32_t, kStateSize>& words() const { return state_; }
  int position() const { return next_; }
  bool fresh() const { return fresh_; }
  void restore(uint64_t seed, const std::array<uint32_t, kStateSize>& words, int position, bool fresh);

 private:
  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void refill();

  uint64_t seed_ = 0;
  int next_ = kStateSize;
  bool fresh_ = true;  // seeded and not drawn from yet
  std::array<uint32_t, kStateSize> state_;
};

/// What a `Generator` points at: one stream of random numbers on one device.
class HB_API GeneratorImpl : public intrusive_ptr_target {
 public:
  explicit GeneratorImpl(Device device) : device_(device) {}
  ~GeneratorImpl() override;

  virtual void set_current_seed(uint64_t seed) = 0;
  virtual uint64_t current_seed() const = 0;
  /// Seeds from the system's entropy and returns the seed.
  virtual uint64_t seed() = 0;
  virtual void set_offset(uint64_t offset) = 0;
  virtual uint64_t get_offset() const = 0;
  virtual std::vector<uint8_t> state_bytes() const = 0;
  virtual void set_state_bytes(const uint8_t* data, size_t size) = 0;
  virtual intrusive_ptr<GeneratorImpl> clone_impl() const = 0;
  intrusive_ptr<GeneratorImpl> clone() const { return clone_impl(); }
  Device device() const { return device_; }

  /// Code that draws numbers holds it, for threads may share a generator.
  std::mutex mutex_;

 private:
  Device device_;
};

/// The CPU's generator: the twister and the half of a Box-Muller pair that has not been given out.
class HB_API CPUGeneratorImpl final : public GeneratorImpl {
 public:
  explicit CPUGeneratorImpl(uint64_t seed = default_rng_seed_val);
  ~CPUGeneratorImpl() override;

  static DeviceType device_type() { return DeviceType::CPU; }

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return engine_.seed(); }
  uint64_t seed() override;
  /// The twister has no offset: both throw.
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  /// 5,056 bytes, laid out as LibTorch's `get_state`.
  std::vector<uint8_t> state_bytes() const override;
  void set_state_bytes(const uint8_t* data, size_t size) override;
  intrusive_ptr<GeneratorImpl> clone_impl() const override;
  intrusive_ptr<CPUGeneratorImpl> clone() const;

  uint32_t random() { return engine_(); }
  /// Two draws, the first in the high half.
  uint64_t random64() {
    const uint64_t high = engine_();
    return (high << 32) | engine_();
  }
  /// The next `n` draws of `random()`.
  void random_fill(uint32_t* out, int64_t n) { engine_.fill(out, n); }

  std::optional<float> next_float_normal_sample() const { return next_float_normal_; }
  std::optional<double> next_double_normal_sample() const { return next_double_normal_; }
  void set_next_float_normal_sample(std::optional<float> value) { next_float_normal_ = value; }
  void set_next_double_normal_sample(std::optional<double> value) { next_double_normal_ = value; }
  Mt19937 engine() const { return engine_; }
  void set_engine(const Mt19937& engine) { engine_ = engine; }

 private:
  Mt19937 engine_;
  std::optional<float> next_float_normal_;
  std::optional<double> next_double_normal_;
};

/// A handle on a generator: copies share its state. A default-made one is undefined.
class HB_API Generator {
 public:
  Generator() = default;
  explicit Generator(intrusive_ptr<GeneratorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  void set_current_seed(uint64_t seed) { impl().set_current_seed(seed); }
  void manual_seed(uint64_t seed) { impl().set_current_seed(seed); }
  uint64_t current_seed() const { return impl().current_seed(); }
  uint64_t seed() { return impl().seed(); }
  void set_offset(uint64_t offset) { impl().set_offset(offset); }
  uint64_t get_offset() const { return impl().get_offset(); }
  /// The whole state as a 1-d uint8 tensor, and back. Throws where the bytes are not a state of this kind of
  /// generator.
  Tensor get_state() const;
  void set_state(const Tensor& state);
  /// A generator of its own, at the same place in the same sequence.
  Generator clone() const { return Generator(impl().clone_impl()); }
  std::mutex& mutex() { return impl().mutex_; }
  Device device() const { return impl().device(); }
  /// The implementation as `T`; `T` must be the kind that `device()` has.
  template <typename T>
  T* get() const {
    return static_cast<T*>(&impl());
  }
  GeneratorImpl* unsafeGetGeneratorImpl() const { return impl_.get(); }
  const intrusive_ptr<GeneratorImpl>& getIntrusivePtr() const { return impl_; }
  /// Gives the handle away as a pointer that somebody must reclaim.
  GeneratorImpl* unsafeReleaseGeneratorImpl() { return impl_.release(); }
  friend bool operator==(const Generator& a, const Generator& b) { return a.impl_ == b.impl_; }
  friend bool operator!=(const Generator& a, const Generator& b) { return a.impl_ != b.impl_; }

 private:
  GeneratorImpl& impl() const;
  intrusive_ptr<GeneratorImpl> impl_;
};

template <typename Impl, typename... Args>
Generator make_generator(Args&&... args) {
  return Generator(make_intrusive<Impl>(std::forward<Args>(args)...));
}

namespace detail {
/// The generator used where none is given.
HB_API const Generator& getDefaultCPUGenerator();
HB_API Generator createCPUGenerator(uint64_t seed = default_rng_seed_val);
/// A seed from the system's entropy source.
HB_API uint64_t getNonDeterministicRandom(bool is_cuda = false);
/// Throws unless `gen` is there, defined and of `type`.
HB_API void require_generator(const std::optional<Generator>& gen, DeviceType type);
}  // namespace detail

/// The implementation behind `gen`, which must be there and of kind `T`.
template <typename T>
T* check_generator(std::optional<Generator> gen) {
  detail::require_generator(gen, T::device_type());
  return gen->template get<T>();
}
/// The implementation behind `gen`, or behind `otherwise` where `gen` is not given.
template <typename T>
T* get_generator_or_default(const std::optional<Generator>& gen, const Generator& otherwise) {
  return gen.has_value() && gen->defined() ? check_generator<T>(gen) : check_generator<T>(otherwise);
}

HB_API const Generator& default_generator();
/// Seeds the default generators of every device.
HB_API void manual_seed(uint64_t seed);

}  // namespace hb
