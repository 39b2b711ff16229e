// torch.save's form before 1.6: files that are damaged or lie, and the parts of storages that only the oldest have.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/state_dict.h>

#include <cstring>

#include "io/zip_bytes.h"

namespace {

using unit::little;

std::string text(const std::string& value) { return "X" + little(value.size(), 4) + value; }
std::string number(int64_t value) { return "\x8a\x08" + little(static_cast<uint64_t>(value), 8); }
std::string pickle(const std::string& body) { return "\x80\x02" + body + "."; }
std::string global(const std::string& module, const std::string& name) { return "c" + module + "\n" + name + "\n"; }
const std::string kMagic = std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);

std::string header(bool little_endian = true, int64_t version = 1001) {
  return kMagic + pickle(number(version)) +
         pickle("}(" + text("little_endian") + (little_endian ? "\x88" : "\x89") + "u");
}

// A tensor of `sizes` elements in a row at `offset` of the storage "7" with `numel` floats, or of a part of it.
std::string tensor(int64_t offset, int64_t size, int64_t numel, const std::string& part = "N") {
  return global("torch._utils", "_rebuild_tensor") + "((" + text("storage") + global("torch", "FloatStorage") +
         text("7") + text("cpu") + number(numel) + part + "tQ" + number(offset) + "(" + number(size) + "t(" +
         number(1) + "ttR";
}
std::string part(int64_t offset, int64_t size) { return "(" + text("8") + number(offset) + number(size) + "t"; }

std::string keys(const std::vector<std::string>& names) {
  std::string body = "](";
  for (const auto& name : names) body += text(name);
  return pickle(body + "e");
}

std::string storage(const std::vector<float>& values) {
  std::string bytes(values.size() * 4, '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return little(values.size(), 8) + bytes;
}

hb::io::StateDictFile load(const std::string& bytes) { return hb::io::parse_state_dict(bytes.data(), bytes.size()); }

void expect_error(const std::string& bytes, const std::string& part) {
  try {
    load(bytes);
    FAIL() << "expected an error with '" << part << "', got a value";
  } catch (const hb::Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

const std::string kStorage = storage({1, 2, 3, 4});

TEST(LegacyFiles, AnHonestOneLoads) {
  const auto file = load(header() + pickle(tensor(1, 3, 4)) + keys({"7"}) + kStorage);
  EXPECT_EQ(file.format, hb::io::CheckpointFormat::TorchLegacy);
  ASSERT_EQ(file.tensors.size(), 1u);
  EXPECT_EQ(file.tensors[0].first, "0");
  EXPECT_EQ(file.tensors[0].second.sum().item<float>(), 9);
}

TEST(LegacyFiles, PartsOfStoragesShareTheirMemory) {
  const std::string two = "(" + tensor(0, 4, 4) + tensor(1, 1, 4, part(2, 2)) + "t";
  const auto file = load(header() + pickle(two) + keys({"7"}) + kStorage);
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.tensors[1].second.item<float>(), 4);
  EXPECT_TRUE(file.tensors[1].second.is_alias_of(file.tensors[0].second));
  for (const std::string& bad : {part(3, 2), part(-1, 2), part(0, INT64_MAX), part(INT64_MAX, 1), part(0, -1)}) {
    expect_error(header() + pickle(tensor(0, 1, 4, bad)) + keys({"7"}) + kStorage, "expected a part within");
  }
  expect_error(header() + pickle(tensor(0, 3, 4, part(2, 2))) + keys({"7"}) + kStorage, "within its storage of 2");
}

TEST(LegacyFiles, StoragesThatLie) {
  const std::string start = header() + pickle(tensor(0, 4, 4));
  expect_error(start + keys({"7"}) + little(5, 8) + std::string(20, 'x'), "expected 4 elements, got 5");
  expect_error(start + keys({"7"}) + kStorage.substr(0, 23), "expected 16 bytes, got 15");
  expect_error(start + keys({"7"}) + "abc", "expected the size of storage");
  expect_error(start + keys({}), "storage '7' is missing");
  expect_error(start + keys({"7", "7"}) + kStorage + kStorage, "each once");
  expect_error(start + keys({"9"}) + kStorage, "got '9'");
  expect_error(start + keys({"7"}) + kStorage + "x", "expected the end");
  expect_error(start + pickle("}") + kStorage, "expected the list of storages");
  expect_error(header() + pickle(tensor(0, 1, INT64_MAX)) + keys({"7"}) + kStorage, "fits into memory");
  expect_error(header() + pickle("(" + tensor(0, 4, 4) + tensor(0, 2, 2) + "t") + keys({"7"}) + kStorage, "two ways");
}

TEST(LegacyFiles, HeadersAndPicklesThatLie) {
  expect_error(header(true, 1000) + pickle("N") + keys({}), "protocol version 1001");
  expect_error(header(false) + pickle("N") + keys({}), "got big");
  expect_error(kMagic, "truncated");
  expect_error(kMagic.substr(0, 14), "expected a file of torch.save");
  expect_error(header() + pickle(global("os", "system") + "(" + text("true") + "tR") + keys({}), "not allowed");
  const std::string module = "(" + text("module") + global("torch.nn", "Linear") + "NNtQ";
  expect_error(header() + pickle(module) + keys({}), "state_dict");
}

}  // namespace
