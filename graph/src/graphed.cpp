#include <halfbridge/graphed.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include <halfbridge/autograd.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "autograd/data_calls.h"
#include "backend/optim.h"
#include "core/cuda_api.h"
#include "core/function_watch.h"
#include "core/watchers.h"
#include "handles.h"
#include "program.h"
#include "seeing.h"

namespace hb::cuda {
namespace {

using capture::Numbers;
using graph::Signature;
using graph::Surroundings;
using graph::TensorHandle;

constexpr int kWarmUp = 2;  // eager calls before the first recording
constexpr size_t kMostGraphs = 8;

bool is_update(const char* name) {
#define HB_NAME(Rule, kernel, title) \
  if (name == kernel.name()) return true;
  HB_FORALL_UPDATE_RULES(HB_NAME)
#undef HB_NAME
  return false;
}

/// An optimizer's kernel, whose numbers each launch reads.
struct Update {
  std::unique_ptr<capture::Call> call;
  capture::Refresh refresh;
};
/// A tensor of the program's that the step uses: a graph knows its address.
struct Outside {
  TensorHandle tensor;
  const void* address;
  uint32_t version, seen_version;  // when the recording began
  bool written = false, overlooked = false;
};
/// A leaf that the step gives a gradient, or whose gradient it reads or drops.
struct Leaf {
  TensorHandle leaf;
  bool had = false;   // a gradient when the step began
  bool adds = false;  // the step adds to it
  Tensor gradient;    // in the graph's memory, or the one that is added to
};

/// Sees a step while it is recorded, or before, to learn of its leaves.
class Observer final : public capture::Recorder {
 public:
  explicit Observer(const std::vector<TensorHandle>& known) {
    for (const TensorHandle& t : known) leaves.push_back({t, t->grad().defined(), false, {}});
    capture::set_recorder(this);
  }
  ~Observer() { stop(); }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  void stop() { capture::set_recorder(nullptr); }

  std::string refused;
  std::vector<Tensor> inputs;  // the graph's own
  std::vector<Update> updates;
  std::vector<capture::Differs> conditions;
  std::unordered_map<const TensorImpl*, Outside> outside;
  std::vector<Leaf> leaves;

  bool gave_gradient(const Leaf& l) const { return met_.count(&l.leaf->impl()) != 0; }
  void refuse(const char* name, const char* why) override {
    if (refused.empty()) refused = std::string("[") + name + "] " + why;
  }

 private:
  void call(std::unique_ptr<capture::Call> call, const Device& device) override {
    last_.reset();
    if (!device.is_cuda()) return refuse(call->name, "runs on another device than a GPU");
    if (is_update(call->name)) last_ = std::move(call);
  }
  void uses(const Tensor& t) override {
    if (t.layout() != kStrided || !t.is_cuda() || was_made(t) || outside.count(&t.impl())) return;
    for (const Tensor& in : inputs)
      if (in.impl().physical_storage() == t.impl().physical_storage()) return;
    outside[&t.impl()] = {graph::handle_of(t), t.impl().physical_storage()->data(), t.impl().version(),
                          t.impl().seen_version()};
  }
  void keeps(const Tensor&, capture::Give) override {}  // each launch makes those copies again
  void follow(capture::Refresh refresh) override {
    if (!last_) return refuse("step", "is the update of an optimizer whose kernels read no numbers from memory");
    ++followed_;
    updates.push_back({std::move(last_), std::move(refresh)});
  }
  void depends(capture::Differs differs) override { conditions.push_back(std::move(differs)); }
  void returns(const Tensor&, double) override { refuse("clip_grad_norm_", "gives a value to the host"); }
  void step_begins() override { followed_ = 0; }
  void step_ends() override {
    if (followed_ == 0) refuse("step", "is the update of an optimizer whose options cannot be followed");
  }
  void leaf(const Tensor& t) override {
    if (was_made(t)) return;
    for (Leaf& known : leaves) {
      if (!known.leaf->is_same(t)) continue;
      if (!met_.insert(&t.impl()).second) return;
      known.adds = t.grad().defined();
      return;
    }
    met_.insert(&t.impl());
    const AutogradMeta* const meta = t.impl().autograd_meta();
    const bool had = meta && meta->grad.defined();
    leaves.push_back({graph::handle_of(t), had, had, {}});
  }
  void looks_at_gradient(const Tensor& t) override {
    if (was_made(t)) return;
    for (const Leaf& known : leaves)
      if (known.leaf->is_same(t)) return;
    const AutogradMeta* const meta = t.impl().autograd_meta();
    leaves.push_back({graph::handle_of(t), meta->grad.defined(), false, {}});
  }
  void made(const TensorImpl& tensor) override {
    const std::lock_guard lock(mutex_);
    made_.insert(&tensor);
  }
  void gone(const TensorImpl& tensor) noexcept override {
    const std::lock_guard lock(mutex_);
    made_.erase(&tensor);
  }
  void allocated(const StorageImpl&) override {}
  void shown(const StorageImpl&) override {}  // the program's own kernels are recorded with it
  void freed(const StorageImpl&) noexcept override {}
  bool was_made(const Tensor& t) override {
    const std::lock_guard lock(mutex_);
    return made_.count(&t.impl()) != 0;
  }

