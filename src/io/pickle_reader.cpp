#include "io/pickle_reader.h"

#include <cstring>
#include <utility>

#include "io/io_error.h"
#include "io/pickle_opcodes.h"

namespace hb::io {
namespace {

using Kind = PickleNode::Kind;

// A node takes about a hundred times the byte that can ask for it.
constexpr size_t kMaxNodes = size_t{1} << 24;
constexpr size_t kMaxMarks = size_t{1} << 16;

}  // namespace

class PickleParser {
 public:
  PickleParser(std::string_view data, PickleGraph& graph) : data_(data), graph_(graph) {}

  void run() {
    while (!done_) {
      start_ = position_;
      step(static_cast<uint8_t>(take(1)[0]));
    }
    graph_.size_ = position_;
  }

 private:
  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    io_fail("pickle", "'", graph_.label_, "', byte ", start_, ": ", parts...);
  }

  std::string_view take(uint64_t size) {
    if (size > data_.size() - position_) {
      fail("expected ", size, " more bytes, got ", data_.size() - position_, " (truncated)");
    }
    const std::string_view bytes = data_.substr(position_, size);
    position_ += size;
    return bytes;
  }

  uint64_t take_unsigned(size_t width) {
    const std::string_view bytes = take(width);
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    return value;
  }

  std::string_view take_line() {
    const size_t end = data_.find('\n', position_);
    if (end == std::string_view::npos) fail("expected a line, got the end (truncated)");
    const std::string_view line = data_.substr(position_, end - position_);
    position_ = end + 1;
    return line;
  }

  PickleNode* make(Kind kind) {
    if (graph_.nodes_.size() >= kMaxNodes) fail("it has more than ", kMaxNodes, " values");
    PickleNode& node = graph_.nodes_.emplace_back();
    node.kind = kind;
    node.offset = start_;
    return &node;
  }

  PickleNode* push(PickleNode* node) {
    stack_.push_back(node);
    return node;
  }

  // Values below the innermost mark belong to an enclosing container and are out of reach.
  size_t available() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  PickleNode* top() {
    if (available() == 0) fail("expected a value on the stack, got none");
    return stack_.back();
  }

  PickleNode* pop() {
    PickleNode* node = top();
    stack_.pop_back();
    return node;
  }

  std::vector<PickleNode*> pop_to_mark() {
    if (marks_.empty()) fail("expected a mark on the stack, got none");
    std::vector<PickleNode*> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  void push_int(int64_t value, Kind kind = Kind::Int) { push(make(kind))->integer = value; }
  void push_text(Kind kind, std::string_view text) { push(make(kind))->text = text; }

  void push_long(uint64_t width) {
    if (width > 8) fail("expected an integer of at most 8 bytes, got ", width);
    uint64_t value = take_unsigned(width);
    if (width > 0 && width < 8 && (value >> (8 * width - 1)) != 0) value |= ~uint64_t{0} << (8 * width);
    push_int(static_cast<int64_t>(value));
  }

  void push_float() {
    const std::string_view bytes = take(8);  // big-endian, unlike all else
    uint64_t bits = 0;
    for (char c : bytes) bits = bits << 8 | static_cast<uint8_t>(c);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    push(make(Kind::Float))->real = value;
  }

  void push_tuple(size_t size) {
    if (available() < size) fail("expected ", size, " values on the stack, got ", available());
    PickleNode* tuple = make(Kind::Tuple);
    tuple->items.assign(stack_.end() - static_cast<std::ptrdiff_t>(size), stack_.end());
    stack_.resize(stack_.size() - size);
    push(tuple);
  }

  void push_marked(Kind kind) {
    PickleNode* node = make(kind);
    node->items = pop_to_mark();
    if (kind == Kind::Dict && node->items.size() % 2 != 0) fail("expected a value for each key");
    push(node);
  }

  void push_global(std::string_view module, std::string_view name) {
    PickleNode* node = make(Kind::Global);
    node->text.append(module).append(".").append(name);
    push(node);
  }

  void push_stack_global() {
    const PickleNode* name = pop();
    const PickleNode* module = pop();
    if (name->kind != Kind::String || module->kind != Kind::String) fail("expected the name of a class");
    push_global(module->text, name->text);
  }

  void push_call(Kind kind) {
    PickleNode* node = make(kind);
    node->arguments = pop();
    node->callee = pop();
    if (node->arguments->kind != Kind::Tuple) {
      fail("expected the arguments in a tuple, got ", kind_name(node->arguments->kind));
    }
    if (node->callee->kind != Kind::Global)
      fail("expected a class or function, got ", kind_name(node->callee->kind));
    push(node);
  }

  void push_persistent() {
    PickleNode* node = make(Kind::Persistent);
    node->arguments = pop();
    push(node);
  }

  void add_items(const std::vector<PickleNode*>& items, Kind kind) {
    PickleNode* target = top();
    const bool fits = target->kind == kind || target->kind == Kind::Call || target->kind == Kind::Object;
    if (!fits) fail("expected a ", kind_name(kind), " to add to, got ", kind_name(target->kind));
    if (kind == Kind::Dict && items.size() % 2 != 0) fail("expected a value for each key");
    target->items.insert(target->items.end(), items.begin(), items.end());
  }

  void build() {
    PickleNode* state = pop();
    PickleNode* target = top();
    if (target->kind != Kind::Object && target->kind != Kind::Call) {
      fail("expected an object to give a state to, got ", kind_name(target->kind));
    }
    target->state = state;
  }

  void memoize(uint64_t index) { memo_[index] = top(); }

  void recall(uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) fail("memo ", index, " was never set");
    push(found->second);
  }

