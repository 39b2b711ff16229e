#include <halfbridge/generator.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>

#include <halfbridge/error.h>

#include "core/load_cuda.h"
#include "core/own_generator.h"
#include "core/recorder.h"

namespace hb {

namespace {

// The bytes of LibTorch's `get_state`: what its first CPU generator stored, then what was added since.
struct StateBytes {
  uint64_t seed;
  int32_t left;
  int32_t seeded;
  uint64_t next;
  uint64_t words[Mt19937::kStateSize];
  double normal_x;
  double normal_y;  // the double that waits, if normal_is_valid
  double normal_rho;
  int32_t normal_is_valid;
  int32_t padding;
  float next_float_normal;
  bool next_float_normal_is_valid;
  uint8_t padding_end[3];
};
static_assert(sizeof(StateBytes) == 5056);

}  // namespace

GeneratorImpl::~GeneratorImpl() = default;

CPUGeneratorImpl::CPUGeneratorImpl(uint64_t seed) : GeneratorImpl(Device(DeviceType::CPU)), engine_(seed) {}
CPUGeneratorImpl::~CPUGeneratorImpl() = default;

void CPUGeneratorImpl::set_current_seed(uint64_t seed) {
  if (HB_UNLIKELY(capture::any_recording()))
    capture::tell_refusal("manual_seed", "sets a generator; do so outside of the step");
  next_float_normal_.reset();
  next_double_normal_.reset();
  engine_.reseed(seed);
}

uint64_t CPUGeneratorImpl::seed() {
  const uint64_t seed = detail::getNonDeterministicRandom();
  set_current_seed(seed);
  return seed;
}

void CPUGeneratorImpl::set_offset(uint64_t) { HB_CHECK(false, "CPU Generator does not use offset"); }
uint64_t CPUGeneratorImpl::get_offset() const { HB_CHECK(false, "CPU Generator does not use offset"); }

std::vector<uint8_t> CPUGeneratorImpl::state_bytes() const {
  StateBytes s{};
  s.seed = engine_.seed();
  s.seeded = 1;
  // LibTorch counts what is left of the block plus one; before the first draw that is 1, with nothing given
  // out.
  s.left = engine_.fresh() ? 1 : Mt19937::kStateSize + 1 - engine_.position();
  s.next = engine_.fresh() ? 0 : engine_.position();
  std::copy(engine_.words().begin(), engine_.words().end(), s.words);
  s.normal_is_valid = next_double_normal_.has_value();
  s.normal_y = next_double_normal_.value_or(0.0);
  s.next_float_normal_is_valid = next_float_normal_.has_value();
  s.next_float_normal = next_float_normal_.value_or(0.0f);
  std::vector<uint8_t> bytes(sizeof(s));
  std::memcpy(bytes.data(), &s, sizeof(s));
  return bytes;
}

void CPUGeneratorImpl::set_state_bytes(const uint8_t* data, size_t size) {
  if (HB_UNLIKELY(capture::any_recording()))
    capture::tell_refusal("set_state", "sets a generator; do so outside of the step");
  StateBytes s{};
  const size_t without_float = offsetof(StateBytes, next_float_normal);
  HB_CHECK(size == sizeof(s) || size == without_float, "Expected either a CPUGeneratorImplStateLegacy of size ",
           without_float, " or a CPUGeneratorImplState of size ", sizeof(s),
           " but found the input RNG state size to be ", size);
  std::memcpy(static_cast<void*>(&s), data, size);
  const bool fresh = s.left == 1 && s.next == 0;
  HB_CHECK(s.seeded == 1 && s.left > 0 && s.left <= Mt19937::kStateSize && s.next <= Mt19937::kStateSize,
           "Invalid mt19937 state");
  std::array<uint32_t, Mt19937::kStateSize> words;
  std::copy(std::begin(s.words), std::end(s.words), words.begin());
  engine_.restore(s.seed, words, fresh ? Mt19937::kStateSize : static_cast<int>(s.next), fresh);
  next_double_normal_ = s.normal_is_valid ? std::optional<double>(s.normal_y) : std::nullopt;
  next_float_normal_.reset();
  if (size == sizeof(s) && s.next_float_normal_is_valid) next_float_normal_ = s.next_float_normal;
}

intrusive_ptr<CPUGeneratorImpl> CPUGeneratorImpl::clone() const {
  auto copy = make_intrusive<CPUGeneratorImpl>();
  copy->engine_ = engine_;
  copy->next_float_normal_ = next_float_normal_;
  copy->next_double_normal_ = next_double_normal_;
  return copy;
}
intrusive_ptr<GeneratorImpl> CPUGeneratorImpl::clone_impl() const { return clone(); }

GeneratorImpl& Generator::impl() const {
  HB_CHECK(impl_, "Generator with undefined implementation is not allowed");
  return *impl_;
}

namespace detail {

namespace {
thread_local constinit const Generator* own_generator = nullptr;
}
OwnGenerator::OwnGenerator(const Generator& own) : before_(std::exchange(own_generator, &own)) {}
OwnGenerator::~OwnGenerator() { own_generator = before_; }

const Generator& getDefaultCPUGenerator() {
  if (HB_UNLIKELY(own_generator != nullptr)) return *own_generator;
  // Never destroyed: threads may draw numbers while the process ends.
  static const auto* generator = new Generator(createCPUGenerator(default_rng_seed_val));
  return *generator;
}

Generator createCPUGenerator(uint64_t seed) { return make_generator<CPUGeneratorImpl>(seed); }

uint64_t getNonDeterministicRandom(bool) {
  std::random_device device;
  // 53 bits, so that the seed survives a double.
  return ((static_cast<uint64_t>(device()) << 32) + device()) & 0x1FFFFFFFFFFFFFu;
}

void require_generator(const std::optional<Generator>& gen, DeviceType type) {
  HB_CHECK(gen.has_value(), "Expected Generator but received nullopt");
  HB_CHECK(gen->defined(), "Generator with undefined implementation is not allowed");
  HB_CHECK(gen->device().type() == type, "Expected a '", type, "' device type for generator but found '",
           gen->device().type(), "'");
}

}  // namespace detail

const Generator& default_generator() { return detail::getDefaultCPUGenerator(); }

namespace {
std::atomic<uint64_t> last_seed{default_rng_seed_val};
}  // namespace
uint64_t seed_for_devices() { return last_seed; }

void manual_seed(uint64_t seed) {
  Generator generator = default_generator();
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
  last_seed = seed;
  for (Generator& other : detail::generators_of_devices()) other.manual_seed(seed);
}

std::vector<Generator> detail::generators_of_devices() {
  std::vector<Generator> all;
  if (HB_LIKELY(!other_devices)) return all;
  for (int type = 1; type < COMPILE_TIME_MAX_DEVICE_TYPES; ++type) {
    if (static_cast<DeviceType>(type) == kCUDA && !cuda_is_open()) continue;  // it need not be opened for this
    DeviceBackend* const backend = find_device_backend(static_cast<DeviceType>(type));
    for (DeviceIndex i = 0; backend && i < backend->count(); ++i)
      if (const Generator& g = backend->default_generator(i); !g.device().is_cpu()) all.push_back(g);
  }
  return all;
}

}  // namespace hb
