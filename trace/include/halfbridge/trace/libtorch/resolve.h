#pragma once
// Which module a call belongs to. LibTorch tells operators alone. One that uses a registered parameter is found by it;
// one without (ReLU, Dropout, MaxPool2d) by where it stands among the others: a Sequential says what comes next, and in
// a module with a forward of its own it is a child of a fitting type between the neighbours that are known.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <halfbridge/trace/libtorch/modules.h>

namespace hb::trace::libtorch {

/// What is asked about a call.
struct Question {
  const Op* op = nullptr;
  const std::string* config = nullptr;  // arguments_text()
  int producer = -1;                    // module that returned its first input, -1 for none
};

class Resolver {
 public:
  explicit Resolver(const ModuleTree& tree) : tree_(tree) {}

  /// Whether some module without parameters could be this operator.
  bool possible(const Op& op) const {
    if (tree_.has_plain("Functional")) return true;
    if (!op.modules) return false;
    return std::any_of(op.modules->begin(), op.modules->end(), [&](const auto& type) { return tree_.has_plain(type); });
  }

  /// The module of an operator that uses these parameters or buffers, -1 where they are of another kind of module.
  int by_tensors(const Op& op, const std::vector<int>& tensors) const {
    if (op.name == "addmm" && tensors.size() < 2) return -1;  // a Linear gives it weight and bias
    int best = -1;
    for (int t : tensors) {
      const int m = tree_.tensor(t).module;
      if (!op.modules || !op.modules->count(tree_.node(m).type)) continue;
      // A weight of several modules: the next of them in the order of registration.
      const bool later = m > anchor_ && !called_.count(m), best_later = best > anchor_ && !called_.count(best);
      if (best < 0 || (later && !best_later)) best = m;
    }
    return best;
  }

  /// The module that a Sequential runs after the producer, if that is of the operator's type; -1: not known from that.
  int by_sequence(const Question& q) const {
    if (q.producer < 0) return -1;
    const int next = leaf_after(q.producer);
    return next >= 0 && fits(next, q) ? next : -1;
  }

  /// A module without parameters between the last one that was found by its parameters and `after` (-1: not known).
  int between(const Question& q, int after) const {
    int root = after;
    if (anchor_ >= 0) root = anchor_;
    if (root < 0) return -1;
    if (after >= 0 && anchor_ >= 0 && tree_.node(after).root != tree_.node(anchor_).root) after = -1;
    std::vector<int> found;
    for (int m : candidates(anchor_, after))
      if (fits(m, q)) found.push_back(m);
    return choose(found, after);
  }

  /// The module that comes before `module`, for a call whose result is what `module` is given: at the begin of a net.
  int before(const Question& q, int module) const {
    const int previous = leaf_before(module);
    if (previous >= 0) return fits(previous, q) ? previous : -1;
    std::vector<int> found;
    for (int m : candidates(-1, module))
      if (fits(m, q)) found.push_back(m);
    return choose(found, module);
  }

  void new_step() {
    anchor_ = -1;
    called_.clear();
  }
  /// `module` was called; `anchor`: found by its parameters.
  void called(int module, bool anchor) {
    if (anchor && called_.count(module)) called_.clear();  // the next pass through the net
    called_.insert(module);
    if (anchor) anchor_ = module;
  }

 private:
  using Sort = ModuleNode::Sort;

  bool fits(int id, const Question& q) const {
    const ModuleNode& n = tree_.node(id);
    if (n.sort != Sort::leaf || n.has_tensors) return false;
    if (n.type == "Functional") return true;
    return q.op->modules && q.op->modules->count(n.type) && !contradicts(n.config, *q.config);
  }
  // Whether a value that both print differs: `p=0.2` and `p=0.5`.
  static bool contradicts(const std::string& printed, const std::string& arguments) {
    for (size_t at = 0; at < printed.size();) {
      size_t end = at;
      for (int depth = 0; end < printed.size() && (depth > 0 || printed[end] != ','); ++end)
        depth += (printed[end] == '[' || printed[end] == '(') - (printed[end] == ']' || printed[end] == ')');
      const std::string item = printed.substr(at, end - at);
      const size_t equals = item.find('=');
      if (equals != std::string::npos) {
        const std::string key = item.substr(0, equals + 1);
        const size_t there = (", " + arguments).find(", " + key);
        // A list of no numbers stands for a default.
        if (there != std::string::npos && arguments.compare(there, item.size(), item) != 0 &&
            arguments.compare(there + key.size(), 2, "[]") != 0)
          return true;
      }
      at = end + 2;
    }
    return false;
  }