  void step(uint8_t code) {
    if (step_scalar(code) || step_container(code) || step_object(code)) return;
    char text[8];
    std::snprintf(text, sizeof text, "0x%02x", code);
    fail("opcode ", text, " is not supported");
  }

  bool step_scalar(uint8_t code) {
    switch (code) {
      case op::kNone:
        push(make(Kind::None));
        return true;
      case op::kNewTrue:
        push_int(1, Kind::Bool);
        return true;
      case op::kNewFalse:
        push_int(0, Kind::Bool);
        return true;
      case op::kBinInt1:
        push_int(static_cast<int64_t>(take_unsigned(1)));
        return true;
      case op::kBinInt2:
        push_int(static_cast<int64_t>(take_unsigned(2)));
        return true;
      case op::kBinInt:
        push_int(static_cast<int32_t>(take_unsigned(4)));
        return true;
      case op::kLong1:
        push_long(take_unsigned(1));
        return true;
      case op::kLong4:
        push_long(take_unsigned(4));
        return true;
      case op::kBinFloat:
        push_float();
        return true;
      case op::kBinUnicode:
        push_text(Kind::String, take(take_unsigned(4)));
        return true;
      case op::kShortBinUnicode:
        push_text(Kind::String, take(take_unsigned(1)));
        return true;
      case op::kBinUnicode8:
        push_text(Kind::String, take(take_unsigned(8)));
        return true;
      case op::kBinString:
        push_text(Kind::String, take(take_unsigned(4)));
        return true;
      case op::kShortBinString:
        push_text(Kind::String, take(take_unsigned(1)));
        return true;
      case op::kBinBytes:
        push_text(Kind::Bytes, take(take_unsigned(4)));
        return true;
      case op::kShortBinBytes:
        push_text(Kind::Bytes, take(take_unsigned(1)));
        return true;
      case op::kBinBytes8:
        push_text(Kind::Bytes, take(take_unsigned(8)));
        return true;
      default:
        return false;
    }
  }

