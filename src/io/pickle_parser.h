// The stack machine that a pickle drives.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "io/io_error.h"
#include "io/pickle_opcodes.h"
#include "io/pickle_reader.h"

namespace hb::io {

// A node takes about a hundred times the byte that can ask for it.
constexpr size_t kMaxPickleNodes = size_t{1} << 24;
constexpr size_t kMaxPickleMarks = size_t{1} << 16;

class PickleParser {
 public:
  PickleParser(std::string_view data, PickleGraph& graph, size_t begin)
      : data_(data), graph_(graph), begin_(begin), position_(begin) {}

  void run() {
    while (!done_) {
      start_ = position_;
      step(static_cast<uint8_t>(take(1)[0]));
    }
    graph_.size_ = position_ - begin_;
  }

 private:
  using Kind = PickleNode::Kind;

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
    if (graph_.nodes_.size() >= kMaxPickleNodes) fail("it has more than ", kMaxPickleNodes, " values");
    PickleNode& node = graph_.nodes_.emplace_back();
    node.kind = kind;
    node.offset = start_;
    return &node;
  }

  PickleNode* push(PickleNode* node) {
    stack_.push_back(node);
    return node;
  }

  void push_again(PickleNode* node) { push(node)->shared = true; }

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
    const size_t size = module.size() + name.size() + 1;
    if (size > kMaxPickleName) fail("expected the name of a class with at most ", kMaxPickleName, " bytes, got ", size);
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
    if (node->callee->kind != Kind::Global) fail("expected a class or function, got ", kind_name(node->callee->kind));
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

  // Writers count their memos, so that no number is larger than the bytes before it; others could make any table slow.
  void memoize(uint64_t index) {
    if (index > position_ - begin_) fail("expected a memo of at most ", position_ - begin_, ", got ", index);
    if (index >= memo_.size()) memo_.resize(index + 1, nullptr);
    memos_ += memo_[index] == nullptr;
    memo_[index] = top();
  }

  void recall(uint64_t index) {
    if (index >= memo_.size() || !memo_[index]) fail("memo ", index, " was never set");
    push_again(memo_[index]);
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

  void step(uint8_t code);
  bool step_scalar(uint8_t code);
  bool step_container(uint8_t code);
  bool step_object(uint8_t code);

  std::string_view data_;
  PickleGraph& graph_;
  size_t begin_;
  size_t position_;
  size_t start_ = 0;
  bool done_ = false;
  std::vector<PickleNode*> stack_;
  std::vector<size_t> marks_;
  std::vector<PickleNode*> memo_;
  size_t memos_ = 0;  // how many are set
};

}  // namespace hb::io