  std::unique_ptr<capture::Call> last_;
  std::mutex mutex_;  // other threads may free what this one made
  std::unordered_set<const TensorImpl*> made_, met_;
  int followed_ = 0;
};

std::vector<Tensor> observed(Observer& observer, const RecordedStep::Step& step, const std::vector<Tensor>& arguments) {
  const auto seeing = std::make_shared<graph::Seeing>();
  const Attachment<FunctionWatcher> attached(seeing);
  watch_functions(*seeing, true);
  struct Off {
    const graph::Seeing& seeing;
    Observer& observer;
    ~Off() { watch_functions(seeing, false), observer.stop(); }
  } off{*seeing, observer};
  return step(arguments);
}

/// A step that was recorded.
class StepGraph {
 public:
  StepGraph(CudaApi& api, const std::vector<Tensor>& arguments, const Surroundings& surroundings,
            const std::vector<TensorHandle>& leaves, const RecordedStep::Step& step)
      : surroundings_(surroundings), signature_(Signature::of(arguments)) {
    const DeviceIndex device = arguments[0].device().index();
    for (const Tensor& t : arguments) inputs_.push_back(t.detach().clone());
    const OnStream side(api, api.stream_from_pool(0, device), device);
    graph_ = api.make_graph(false);
    Observer observer(leaves);
    observer.inputs = inputs_;
    data_calls.fetch_add(1);  // half copies of weights are made within the step, whether there are some already or not
    graph_->begin({0, 0}, /*cudaStreamCaptureModeThreadLocal*/ 1);
    const std::vector<Tensor> results = observed(observer, step, inputs_);
    HB_CHECK(observer.refused.empty(), "[graphed] the step cannot be recorded: ", observer.refused);
    for (const Tensor& t : results) results_.push_back(t.defined() ? t.detach() : t);
    graph_->end();
    take(observer);
  }

  /// Why it is not the graph for these arguments; null where it is. Brings options of optimizers up to date.
  const char* mismatch(const std::vector<Tensor>& arguments, const Surroundings& now) {
    if (arguments.size() != signature_.size()) return "number of arguments";
    for (size_t i = 0; i < arguments.size(); ++i)
      if (!signature_[i].fits(arguments[i])) return "shape, dtype or layout of an argument";
    if (const char* other = surroundings_.differs(now)) return other;
    for (const Outside& o : outside_)
      if (o.tensor->impl().physical_storage()->data() != o.address) return "memory of a tensor that the step uses";
    for (const Leaf& l : leaves_) {
      const Tensor grad = l.leaf->grad();
      if (l.adds ? !grad.is_same(l.gradient) : !l.had && grad.defined()) return "gradient of a leaf";
    }
    for (const capture::Differs& differs : conditions_)
      if (const char* other = differs()) return other;
    for (const Update& u : updates_)
      if (!u.refresh(*u.call, Numbers::update)) return "options of an optimizer";
    return nullptr;
  }

  std::vector<Tensor> launch(const std::vector<Tensor>& arguments) {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (!arguments[i].is_same(inputs_[i])) inputs_[i].copy_(arguments[i]);
    graph_->update([&] {
      for (const Update& u : updates_) u.call->run();
    });
    graph_->replay();
    for (const Outside& o : outside_)
      if (o.written) o.tensor->impl().bump_version(o.overlooked);
    data_calls.fetch_add(1);  // and for who looks at no version
    for (const Leaf& l : leaves_)
      if (!l.leaf->grad().is_same(l.gradient)) l.leaf->mutable_grad() = l.gradient;
    std::vector<Tensor> results;
    for (const Tensor& t : results_) results.push_back(t.defined() ? t.clone() : t);
    return results;
  }

