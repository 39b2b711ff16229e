#pragma once
// A recorded step that can be replayed: the calls, where their memory comes from at each replay, and what has to be as
// it was when they were recorded.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <halfbridge/graph.h>

#include "arena.h"
#include "autocast/snapshot.h"
#include "autograd/weak_tensor.h"
#include "consumed_gradients.h"
#include "fingerprint.h"
#include "handles.h"
#include "objects.h"
#include "recording.h"

namespace hb::graph {

/// What is the same for all that a thread computes, when a step begins.
struct Surroundings {
  bool grad_mode, inference_mode;
  int threads;
  ScalarType default_dtype;
  unsigned settings;  // of Context
  uint64_t module_modes;
  autocast::Snapshot autocast;
  uint64_t watched;  // what a trace wants to see of replays; 0 where there is none
  static Surroundings now();
  /// The name of what differs; null where nothing does.
  const char* differs(const Surroundings& from) const;
};

/// Shape, dtype and layout of an argument.
struct Signature {
  bool defined = false, number = false;
  ScalarType dtype = ScalarType::Undefined;
  Device device = kCPU;
  DimVector sizes, strides;
  int64_t offset = 0;
  int same_memory_as = -1;  // an earlier argument that shares its storage

  static std::vector<Signature> of(const std::vector<Tensor>& tensors);
  bool fits(const Tensor& t) const;
  bool operator==(const Signature&) const = default;
};

/// The same tensor as `form` in this memory, without history.
Tensor formed(const Tensor& form, const intrusive_ptr<StorageImpl>& storage);
void point(const Place& place, const char* base);
bool requires_grad(const TensorImpl& t);
/// As it is: one that waits goes on waiting.
Tensor& gradient_of(const TensorHandle& leaf);
size_t hooks_of(const TensorImpl& t);

class Program {
 public:
  /// Throws RecordingError where the recording cannot be replayed.
  Program(Recording& recording, const std::vector<Tensor>& results, std::vector<Signature> inputs,
          std::vector<double> numbers, Surroundings surroundings, const CompileOptions& options);
  ~Program();

  /// What the step did when it was recorded; it is compared with the step after `replays` replays.
  void compare_after(Fingerprint did, int64_t replays) { did_ = std::move(did), compare_after_ = replays; }
  bool to_be_compared(const std::vector<Tensor>& inputs) {
    return (replays_ >= compare_after_ && compare_after_ > 0) || has_other_inputs(inputs);
  }
  /// A call that did the same had these arguments.
  void did_the_same_with(const std::vector<const TensorImpl*>& inputs);
  const Fingerprint& did() const { return did_; }
  /// The step still does that: the next comparison comes after twice as many replays, but no more than `most`.
  void is_compared(int64_t most) {
    replays_ = 0, compare_after_ = std::min(2 * compare_after_, most);
    recorded_inputs_.clear();
  }
  /// Since the last comparison.
  int64_t replays() const { return replays_; }

  /// Why it is not the program for these arguments now; null where it is. Brings options of optimizers up to date.
  const char* mismatch(const std::vector<Tensor>& inputs, const std::vector<double>& numbers,
                       const Surroundings& surroundings);
  std::vector<Tensor> replay(const std::vector<Tensor>& inputs);

  std::string print() const;
  /// Times each call of the next `replays` replays, then writes a page.
  void save_page(std::string file, int replays);
  size_t arena_bytes() const { return arena_ ? arena_->nbytes() : 0; }