  bool step_container(uint8_t code) {
    switch (code) {
      case op::kMark:
        if (marks_.size() >= kMaxMarks) fail("it is nested deeper than ", kMaxMarks);
        marks_.push_back(stack_.size());
        return true;
      case op::kEmptyList:
        push(make(Kind::List));
        return true;
      case op::kEmptyTuple:
        push(make(Kind::Tuple));
        return true;
      case op::kEmptyDict:
        push(make(Kind::Dict));
        return true;
      case op::kEmptySet:
        push(make(Kind::Set));
        return true;
      case op::kList:
        push_marked(Kind::List);
        return true;
      case op::kTuple:
        push_marked(Kind::Tuple);
        return true;
      case op::kDict:
        push_marked(Kind::Dict);
        return true;
      case op::kTuple1:
        push_tuple(1);
        return true;
      case op::kTuple2:
        push_tuple(2);
        return true;
      case op::kTuple3:
        push_tuple(3);
        return true;
      case op::kAppend:
        add_one(1, Kind::List);
        return true;
      case op::kSetItem:
        add_one(2, Kind::Dict);
        return true;
      case op::kAppends:
        add_marked(Kind::List);
        return true;
      case op::kSetItems:
        add_marked(Kind::Dict);
        return true;
      case op::kAddItems:
        add_marked(Kind::Set);
        return true;
      default:
        return false;
    }
  }

  bool step_object(uint8_t code) {
    switch (code) {
      case op::kProto:
        check_protocol(take_unsigned(1));
        return true;
      case op::kFrame:
        take_unsigned(8);
        return true;
      case op::kStop:
        stop();
        return true;
      case op::kPop:
        pop_one();
        return true;
      case op::kPopMark:
        pop_to_mark();
        return true;
      case op::kDup:
        push(top());
        return true;
      case op::kBinPut:
        memoize(take_unsigned(1));
        return true;
      case op::kLongBinPut:
        memoize(take_unsigned(4));
        return true;
      case op::kMemoize:
        memoize(memo_.size());
        return true;
      case op::kBinGet:
        recall(take_unsigned(1));
        return true;
      case op::kLongBinGet:
        recall(take_unsigned(4));
        return true;
      case op::kGlobal: {
        const std::string_view module = take_line();
        push_global(module, take_line());
        return true;
      }
      case op::kStackGlobal:
        push_stack_global();
        return true;
      case op::kReduce:
        push_call(Kind::Call);
        return true;
      case op::kNewObj:
        push_call(Kind::Object);
        return true;
      case op::kBuild:
        build();
        return true;
      case op::kBinPersId:
        push_persistent();
        return true;
      default:
        return false;
    }
  }

  void add_one(size_t count, Kind kind) {
    if (available() < count + 1) fail("expected ", count + 1, " values on the stack, got ", available());
    const std::vector<PickleNode*> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    add_items(items, kind);
  }

  void add_marked(Kind kind) {
    const std::vector<PickleNode*> items = pop_to_mark();
    add_items(items, kind);
  }

  void check_protocol(uint64_t version) const {
    if (version < 2 || version > 5) fail("expected pickle protocol 2 to 5, got ", version);
  }

  void pop_one() {
    if (!marks_.empty() && marks_.back() == stack_.size()) {
      marks_.pop_back();
    } else {
      pop();
    }
  }

  void stop() {
    if (!marks_.empty() || stack_.size() != 1) fail("expected one value at the end, got ", stack_.size());
    graph_.root_ = stack_.back();
    done_ = true;
  }

  std::string_view data_;
  PickleGraph& graph_;
  size_t position_ = 0;
  size_t start_ = 0;
  bool done_ = false;
  std::vector<PickleNode*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleNode*> memo_;
};

PickleGraph PickleGraph::parse(std::string_view data, const std::string& label) {
  PickleGraph graph;
  graph.label_ = label;
  PickleParser(data, graph).run();
  return graph;
}

const char* kind_name(PickleNode::Kind kind) {
  switch (kind) {
    case Kind::None:
      return "None";
    case Kind::Bool:
      return "a bool";
    case Kind::Int:
      return "an int";
    case Kind::Float:
      return "a float";
    case Kind::String:
      return "a string";
    case Kind::Bytes:
      return "bytes";
    case Kind::List:
      return "a list";
    case Kind::Tuple:
      return "a tuple";
    case Kind::Dict:
      return "a dict";
    case Kind::Set:
      return "a set";
    case Kind::Global:
      return "a class";
    case Kind::Call:
      return "the result of a call";
    case Kind::Object:
      return "an object";
    case Kind::Persistent:
      return "a storage";
  }
  return "?";
}

}  // namespace hb::io
