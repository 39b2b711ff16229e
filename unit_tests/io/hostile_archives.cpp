// Archives that are damaged or lie: each is an hb::Error, never a crash and never a huge allocation.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/checkpoint.h>
#include <halfbridge/io/pickle.h>

#include "io/zip_bytes.h"

namespace {

using hb::io::pickle_load;
using unit::archive_of;
using unit::little;
using unit::zip_of;

std::string text(const std::string& value) { return "X" + little(value.size(), 4) + value; }
std::string number(int64_t value) { return "\x8a\x08" + little(static_cast<uint64_t>(value), 8); }
std::string pickle(const std::string& body) { return "\x80\x02" + body + "."; }
std::string global(const std::string& module, const std::string& name) { return "c" + module + "\n" + name + "\n"; }

std::string tuple(const std::vector<int64_t>& values) {
  std::string body = "(";
  for (int64_t value : values) body += number(value);
  return body + "t";
}

std::string storage_id(int64_t numel, const std::string& type = "FloatStorage") {
  return "(" + text("storage") + global("torch", type) + text("0") + text("cpu") + number(numel) + "tQ";
}

// A tensor on the storage "0", which has four floats.
std::string tensor(int64_t offset, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                   int64_t numel = 4, const std::string& requires_grad = "\x89") {
  return global("torch._utils", "_rebuild_tensor_v2") + "(" + storage_id(numel) + number(offset) + tuple(sizes) +
         tuple(strides) + requires_grad + global("collections", "OrderedDict") + ")RtR";
}

std::string error_of(const std::vector<char>& bytes) {
  try {
    pickle_load(bytes);
  } catch (const hb::Error& error) {
    return error.what();
  }
  return "";
}

void expect_error(const std::string& body, const std::string& part) {
  const std::string message = error_of(archive_of(pickle(body)));
  EXPECT_NE(message.find(part), std::string::npos)
      << "expected an error with '" << part << "', got '" << message << "'";
}

TEST(HostileArchives, TheHonestOnesLoad) {
  EXPECT_EQ(pickle_load(archive_of(pickle(tensor(1, {3}, {1})))).toTensor().numel(), 3);
  EXPECT_EQ(pickle_load(archive_of(pickle(tensor(4, {0, 9}, {9, 1})))).toTensor().numel(), 0);
  EXPECT_EQ(pickle_load(archive_of(pickle(tensor(0, {5, 4}, {0, 1})))).toTensor().numel(), 20);
  EXPECT_TRUE(pickle_load(archive_of(pickle("N"))).isNone());
}

TEST(HostileArchives, TensorsOutsideTheirStorage) {
  for (const std::string& bad : {tensor(0, {5}, {1}), tensor(2, {3}, {1}), tensor(-1, {1}, {1}),
                                 tensor(0, {2, 2}, {4, 1}), tensor(5, {0}, {1}), tensor(0, {INT64_MAX, 4}, {0, 1}),
                                 tensor(0, {INT64_MAX, INT64_MAX}, {0, 0}), tensor(INT64_MAX, {2}, {INT64_MAX})}) {
    expect_error(bad, "within its storage");
  }
  expect_error(tensor(0, {-1}, {1}), "at least 0");
  expect_error(tensor(0, {2}, {-1}), "at least 0");
  expect_error(tensor(0, {2}, {1, 1}), "as many strides");
  expect_error(tensor(0, std::vector<int64_t>(65, 1), std::vector<int64_t>(65, 1)), "64 dimensions");
}

void expect_table_error(const std::string& bytes, const std::string& part) {
  const hb::Tensor table[] = {hb::zeros({2}), hb::zeros({3})};
  try {
    hb::io::unpickle(bytes, hb::TensorList(table));
  } catch (const hb::Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    return;
  }
  ADD_FAILURE() << "expected an error with '" << part << "'";
}

TEST(HostileArchives, PlacesInTables) {
  const auto place = [](const std::string& number) {
    return pickle(global("torch.jit._pickle", "build_tensor_from_id") + "(" + number + "tR");
  };
  const hb::Tensor table[] = {hb::zeros({2}), hb::zeros({3})};
  EXPECT_EQ(hb::io::unpickle(place(number(1)), hb::TensorList(table)).toTensor().numel(), 3);
  for (int64_t outside : {int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN}) {
    expect_table_error(place(number(outside)), "table of 2 tensors");
  }
  expect_table_error(place(""), "more than 0 arguments");
  expect_table_error(place(text("1")), "got a string");
  expect_table_error(pickle(tensor(0, {1}, {1})), "a pickle without values");
  expect_table_error(place(number(0)).substr(0, 20), "truncated");
  expect_error(global("torch.jit._pickle", "build_tensor_from_id") + "(" + number(0) + "tR", "no tensor table");
}

TEST(HostileArchives, ReadersThatLie) {
  EXPECT_THROW(hb::io::unpickle([](char*, size_t size) { return size + 1; }), hb::Error);
}

TEST(HostileArchives, StoragesThatLie) {
  expect_error(tensor(0, {1}, {1}, 5), "expected 20 bytes, got 16");
  expect_error(tensor(0, {1}, {1}, int64_t{1} << 60), "bytes, got 16");
  expect_error(tensor(0, {1}, {1}, INT64_MAX), "fits into memory");
  expect_error(tensor(0, {1}, {1}, -4), "at least 0");
  expect_error("(" + tensor(0, {1}, {1}) + tensor(0, {1}, {1}, 2) + "t", "described in two ways");
  const std::string rebuild = global("torch._utils", "_rebuild_tensor_v2");
  expect_error(rebuild + "(" + storage_id(4) + "tR", "expected 6 arguments");
  expect_error(rebuild + "(" + storage_id(2, "ComplexHalfStorage") + number(0) + tuple({2}) + tuple({1}) + "\x89NtR",
               "ComplexHalfStorage");
  expect_error(rebuild + "(" + storage_id(2, "LongStorage") + number(0) + tuple({2}) + tuple({1}) + "\x88NtR",
               "floating");
  expect_error(storage_id(4), "expected a value");
  const auto missing = zip_of({{"a/data.pkl", pickle(tensor(0, {1}, {1}))}, {"a/version", "3\n"}});
  EXPECT_NE(error_of(missing).find("data/0"), std::string::npos);
}

TEST(HostileArchives, NoClassButTheKnown) {
  expect_error(global("os", "system") + "(" + text("true") + "tR", "os.system");
  expect_error(global("builtins", "eval") + "(" + text("1") + "tR", "builtins.eval");
  expect_error(global("os", "system"), "os.system");
  expect_error(global("os", "system") + ")\x81}b", "os.system");
  expect_error(text("print") + ")R", "expected a class or function");
  expect_error("cposix\nsystem", "truncated");
}

TEST(HostileArchives, StacksAndMemos) {
  expect_error("", "one value at the end");
  expect_error("NN", "one value at the end");
  expect_error("0", "expected a value on the stack");
  expect_error("t", "expected a mark");
  expect_error("h\x05", "memo 5");
  expect_error("j" + little(0xffffffffu, 4), "memo 4294967295");
  expect_error("}(Nu", "a value for each key");
  expect_error("N(Ne", "to add to");
  expect_error("(N\x87", "expected 3 values");  // the mark hides nothing below it
  expect_error("N(\x85t", "expected 1 values");
  expect_error("X" + little(0xffffffffu, 4) + "short", "truncated");
  expect_error("\x8d" + little(UINT64_MAX, 8) + "short", "truncated");
  expect_error("\x8a\x09" + std::string(9, '\1'), "at most 8 bytes");
  expect_error("\xff", "0xff");
  EXPECT_NE(error_of(archive_of("\x80\x01N.")).find("protocol"), std::string::npos);
  EXPECT_NE(error_of(archive_of("")).find("truncated"), std::string::npos);
}

TEST(HostileArchives, LoopsAndDepth) {
  expect_error("]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a", "contains itself");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "]";
  expect_error(deep + std::string(99999, 'a'), "levels of nesting");
  expect_error(std::string(100000, '('), "deeper");
  // Each list holds the one before twice: two to the hundredth values, were they not shared.
  std::string bomb = "]";
  for (char i = 0; i < 100; ++i) {
    bomb += std::string("q") + i + "0](h" + i + "h" + i + "e";
  }
  const hb::IValue value = pickle_load(archive_of(pickle(bomb)));
  EXPECT_TRUE(value.isList());
  EXPECT_LT(hb::io::pickle_save(value).size(), 10000u);
  // The same with tuples as the key of a dict, and as the element of a typed list.
  std::string tuples = ")";
  for (char i = 0; i < 100; ++i) tuples += std::string("q") + i + "0h" + i + "h" + i + "\x86";
  expect_error("}" + tuples + "Ns", "as key");
  expect_error(global("torch.jit._pickle", "build_intlist") + "(](" + tuples + "etR", "expected elements of type int");
}

TEST(HostileArchives, TruncatedAnywhere) {
  const std::vector<char> whole = hb::io::pickle_save(hb::ones({3}));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(pickle_load(std::vector<char>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))),
                 hb::Error)
        << size;
  }
}

