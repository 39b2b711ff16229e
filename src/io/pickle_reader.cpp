#include "io/pickle_reader.h"

#include <cstdio>

#include "io/pickle_parser.h"

namespace hb::io {

// clang-format off
void PickleParser::step(uint8_t code) {
  if (step_scalar(code) || step_container(code) || step_object(code)) return;
  char text[8];
  std::snprintf(text, sizeof text, "0x%02x", code);
  fail("opcode ", text, " is not supported");
}

bool PickleParser::step_scalar(uint8_t code) {
  switch (code) {
    case op::kNone: push(make(Kind::None)); return true;
    case op::kNewTrue: push_int(1, Kind::Bool); return true;
    case op::kNewFalse: push_int(0, Kind::Bool); return true;
    case op::kBinInt1: push_int(static_cast<int64_t>(take_unsigned(1))); return true;
    case op::kBinInt2: push_int(static_cast<int64_t>(take_unsigned(2))); return true;
    case op::kBinInt: push_int(static_cast<int32_t>(take_unsigned(4))); return true;
    case op::kLong1: push_long(take_unsigned(1)); return true;
    case op::kLong4: push_long(take_unsigned(4)); return true;
    case op::kBinFloat: push_float(); return true;
    case op::kBinUnicode: push_text(Kind::String, take(take_unsigned(4))); return true;
    case op::kShortBinUnicode: push_text(Kind::String, take(take_unsigned(1))); return true;
    case op::kBinUnicode8: push_text(Kind::String, take(take_unsigned(8))); return true;
    case op::kBinString: push_text(Kind::String, take(take_unsigned(4))); return true;
    case op::kShortBinString: push_text(Kind::String, take(take_unsigned(1))); return true;
    case op::kBinBytes: push_text(Kind::Bytes, take(take_unsigned(4))); return true;
    case op::kShortBinBytes: push_text(Kind::Bytes, take(take_unsigned(1))); return true;
    case op::kBinBytes8: push_text(Kind::Bytes, take(take_unsigned(8))); return true;
    default:
      return false;
  }
}

bool PickleParser::step_container(uint8_t code) {
  switch (code) {
    case op::kMark:
      if (marks_.size() >= kMaxPickleMarks) fail("it is nested deeper than ", kMaxPickleMarks);
      marks_.push_back(stack_.size());
      return true;
    case op::kEmptyList: push(make(Kind::List)); return true;
    case op::kEmptyTuple: push(make(Kind::Tuple)); return true;
    case op::kEmptyDict: push(make(Kind::Dict)); return true;
    case op::kEmptySet: push(make(Kind::Set)); return true;
    case op::kList: push_marked(Kind::List); return true;
    case op::kTuple: push_marked(Kind::Tuple); return true;
    case op::kDict: push_marked(Kind::Dict); return true;
    case op::kTuple1: push_tuple(1); return true;
    case op::kTuple2: push_tuple(2); return true;
    case op::kTuple3: push_tuple(3); return true;
    case op::kAppend: add_one(1, Kind::List); return true;
    case op::kSetItem: add_one(2, Kind::Dict); return true;
    case op::kAppends: add_marked(Kind::List); return true;
    case op::kSetItems: add_marked(Kind::Dict); return true;
    case op::kAddItems: add_marked(Kind::Set); return true;
    default:
      return false;
  }
}

bool PickleParser::step_object(uint8_t code) {
  switch (code) {
    case op::kProto: check_protocol(take_unsigned(1)); return true;
    case op::kFrame: take_unsigned(8); return true;
    case op::kStop: stop(); return true;
    case op::kPop: pop_one(); return true;
    case op::kPopMark: pop_to_mark(); return true;
    case op::kDup: push_again(top()); return true;
    case op::kBinPut: memoize(take_unsigned(1)); return true;
    case op::kLongBinPut: memoize(take_unsigned(4)); return true;
    case op::kMemoize: memoize(memos_); return true;
    case op::kBinGet: recall(take_unsigned(1)); return true;
    case op::kLongBinGet: recall(take_unsigned(4)); return true;
    case op::kGlobal: {
      const std::string_view module = take_line();
      push_global(module, take_line());
      return true;
    }
    case op::kStackGlobal: push_stack_global(); return true;
    case op::kReduce: push_call(Kind::Call); return true;
    case op::kNewObj: push_call(Kind::Object); return true;
    case op::kBuild: build(); return true;
    case op::kBinPersId: push_persistent(); return true;
    default:
      return false;
  }
}
// clang-format on

PickleGraph PickleGraph::parse(std::string_view data, const std::string& label, size_t start) {
  PickleGraph graph;
  graph.label_ = label;
  PickleParser(data, graph, start).run();
  return graph;
}

const char* kind_name(PickleNode::Kind kind) {
  using Kind = PickleNode::Kind;
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
