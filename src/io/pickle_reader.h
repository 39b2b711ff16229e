// Reads a pickle into plain nodes. Nothing is constructed or called: what a class or a call means is for
// others to say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hb::io {

/// Names of classes and storages are copied wherever one is used.
constexpr size_t kMaxPickleName = 1024;

struct PickleNode {
  enum class Kind : uint8_t {
    None,
    Bool,        // integer
    Int,         // integer
    Float,       // real
    String,      // text
    Bytes,       // text
    List,        // items
    Tuple,       // items
    Dict,        // items: key, value, key, value, ...
    Set,         // items
    Global,      // text: "module.name"
    Call,        // callee, arguments; items: appended elements or key-value pairs; state: what BUILD gave
    Object,      // callee (the class), arguments; items and state as for Call
    Persistent,  // arguments: the persistent id
  };
  Kind kind = Kind::None;
  bool shared = false;  // whether the pickle may use it a second time
  size_t offset = 0;    // of the opcode that made it, for errors
  union {
    int64_t integer = 0;
    double real;
  };
  std::string text;
  std::vector<PickleNode*> items;
  PickleNode* callee = nullptr;
  PickleNode* arguments = nullptr;
  PickleNode* state = nullptr;
};

/// The nodes of one pickle. They may be shared and may form cycles.
class PickleGraph {
 public:
  /// Parses one pickle (binary opcodes of protocols 2 to 5) that begins at byte `start` of `data`. Throws hb::Error
  /// with the byte offset for anything malformed or beyond the limits; `label` names the data.
  static PickleGraph parse(std::string_view data, const std::string& label, size_t start = 0);

  const PickleNode& root() const { return *root_; }
  /// All of them, in the order in which they were made; some may not be reachable from the root.
  const std::deque<PickleNode>& nodes() const { return nodes_; }
  const std::string& label() const { return label_; }
  /// Bytes used, including STOP.
  size_t size() const { return size_; }

 private:
  friend class PickleParser;
  std::deque<PickleNode> nodes_;
  PickleNode* root_ = nullptr;
  std::string label_;
  size_t size_ = 0;
};

const char* kind_name(PickleNode::Kind kind);

}  // namespace hb::io