 private:
  /// Memory that may be another at each replay.
  struct Slot {
    int memory = -1;
    int input = -1;                      // the argument whose memory it is; else a result's or a gradient's
    intrusive_ptr<StorageImpl> storage;  // now; of results and gradients
    const char* bound = nullptr;         // what the calls point to
    int64_t holders = 0;                 // of the storage, as long as the program holds none of it
    bool in_arena = false;               // a gradient that lies among the temporary values
    bool kept = false;                   // the library keeps what lies there
    size_t bytes = 0;
    std::vector<Place> places;
    std::vector<Tensor*> tensors;
  };
  struct Result {
    int input = -1;         // that argument itself
    TensorHandle kept;      // or this tensor of the program's
    Tensor form;            // or geometry
    int slot = -1;          // in this memory
    StorageHandle storage;  // or this one
  };
  struct Given {
    Tensor form;
    int slot;
    capture::Give give;
  };
  struct LeafState {
    TensorHandle leaf;
    bool had_gradient = false;  // when the step began
    TensorHandle before;        // it must be this one, where it is added to
    bool any = false;           // whatever there is, the step drops it
    enum class After { same, none, slot } after = After::same;
    Tensor form;  // the gradient: what it looks like
    TensorHandle now;
    int slot = -1;
  };
  struct Late {
    LateGradient gradient;
    const LeafState* leaf;
    std::shared_ptr<pending::Work> work;  // since the last replay
    int at = -1;                          // the call that stands for it
  };
  struct Guarded {
    TensorHandle tensor;
    const StorageImpl* storage;
    const void* data;  // of the storage
    size_t bytes;
    ScalarType dtype;
    DimVector sizes, strides;
    int64_t offset;
    bool requires_grad, bumped, overlooked;
    size_t hooks;
  };

  void check_made(Recording& r, const std::vector<Tensor>& results);
  void keep(int memory, Memory& m);
  void check_versions(const Recording& r) const;
  void run();
  void run_call(size_t call);
  void run_timed();
  void hand_out_gradients(size_t calls);
  void bump_versions();
  const LeafState* sole_leaf(int memory) const;
  void consume(bool late);
  void read_halves(bool late);
  void clip(bool late);
  void place_late();
  void leave_out(size_t calls);
  void end_waiting();
  bool is_late(int memory) const;
  bool is_held(const LeafState& leaf) const;
  void write_page() const;
  std::string name_of(int memory) const;
  void check_sole_holders(const std::vector<Tensor>& results) const;
  int slot_of(int memory);
  void add_result(const Recording& r, const Tensor& t);
  void add_leaf(const Recording& r, const Leaf& leaf);
  void guard(Recording& r);
  void collect_places();
  void place_values(const CompileOptions& options);
  void adopt_gradients();
  void lie_in(intrusive_ptr<StorageImpl> arena);
  void hold_now(Slot& slot);
  void leave_arena();
  void count_holders();
  void bind(Slot& slot, const intrusive_ptr<StorageImpl>& storage);
  void renew(Slot& slot);
  bool has_other_inputs(const std::vector<Tensor>& inputs);
  const char* leaf_mismatch() const;
  const char* outside_mismatch() const;

  std::vector<Memory> memories_;
  std::vector<RecordedCall> calls_;
  std::vector<int> refreshed_;  // calls that have something to refresh
  std::vector<Slot> slots_;
  std::vector<int> slot_of_memory_;
  std::vector<Result> results_;
  std::vector<Given> given_away_;
  std::vector<LeafState> leaves_;
  std::vector<Late> late_;
  std::vector<int> kept_;  // memories that what is late is made of
  std::vector<Guarded> guarded_;
  std::vector<StorageHandle> storages_;  // of the program's, and
  struct Anonymous {
    StorageHandle storage;
    const void* data;
  };
  std::vector<Anonymous> anonymous_;            // those among them of which no tensor is known
  std::vector<int> bumped_inputs_;              // that the step changes
  const std::vector<Tensor>* given_ = nullptr;  // the arguments of the replay that runs
  std::vector<capture::Differs> conditions_;
  std::vector<Signature> inputs_;
  /// The arguments of the recording that it has met alone: the step may take such a tensor from the program, too.
  struct RecordedInput {
    size_t at;
    const TensorImpl* impl;
    WeakTensor tensor;
  };
  std::vector<RecordedInput> recorded_inputs_;
  std::vector<double> numbers_;
  Surroundings surroundings_;
  std::unique_ptr<ObjectGuard> objects_;
  Fingerprint did_;
  int64_t replays_ = 0, compare_after_ = 0;
  struct Placed {
    int memory;
    size_t offset;
  };
  std::vector<Placed> placed_;   // what lies in the arena
  std::vector<Lifetime> lives_;  // of the places there
  size_t arena_size_ = 0;
  intrusive_ptr<StorageImpl> arena_;
  std::string page_;  // where it is written when `timed_` replays more are done
  int timed_ = 0, replays_timed_ = 0;
  std::vector<double> seconds_;  // of each call
};

/// A recording that cannot be replayed, and why.
struct RecordingError {
  std::string why;
};

}  // namespace hb::graph
