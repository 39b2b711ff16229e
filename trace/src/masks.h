#pragma once
// The masks of another run, for dropout.

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::trace {

class MaskReplay {
 public:
  /// Reads the headers of a trace; throws hb::Error for what is not a trace, or has no masks.
  explicit MaskReplay(const std::string& folder);

  bool has_step(int64_t step) const { return steps_.count(step) != 0; }
  /// The next mask of this step for a module, or for the functions outside of all layers (`path` empty, `module`
  /// false); BOOL. Throws hb::Error where none is left or its shape differs. `again`: the last one once more (a
  /// checkpoint computes its function again).
  Tensor next(int64_t step, bool module, const std::string& path, IntArrayRef shape, bool again);

 private:
  struct Mask {
    std::string file, name;
    uint64_t offset;
    std::vector<int64_t> shape;
  };
  struct Queue {
    std::vector<Mask> masks;  // in order
    size_t used = 0;
  };
  struct Key {
    int64_t step;
    bool module;
    std::string path;
    bool operator<(const Key& o) const { return std::tie(step, module, path) < std::tie(o.step, o.module, o.path); }
  };
  void read_file(const std::string& file, std::map<Key, std::map<int64_t, Mask>>& found) const;

  std::string folder_;
  std::map<Key, Queue> queues_;
  std::set<int64_t> steps_;
};

}  // namespace hb::trace