  // The leaf that runs right after (before) a module, where only Sequentials decide that; else -1.
  int leaf_after(int id) const { return neighbour(id, +1); }
  int leaf_before(int id) const { return neighbour(id, -1); }
  int neighbour(int id, int way) const {
    for (int n = id; tree_.node(n).parent >= 0; n = tree_.node(n).parent) {
      const ModuleNode& parent = tree_.node(tree_.node(n).parent);
      if (parent.sort != Sort::sequential) return -1;
      const auto& all = parent.children;
      auto at = static_cast<int64_t>(std::find(all.begin(), all.end(), n) - all.begin()) + way;
      while (at >= 0 && at < static_cast<int64_t>(all.size()) && is_identity(all[static_cast<size_t>(at)])) at += way;
      if (at >= 0 && at < static_cast<int64_t>(all.size())) return outermost_leaf(all[static_cast<size_t>(at)], way);
    }
    return -1;
  }
  bool is_identity(int id) const { return tree_.node(id).type == "Identity"; }
  int outermost_leaf(int id, int way) const {
    while (tree_.node(id).sort == Sort::sequential && !tree_.node(id).children.empty())
      id = way > 0 ? tree_.node(id).children.front() : tree_.node(id).children.back();
    return tree_.node(id).sort == Sort::leaf ? id : -1;
  }

  std::vector<int> ancestors(int id) const {
    std::vector<int> all;
    for (int n = id; n >= 0; n = tree_.node(n).parent) all.push_back(n);
    return all;
  }
  // Leaves without parameters that may run after `from` and before `to` (either may be -1).
  std::vector<int> candidates(int from, int to) const {
    std::vector<int> found;
    const std::vector<int> up = ancestors(from), down = ancestors(to);
    const auto on = [](const std::vector<int>& chain, int id) {
      return std::find(chain.begin(), chain.end(), id) != chain.end();
    };
    bool own = true;  // the innermost module with a forward of its own may call its children in any order
    for (size_t i = 1; i < up.size(); ++i) {
      const bool shared = on(down, up[i]);
      collect(up[i], up[i - 1], shared ? branch(down, up[i]) : -1, own, found);
      if (tree_.node(up[i]).sort == Sort::custom) own = false;
      if (shared) return found;
    }
    for (size_t i = 1; i < down.size(); ++i) collect(down[i], -1, down[i - 1], false, found);
    return found;
  }
  static int branch(const std::vector<int>& chain, int ancestor) {
    const auto at = std::find(chain.begin(), chain.end(), ancestor);
    return at == chain.begin() ? -1 : *(at - 1);
  }
  void collect(int scope, int first, int last, bool any_order, std::vector<int>& found) const {
    const ModuleNode& n = tree_.node(scope);
    const bool free = any_order && n.sort == Sort::custom;
    for (int child : n.children) {
      if (!free && ((first >= 0 && child <= first) || (last >= 0 && child >= last))) continue;
      leaves(child, found);
    }
  }
  void leaves(int id, std::vector<int>& found) const {
    const ModuleNode& n = tree_.node(id);
    if (n.has_tensors) {
      if (n.sort == Sort::list)
        for (int child : n.children) leaves(child, found);
      return;
    }
    if (n.sort == Sort::leaf) found.push_back(id);
    for (int child : n.children) leaves(child, found);
  }

  // The one that stands next and was not called yet, else one not called, else the last one that was.
  int choose(const std::vector<int>& found, int after) const {
    const auto first = [&](const auto& good) {
      const auto at = std::find_if(found.begin(), found.end(), good);
      return at == found.end() ? -1 : *at;
    };
    const auto fresh = [&](int m) { return !called_.count(m); };
    int m = first([&](int id) { return fresh(id) && id > anchor_ && (after < 0 || id < after); });
    if (m < 0) m = first(fresh);
    return m >= 0 || found.empty() ? m : found.back();
  }

  const ModuleTree& tree_;
  int anchor_ = -1;
  std::set<int> called_;
};

}  // namespace hb::trace::libtorch
