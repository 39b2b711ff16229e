#pragma once
// Mixed precision of one network (the levels of train/src/amp): which functions are cast while its modules run, and the
// half copies of its parameters, which stay in float32.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <halfbridge/tensor.h>

#include "autograd/data_calls.h"
#include "autograd/weak_tensor.h"

namespace hb::autocast {

/// Half copies of float32 weights. A copy is made when a weight has changed and serves every pass until it changes
/// again: in place (the version says so), through what data() gave out, or through an alias that is still there. A
/// weight whose address the program was given is cast anew each time. Any number of threads may ask.
class WeightCopies {
 public:
  /// From now on this tensor is a weight too, though it requires no gradient: a frozen parameter, a buffer.
  void adopt(const Tensor& t);
  /// Whether a tensor is a weight: float32 and a leaf that requires a gradient or was adopted.
  bool applies_to(const Tensor& t) const;
  /// The weight's values in `dtype`, without history. Nobody may change them.
  Tensor values(const Tensor& weight, ScalarType dtype);

  struct Count {
    int64_t tensors = 0, bytes = 0;  // copies kept now
    int64_t made = 0;                // casts of weights since the beginning
  };
  Count count() const;

 private:
  struct Entry {
    WeakTensor of;
    bool adopted = false;
    Tensor values;
    const StorageImpl* storage = nullptr;  // the weight's
    uint32_t version = 0;
    uint64_t data_calls = 0;
    bool exclusive = false;  // nobody else held the weight's memory, or its address
  };
  Entry& entry_of(const Tensor& t);

  mutable std::mutex mutex_;
  std::unordered_map<const TensorImpl*, Entry> entries_;
  size_t look_at_size_ = 64;
  int64_t made_ = 0;
};

/// Which functions are cast, by the names of the table of classes.
struct FunctionLists {
  /// False: functions of the white list compute in half and give float32; nothing else is cast.
  /// True: weights are half to every function, and those of the white list cast all their arguments. Functions of the
  /// black list compute in float32 and give half.
  bool half_network = false;
  std::unordered_set<std::string> white, black;
  bool is_white(const char* name) const { return white.count(name) != 0; }
  bool is_black(const char* name) const { return black.count(name) != 0; }
};

/// What a network's modules run under.
struct Level : std::enable_shared_from_this<Level> {
  Level(std::shared_ptr<WeightCopies> copies, std::shared_ptr<const FunctionLists> functions)
      : copies(std::move(copies)), functions(std::move(functions)) {}
  std::shared_ptr<WeightCopies> copies;
  std::shared_ptr<const FunctionLists> functions;  // null: the classes of autocast
};

/// The level that this thread runs under, while autocast is on.
inline thread_local constinit const Level* current_level = nullptr;

/// Puts a level in force until the end of the scope; nullptr: none.
class LevelScope {
 public:
  explicit LevelScope(std::shared_ptr<const Level> level)
      : level_(std::move(level)), previous_(std::exchange(current_level, level_.get())) {}
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;
  ~LevelScope() { current_level = previous_; }

 private:
  std::shared_ptr<const Level> level_;
  const Level* previous_;
};

/// A weight's half copy as one function's argument: recorded, so that the gradient comes back to the weight in float32.
/// `values`: what WeightCopies has.
Tensor recorded_copy(const Tensor& weight, const Tensor& values);

}  // namespace hb::autocast
