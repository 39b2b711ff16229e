#pragma once
// Graphs that are recorded, run and gone within one function.

namespace hb {

/// While it lives and `passing` is true, this thread records graphs of inference tensors, too: nobody can change what
/// they save before they are gone.
class PassingGraph {
 public:
  explicit PassingGraph(bool passing);
  PassingGraph(const PassingGraph&) = delete;
  PassingGraph& operator=(const PassingGraph&) = delete;
  ~PassingGraph();
  static bool active();

 private:
  bool previous_;
};

}  // namespace hb
