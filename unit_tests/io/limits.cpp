// Time and memory of readers grow with the file, whatever the file claims.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/checkpoint.h>
#include <halfbridge/io/idx.h>
#include <halfbridge/io/safetensors.h>
#include <halfbridge/io/state_dict.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "io/cost.h"
#include "io/zip_bytes.h"

namespace {

using unit::archive_of;
using unit::cost_of;
using unit::expect_bounded;
using unit::little;
using unit::zip_of;

std::string times(size_t count, const std::string& part) {
  std::string all;
  all.reserve(count * part.size());
  for (size_t i = 0; i < count; ++i) all += part;
  return all;
}
std::string text(const std::string& value) { return "X" + little(value.size(), 4) + value; }
std::string pickle(const std::string& body) { return "\x80\x02" + body + "."; }
std::string put(int place) { return "q" + little(static_cast<uint64_t>(place), 1); }
std::string get(int place) { return "h" + little(static_cast<uint64_t>(place), 1); }

constexpr size_t kHalf = 250'000;  // bytes of what is shared, and of what shares it

std::string opcode_loops(const std::string& kind) {
  if (kind == "none") return "](" + std::string(2 * kHalf, 'N') + "e";
  if (kind == "lists") return "](" + std::string(2 * kHalf, ']') + "e";
  if (kind == "tuples") return "](" + std::string(2 * kHalf, ')') + "e";
  if (kind == "dicts") return "](" + std::string(2 * kHalf, '}') + "e";
  if (kind == "duplicates") return "](N" + std::string(2 * kHalf, '2') + "e";
  if (kind == "deep lists") return std::string(2 * kHalf, ']');
  if (kind == "deep tuples") return ")" + std::string(2 * kHalf, '\x85');
  if (kind == "marks") return std::string(2 * kHalf, '(');
  if (kind == "memos") return "N" + std::string(2 * kHalf, '\x94');
  return "](" + times(kHalf, "K\x01") + "e";
}

TEST(Limits, PicklesOfManyOpcodes) {
  for (const char* kind :
       {"none", "lists", "tuples", "dicts", "duplicates", "deep lists", "deep tuples", "marks", "memos", "numbers"}) {
    const auto bytes = archive_of(pickle(opcode_loops(kind)));
    expect_bounded(
        kind, bytes.size(), [&] { hb::io::pickle_load(bytes); }, false);
  }
}

// So many that what every pickle may take besides hides nothing.
TEST(Limits, PicklesOfMillionsOfDicts) {
  const auto bytes = archive_of(pickle("](" + std::string(8 * kHalf, '}') + "e"));
  expect_bounded(
      "millions of dicts", bytes.size(), [&] { hb::io::pickle_load(bytes); }, false);
}

// Of a tensor with 64 dimensions in the storage "0".
std::string tensor_arguments() {
  const std::string storage = "(" + text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") + "K\4tQ";
  const std::string dimensions = "(" + times(64, "K\1") + "t";
  return "(" + storage + std::string("K\0", 2) + dimensions + dimensions +
         "\x89"
         "ccollections\nOrderedDict\n)Rt";
}

// One half of the file is a part that the other half uses again and again.
std::vector<std::pair<std::string, std::string>> shared_parts() {
  const std::string long_text = text(std::string(kHalf, 'n'));
  const std::string many = "](" + std::string(kHalf, 'N') + "e", many_in_tuple = "(" + std::string(kHalf, 'N') + "t";
  const std::string state = "}(" + times(kHalf / 12, text("a") + "K\x01") + "u";
  std::string distinct = "}(";
  for (size_t i = 0; i < kHalf / 12; ++i) distinct += text(std::to_string(i)) + "N";
  // Memo 0 is what is shared, memo 1 a function or class; both leave the stack again.
  const auto in_list = [](const std::string& shared, const std::string& function, const std::string& use) {
    return function + put(1) + "0" + shared + put(0) + "0](" + times(kHalf / use.size(), use) + "e";
  };
  const std::string call = get(1) + get(0) + "R", object = "c__torch__\nA\n";
  const std::string type = text("List[" + std::string(kHalf, 'a') + "]"), none = "N";
  return {
      {"names of classes", in_list(long_text, none, get(0) + get(0) + "\x93")},
      {"objects of a long name", in_list(none, "c" + std::string(1000, 'n') + "\nA\n", get(1) + ")\x81}b")},
      {"long module names", in_list(none, "c__torch__." + std::string(1000, 'n') + "\nA\n", get(1) + ")\x81}b")},
      {"objects of one state", in_list(distinct + "u", object, get(1) + ")\x81" + get(0) + "b")},
      {"objects of one name", in_list(long_text, object, get(1) + ")\x81}" + get(0) + "Nsb")},
      {"ordered dicts", in_list("](" + times(kHalf / 7, "K\1N\x86") + "e\x85", "ccollections\nOrderedDict\n", call)},
      {"lists of a type",
       in_list("](" + times(kHalf / 2, "K\1") + "e\x85", "ctorch.jit._pickle\nbuild_intlist\n", call)},
      {"sets", in_list(many + "\x85", "cbuiltins\nset\n", call)},
      {"sizes", in_list(many_in_tuple + "\x85", "ctorch\nSize\n", call)},
      {"types", in_list("]" + type + "\x86", "ctorch.jit._pickle\nrestore_type_tag\n", call)},
      {"bytes", in_list(long_text + text("latin1") + "\x86", "c_codecs\nencode\n", call)},
      {"tensors", in_list(tensor_arguments(), "ctorch._utils\n_rebuild_tensor_v2\n", call)},
      {"keys", "}(" + long_text + put(0) + "N" + times(kHalf / 3, get(0) + "N") + "u"},
      {"tuples as keys", "}(" + many_in_tuple + put(0) + "N" + times(kHalf / 3, get(0) + "N") + "u"},
      {"sets that share what they hold", in_list("](" + many + "e\x85", "cbuiltins\nset\n", call)},
      {"objects whose states share what they hold",
       in_list("}" + text("a") + many + "s", object, get(1) + ")\x81" + get(0) + "b")},
      {"texts of shared lists", in_list("](" + long_text + "e\x85", "cbuiltins\nset\n", call)},
      {"lists in lists", in_list(many, none, get(0))},
      {"equal states", in_list(state, none, get(0))},
  };
}

TEST(Limits, PicklesThatShareTheirParts) {
  for (const auto& [name, body] : shared_parts()) {
    const auto bytes = archive_of(pickle(body));
    expect_bounded(
        name.c_str(), bytes.size(), [&] { hb::io::parse_state_dict(bytes.data(), bytes.size()); }, false);
  }
}

// Each level names the one below twice.
TEST(Limits, PicklesThatDouble) {
  for (const std::string& level :
       {"(" + get(0) + get(0) + "t", "](" + get(0) + get(0) + "e", "}(K\1" + get(0) + "K\2" + get(0) + "u"}) {
    const auto bytes = archive_of(pickle("N" + put(0) + "0" + times(500, level + put(0) + "0") + get(0)));
    expect_bounded(
        "doubling", bytes.size(), [&] { hb::io::parse_state_dict(bytes.data(), bytes.size()); }, true);
  }
}

// All keys in one bucket of a table whose size is a prime.
TEST(Limits, NumbersThatCollide) {
  std::string keys = "}(", memos = "N";
  for (uint64_t i = 1; i <= 50'000; ++i) {
    keys += "\x8a\x08" + little(i * 62233, 8) + "N";
    memos += "r" + little(i * 62233, 4);
  }
  const auto dict = archive_of(pickle(keys + "u")), memo = archive_of(pickle(memos));
  expect_bounded(
      "keys", dict.size(), [&] { hb::io::pickle_load(dict); }, false);
  expect_bounded(
      "memos", memo.size(), [&] { hb::io::pickle_load(memo); }, true);
}

std::string safetensors(const std::string& header) { return little(header.size(), 8) + header; }

TEST(Limits, Safetensors) {
  std::string empty_ones = "{", members = "{\"a\":{", lists = "{\"a\":[";
  for (int i = 0; i < 100'000; ++i) {
    const std::string comma = i ? "," : "", name = comma + "\"" + std::to_string(i) + "\":";
    empty_ones += name + R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    members += name + "{}";
    lists += comma + "[]";
  }
  for (const std::string& header : {empty_ones + "}", members + "}}", lists + "]}", std::string(4'000'000, '['),
                                    "{\"a\":" + std::string(4'000'000, '1') + "}"}) {
    const std::string bytes = safetensors(header);
    expect_bounded(
        header.substr(0, 20).c_str(), bytes.size(), [&] { hb::io::parse_safetensors(bytes.data(), bytes.size()); },
        false);
  }
  const std::string bytes = safetensors(empty_ones + "}");
  EXPECT_EQ(hb::io::parse_safetensors(bytes.data(), bytes.size()).tensors.size(), 100'000u);
}

TEST(Limits, ManyRecords) {
  std::vector<std::pair<std::string, std::string>> records{{"a/data.pkl", pickle("N")}, {"a/version", "3\n"}};
  for (int i = 0; i < 200'000; ++i) records.emplace_back("a/data/" + std::to_string(i), "");
  const auto many = zip_of(records);
  expect_bounded(
      "records", many.size(), [&] { hb::io::pickle_load(many); }, false);
  const std::string root(60'000, 'r');
  records = {{root + "/data.pkl", pickle("N")}, {root + "/version", "3\n"}};
  for (int i = 0; i < 100'000; ++i) records.emplace_back("b/" + std::to_string(i), "");
  const auto long_root = zip_of(records);
  expect_bounded(
      "a long root", long_root.size(), [&] { hb::io::pickle_load(long_root); }, false);
  EXPECT_EQ(cost_of([&] { hb::io::pickle_load(long_root); }).error[0], '\0');
}

TEST(Limits, CodeOfManyClasses) {
  std::string code = "class Net(Module):\n";
  for (int i = 0; i < 50'000; ++i) code += "  a" + std::to_string(i) + " : Tensor\n";
  for (int i = 0; i < 50'000; ++i) code += "class C" + std::to_string(i) + "(Module):\n";
  const auto bytes = zip_of({{"a/data.pkl", pickle("c__torch__\nNet\n)\x81}b")},
                             {"a/code/__torch__.py", code},
                             {"a/constants.pkl", pickle(")")},
                             {"a/version", "3\n"}});
  expect_bounded(
      "code", bytes.size(), [&] { hb::io::pickle_load(bytes); }, true);
}

TEST(Limits, IdxThatClaimsMore) {
  const std::string header = std::string("\0\0\x08\3", 4) + std::string(3, '\0') + "\x10" +
                             std::string("\0\x0f\0\0", 4) + std::string("\0\0\x0f\0", 4);
  const std::string bytes = header + std::string(1000, 'x');
  expect_bounded(
      "idx", bytes.size(), [&] { hb::io::parse_idx(bytes.data(), bytes.size()); }, true);
}

// A file may end anywhere: each prefix is a clear error, as is an end with other bytes after it.
template <typename Read>
void expect_every_prefix_fails(const std::string& whole, Read read) {
  EXPECT_NO_THROW(read(whole.data(), whole.size()));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      read(part.data(), part.size());
      FAIL() << "read " << size << " of " << whole.size() << " bytes";
    } catch (const hb::Error& error) {
      EXPECT_GT(std::strlen(error.what()), 20u) << size;
    }
  }
}

std::string recorded(const std::string& name) {
  std::ifstream file(std::string(HALFBRIDGE_RECORDED_FILES) + "/" + name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

TEST(Limits, FilesCutAtEveryByte) {
  const auto parse = [](const char* data, size_t size) { hb::io::parse_state_dict(data, size); };
  for (const char* name :
       {"checkpoint.pt", "legacy.pt", "script.pt", "script_own_state.pt", "sharded/model-00001-of-00002.safetensors"}) {
    SCOPED_TRACE(name);
    expect_every_prefix_fails(recorded(name), parse);
  }
  const std::string idx = std::string("\0\0\x08\1\0\0\0\5", 8) + "12345";
  expect_every_prefix_fails(idx, [](const char* data, size_t size) { hb::io::parse_idx(data, size); });
}

}  // namespace
