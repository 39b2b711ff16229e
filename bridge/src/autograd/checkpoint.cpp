#include <halfbridge/bridge/checkpoint.h>

#include <mutex>
#include <optional>
#include <utility>

#include <halfbridge/generator.h>

#include "autocast/snapshot.h"
#include "autograd/record.h"
#include "autograd/watch.h"
#include "core/own_generator.h"
#include "core/recorder.h"
#include "core/stack.h"

namespace hb::bridge::detail {

namespace {

// One call of checkpoint: what was saved in it, by number, and how to compute it again.
class Region final : public SavedSource {
 public:
  Region(const variable_list& inputs, CheckpointScope::Again again)
      : again_(std::move(again)), numbers_(copy_of(default_generator())), numbers_of_devices_(states_of_devices()) {
    for (const Tensor& t : inputs) inputs_.push_back(SavedTensor::input(t));
  }
  ~Region() override {
    for (SavedTensor& t : inputs_) t.release();
  }

  std::optional<uint32_t> add(const Tensor& t) override {
    saved_.push_back({DimVector(t.sizes()), t.scalar_type(), t.device(), {}, 0});
    return static_cast<uint32_t>(saved_.size() - 1);
  }
  Tensor get(uint32_t number) override {
    std::lock_guard lock(mutex_);
    const bool with_history = GradMode::is_enabled();
    if (!saved_[number].value.defined() || (with_history && !with_history_))
      hb::detail::with_stack([&] { compute_again(with_history); });
    const Saved& s = saved_[number];
    HB_CHECK(s.value.impl().seen_version() == s.version,
             "[checkpoint] one of the variables needed for gradient computation has been modified by an inplace "
             "operation: saved tensor ",
             number, " of shape ", s.value.sizes());
    return s.value;
  }
  void drop(uint32_t number) override {
    std::lock_guard lock(mutex_);
    saved_[number].value = Tensor();
  }
  /// A generator that draws what the function draws.
  Generator numbers() const { return numbers_.clone(); }
  /// The function has drawn from it: where nobody else has drawn since, the default generator goes on behind that.
  void drawn(const Generator& own) const {
    Generator shared = default_generator();
    const std::lock_guard lock(shared.mutex());
    auto *all = shared.get<CPUGeneratorImpl>(), *from = own.get<CPUGeneratorImpl>();
    if (!draw_alike(*all, *numbers_.get<CPUGeneratorImpl>())) return;
    all->set_engine(from->engine());
    all->set_next_float_normal_sample(from->next_float_normal_sample());
    all->set_next_double_normal_sample(from->next_double_normal_sample());
  }

 private:
  struct Saved {
    DimVector sizes;
    ScalarType dtype;
    Device device;
    Tensor value;
    uint32_t version;
  };

  // Takes the tensors of the second call; its own operations keep them too, for as long as their graph lives.
  class Refill final : public SavedSource {
   public:
    Refill(Region& region, bool with_history) : region_(region), with_history_(with_history) {}
    std::optional<uint32_t> add(const Tensor& t) override {
      region_.refill(count++, t, with_history_);
      return std::nullopt;
    }
    Tensor get(uint32_t) override { return {}; }
    void drop(uint32_t) override {}
    size_t count = 0;

   private:
    Region& region_;
    bool with_history_;
  };

  void refill(size_t number, const Tensor& t, bool with_history) {
    if (number >= saved_.size()) return;  // compute_again() compares the numbers
    Saved& s = saved_[number];
    HB_CHECK(t.sizes() == IntArrayRef(s.sizes) && t.scalar_type() == s.dtype && t.device() == s.device,
             "[checkpoint] expected the second call of the function to save the same tensors as the first, got ",
             t.scalar_type(), " ", t.sizes(), " on ", t.device(), " for ", s.dtype, " ", IntArrayRef(s.sizes), " on ",
             s.device, " (saved tensor ", number, ")");
    s.version = t.impl().seen_version();
    if (with_history) {
      s.value = t;
      return;
    }
    s.value = Tensor(t.impl().alias(true));
    // It may be the input of a checkpoint inside this one, which records by what its inputs require.
    if (t.requires_grad()) s.value.requires_grad_(true);
  }

  void compute_again(bool with_history) {
    variable_list inputs;
    for (const SavedTensor& t : inputs_) inputs.push_back(t.unpack_input());
    auto refill = make_intrusive<Refill>(*this, with_history);
    SavedSource::Scope scope(refill.get());
    AutoGradMode recording(true);
    autocast::Restored precision(autocast_);
    const Recomputation again;
    const Generator numbers = this->numbers();
    const hb::detail::OwnGenerator own(numbers);
    const NumbersOfDevices of_devices(numbers_of_devices_);
    again_(inputs);
    if (!numbers_of_devices_.empty() ||
        !draw_alike(*numbers.get<CPUGeneratorImpl>(), *numbers_.get<CPUGeneratorImpl>()))
      hb::capture::tell_refusal("checkpoint", "draws the numbers of its first call again");
    HB_CHECK(refill->count == saved_.size(),
             "[checkpoint] expected the second call of the function to save as many tensors as the first (",
             saved_.size(), "), got ", refill->count);
    with_history_ = with_history;
  }

  static bool draw_alike(const CPUGeneratorImpl& a, const CPUGeneratorImpl& b) {
    const Mt19937 of_a = a.engine(), of_b = b.engine();
    return of_a.position() == of_b.position() && of_a.words() == of_b.words() &&
           a.next_float_normal_sample() == b.next_float_normal_sample() &&
           a.next_double_normal_sample() == b.next_double_normal_sample();
  }
  static Generator copy_of(Generator shared) {
    const std::lock_guard lock(shared.mutex());
    return shared.clone();
  }

  // Generators of devices are put back and forth, which other threads that draw there notice.
  using States = std::vector<std::pair<Generator, Tensor>>;
  static States states_of_devices() {
    States states;
    for (const Generator& g : hb::detail::generators_of_devices()) states.emplace_back(g, g.get_state());
    return states;
  }
  struct NumbersOfDevices {
    explicit NumbersOfDevices(const States& states) : before(states_of_devices()) { put(states); }
    ~NumbersOfDevices() { put(before); }
    static void put(const States& states) {
      for (const auto& [generator, state] : states) {
        Generator g = generator;
        const std::lock_guard lock(g.mutex());
        g.set_state(state);
      }
    }
    States before;
  };

  CheckpointScope::Again again_;
  const Generator numbers_;
  const States numbers_of_devices_;
  autocast::Snapshot autocast_ = autocast::Snapshot::take();
  std::vector<SavedTensor> inputs_;
  std::vector<Saved> saved_;
  bool with_history_ = false;
  std::recursive_mutex mutex_;
};

}  // namespace

struct CheckpointScope::State {
  explicit State(intrusive_ptr<Region> r)
      : region(std::move(r)), numbers(region->numbers()), own(std::in_place, numbers), scope(region.get()) {}
  ~State() {
    own.reset();
    region->drawn(numbers);
  }
  const intrusive_ptr<Region> region;
  const Generator numbers;
  std::optional<hb::detail::OwnGenerator> own;
  SavedSource::Scope scope;
};

CheckpointScope::CheckpointScope(const variable_list& inputs, Again again) {
  state_ = new State(make_intrusive<Region>(inputs, std::move(again)));
}
CheckpointScope::~CheckpointScope() { delete state_; }

}  // namespace hb::bridge::detail