 private:
  void take(Observer& observer) {
    updates_ = std::move(observer.updates);
    conditions_ = std::move(observer.conditions);
    leaves_ = std::move(observer.leaves);
    for (Leaf& l : leaves_) {
      l.gradient = l.leaf->grad();
      if (!observer.gave_gradient(l)) l.adds = l.gradient.defined();  // another one would be another step's
    }
    for (auto& [impl, o] : observer.outside) {
      o.written = impl->version() != o.version, o.overlooked = impl->seen_version() == o.seen_version;
      outside_.push_back(std::move(o));
    }
  }

  Surroundings surroundings_;
  std::vector<Signature> signature_;
  std::vector<Tensor> inputs_, results_;
  std::vector<Outside> outside_;
  std::vector<Leaf> leaves_;
  std::vector<Update> updates_;
  std::vector<capture::Differs> conditions_;
  std::unique_ptr<CudaGraphApi> graph_;
};

/// Gives leaves the gradients back that they had when a recording began, unless that came to a good end: what a
/// recording gave them nobody has computed.
class GradientsBefore {
 public:
  explicit GradientsBefore(const std::vector<TensorHandle>& leaves) : leaves_(leaves) {
    for (const TensorHandle& t : leaves) before_.push_back(t->grad());
  }
  ~GradientsBefore() {
    for (size_t i = 0; i < before_.size() && !good; ++i) leaves_[i]->mutable_grad() = before_[i];
  }
  GradientsBefore(const GradientsBefore&) = delete;
  GradientsBefore& operator=(const GradientsBefore&) = delete;
  bool good = false;

 private:
  const std::vector<TensorHandle>& leaves_;
  std::vector<Tensor> before_;
};

void check_arguments(const std::vector<Tensor>& arguments) {
  HB_CHECK(!arguments.empty(), "[graphed] expected a step that takes a tensor, got one without arguments");
  for (const Tensor& t : arguments) {
    HB_CHECK(t.defined() && t.is_cuda() && t.device() == arguments[0].device(),
             "[graphed] expected arguments on one GPU, got ", t.defined() ? t.device().str() : "an undefined tensor");
    HB_CHECK(!t.requires_grad(), "[graphed] expected arguments that require no gradient");
  }
}

}  // namespace

struct RecordedStep::State {
  graph::CompileCounts counts;
  std::vector<TensorHandle> leaves;
  std::vector<std::unique_ptr<StepGraph>> graphs;  // the one used last first
};

RecordedStep::RecordedStep() : state_(std::make_unique<State>()) {}
RecordedStep::RecordedStep(RecordedStep&&) noexcept = default;
RecordedStep& RecordedStep::operator=(RecordedStep&&) noexcept = default;
RecordedStep::~RecordedStep() = default;
const graph::CompileCounts& RecordedStep::counts() const { return state_->counts; }
void RecordedStep::reset() { *state_ = State(); }

std::vector<Tensor> RecordedStep::call(const std::vector<Tensor>& arguments, const Step& step) {
  State& s = *state_;
  check_arguments(arguments);
  CudaApi& api = cuda_api("graphed");
  const auto eagerly = [&](const char* why) {
    ++s.counts.eager;
    s.counts.reason = why;
    return step(arguments);
  };
  if (graph::watched()) return eagerly("a tool watches what the program computes");
  if (s.counts.eager < kWarmUp - 1) return eagerly("the first calls are eager");
  const Surroundings now = Surroundings::now();
  if (s.counts.eager < kWarmUp) {  // leaves that get gradients are known when the recording begins
    ++s.counts.eager;
    s.counts.reason = "the first calls are eager";
    Observer observer({});
    auto results = observed(observer, step, arguments);
    for (const Leaf& l : observer.leaves) s.leaves.push_back(l.leaf);
    return results;
  }
  const char* reason = "the first recording";
  for (size_t i = 0; i < s.graphs.size(); ++i) {
    const char* const other = s.graphs[i]->mismatch(arguments, now);
    if (i == 0 && other) reason = other;
    if (other) continue;
    std::rotate(s.graphs.begin(), s.graphs.begin() + static_cast<std::ptrdiff_t>(i),
                s.graphs.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    ++s.counts.replayed;
    return s.graphs.front()->launch(arguments);
  }
  s.counts.reason = reason;
  if (s.graphs.size() >= kMostGraphs) s.graphs.pop_back();
  {
    GradientsBefore before(s.leaves);
    s.graphs.insert(s.graphs.begin(), std::make_unique<StepGraph>(api, arguments, now, s.leaves, step));
    before.good = true;
  }
  ++s.counts.recorded;
  return s.graphs.front()->launch(arguments);
}

}  // namespace hb::cuda