// Whatever byte is wrong: an hb::Error or a value, and nothing else.
TEST(HostileArchives, DamagedAnywhere) {
  hb::Dict<std::string, hb::Tensor> dict;
  dict.insert("weight", hb::ones({3, 2}).t());
  dict.insert("bias", hb::ones({2}));
  const std::vector<char> whole = hb::io::pickle_save(dict);
  size_t errors = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int change : {0x01, 0x80, 0xff}) {
      std::vector<char> damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      if (!error_of(damaged).empty()) ++errors;
    }
  }
  EXPECT_GT(errors, whole.size() / 4);
}

// The same within the pickle, with the checksums made right again.
TEST(HostileArchives, DamagedPickles) {
  const std::string honest = pickle("}(" + text("a") + tensor(0, {2, 2}, {2, 1}) + text("b") +
                                    "]q\x01(K\x01K\x02"
                                    "eu");
  ASSERT_EQ(error_of(archive_of(honest)), "");
  size_t errors = 0;
  for (size_t at = 0; at < honest.size(); ++at) {
    for (int value = 0; value < 256; value += 3) {
      std::string damaged = honest;
      damaged[at] = static_cast<char>(value);
      if (!error_of(archive_of(damaged)).empty()) ++errors;
    }
    EXPECT_NE(error_of(archive_of(honest.substr(0, at))), "") << "cut at " << at;
  }
  EXPECT_GT(errors, honest.size());
}

TEST(HostileArchives, DirectoriesThatLie) {
  const std::string none = pickle("N");
  const std::pair<std::string, std::string> version{"a/version", "3\n"};
  EXPECT_NE(error_of(zip_of({})).find("records"), std::string::npos);
  EXPECT_NE(error_of(zip_of({{"data.pkl", none}})).find("folder"), std::string::npos);
  EXPECT_NE(error_of(zip_of({{"a/data.pkl", none}})).find("version"), std::string::npos);
  EXPECT_NE(error_of(zip_of({version})).find("data.pkl"), std::string::npos);
  EXPECT_NE(error_of(zip_of({{"a/data.pkl", none}, {"a/data.pkl", none}, version})).find("twice"), std::string::npos);
  EXPECT_NE(error_of(zip_of({{"a/data.pkl", none}, {"a/version", "99\n"}})).find("version"), std::string::npos);
  EXPECT_NE(error_of(zip_of({{"a/data.pkl", none}, version, {"a/byteorder", "big"}})).find("byte order"),
            std::string::npos);
}

}  // namespace
