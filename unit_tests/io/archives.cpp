// PyTorch's archives: values there and back, and that a save is atomic.
#include <gtest/gtest.h>
#include <halfbridge/bridge/serialize.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/checkpoint.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace {

namespace fs = std::filesystem;
using hb::IValue;
using hb::Tensor;
using hb::bridge::serialize::InputArchive;
using hb::bridge::serialize::OutputArchive;

class IoArchives : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("halfbridge-archives-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void expect_same(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.scalar_type(), expected.scalar_type());
  ASSERT_EQ(got.sizes(), expected.sizes());
  const Tensor left = got.detach().contiguous(), right = expected.detach().contiguous();
  if (left.numel() > 0) {
    EXPECT_EQ(std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()), 0);
  }
}

TEST_F(IoArchives, EveryDtypeComesBack) {
  for (hb::ScalarType dtype : {hb::kByte, hb::kChar, hb::kShort, hb::kInt, hb::kLong, hb::kHalf, hb::kFloat,
                               hb::kDouble, hb::kBool, hb::kBFloat16}) {
    const Tensor saved = hb::arange(6).to(dtype).view({2, 3});
    hb::bridge::save(saved, path("t.pt"));
    Tensor loaded;
    hb::bridge::load(loaded, path("t.pt"));
    expect_same(loaded, saved);
  }
}

TEST_F(IoArchives, ViewsStayViewsOfOneStorage) {
  const Tensor base = hb::arange(12).to(hb::kFloat);
  const std::vector<Tensor> saved{base, base.view({3, 4}).t(), base.slice(0, 4, 8), base.slice(0, 5, 5)};
  hb::bridge::save(saved, path("v.pt"));
  std::vector<Tensor> loaded;
  hb::bridge::load(loaded, path("v.pt"));
  ASSERT_EQ(loaded.size(), saved.size());
  for (size_t i = 0; i < saved.size(); ++i) {
    expect_same(loaded[i], saved[i]);
    EXPECT_EQ(loaded[i].strides(), saved[i].strides());
  }
  EXPECT_TRUE(loaded[1].is_alias_of(loaded[0]));
  EXPECT_TRUE(loaded[2].is_alias_of(loaded[0]));
}

TEST_F(IoArchives, ALoadedTensorKeepsItsHandle) {
  hb::bridge::save(hb::arange(3), path("t.pt"));
  Tensor target = hb::zeros({5}, hb::kLong);
  const Tensor handle = target;
  hb::bridge::load(target, path("t.pt"));
  expect_same(handle, hb::arange(3));
  Tensor other = hb::zeros({5});
  EXPECT_THROW(hb::bridge::load(other, path("t.pt")), hb::Error);  // another dtype
}

TEST_F(IoArchives, ValuesComeBack) {
  hb::Dict<std::string, Tensor> tensors;
  tensors.insert("w", hb::ones({2}));
  const IValue value(std::tuple<int64_t, double, bool, std::string, hb::Dict<std::string, Tensor>>(
      int64_t{-1} << 40, -0.0, true, "text", tensors));
  const IValue back = hb::bridge::pickle_load(hb::bridge::pickle_save(value));
  const auto& items = back.toTupleRef().elements();
  ASSERT_EQ(items.size(), 5u);
  EXPECT_EQ(items[0].toInt(), int64_t{-1} << 40);
  EXPECT_TRUE(std::signbit(items[1].toDouble()));
  EXPECT_TRUE(items[2].toBool());
  EXPECT_EQ(items[3].toStringRef(), "text");
  expect_same(items[4].toGenericDict().at("w").toTensor(), hb::ones({2}));
  EXPECT_EQ(back.type()->annotation_str(), "Tuple[int, float, bool, str, Dict[str, Tensor]]");
  EXPECT_THROW(items[0].toTensor(), hb::Error);
  EXPECT_THROW(items[4].toGenericDict().at("nothing"), std::out_of_range);
}

TEST_F(IoArchives, ArchivesNest) {
  OutputArchive archive, nested;
  nested.write("strange \"name\"\n", hb::arange(2), /*is_buffer=*/true);
  archive.write("value", IValue(7));
  archive.write("value", IValue(8));
  archive.write("nested", nested);
  std::stringstream stream;
  archive.save_to(stream);

  InputArchive in, inner;
  in.load_from(stream);
  EXPECT_EQ(in.keys(), (std::vector<std::string>{"value", "nested"}));
  IValue value;
  in.read("value", value);
  EXPECT_EQ(value.toInt(), 8);
  in.read("nested", inner);
  Tensor tensor;
  inner.read("strange \"name\"\n", tensor);
  expect_same(tensor, hb::arange(2));
  EXPECT_FALSE(in.try_read("value", tensor));
  EXPECT_FALSE(in.try_read("value", inner));
  try {
    inner.read("missing", tensor);
    FAIL() << "a missing tensor was read";
  } catch (const hb::Error& error) {
    EXPECT_NE(std::string(error.what()).find("nested.missing"), std::string::npos) << error.what();
  }
}

TEST_F(IoArchives, ReadersAndWritersMayBeFunctions) {
  OutputArchive archive;
  archive.write("t", hb::arange(100));
  std::string bytes;
  archive.save_to([&](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  InputArchive in;
  in.load_from(
      [&](uint64_t at, void* target, size_t size) {
        const size_t some = std::min<size_t>({size, 17, bytes.size() - at});
        std::memcpy(target, bytes.data() + at, some);
        return some;
      },
      [&] { return bytes.size(); });
  Tensor tensor;
  in.read("t", tensor);
  expect_same(tensor, hb::arange(100));
  EXPECT_THROW(archive.save_to([](const void*, size_t) { return size_t{0}; }), hb::Error);
}

TEST_F(IoArchives, CheckpointsForPythonComeBack) {
  hb::Dict<std::string, Tensor> state;
  state.insert("layer.weight", hb::arange(6).view({2, 3}));
  hb::io::save_checkpoint(state, path("state.pt"));
  const IValue back = hb::io::load_checkpoint(path("state.pt"));
  expect_same(back.toGenericDict().at("layer.weight").toTensor(), hb::arange(6).view({2, 3}));
  Tensor tensor;
  EXPECT_THROW(hb::bridge::load(tensor, path("state.pt")), hb::Error);  // no archive of torch::save
}

TEST_F(IoArchives, AFailedSaveLeavesTheOldFile) {
  hb::bridge::save(hb::arange(3), path("t.pt"));
  const std::string before = contents(path("t.pt"));
  hb::Dict<std::string, Tensor> bad;
  bad.insert("good", hb::ones({1000}));
  bad.insert("undefined", Tensor());
  EXPECT_THROW(hb::io::save_checkpoint(bad, path("t.pt")), hb::Error);
  EXPECT_EQ(contents(path("t.pt")), before);
  EXPECT_EQ(files(), 1u);  // and nothing temporary stays
  hb::bridge::save(hb::arange(4), path("t.pt"));
  EXPECT_NE(contents(path("t.pt")), before);
  EXPECT_EQ(files(), 1u);
}

// A process that saves again and again is killed at any moment: the file is always one of the two, whole.
TEST_F(IoArchives, AKilledSaveLeavesAWholeFile) {
  constexpr int64_t kCount = 1 << 20;
  const Tensor values[] = {hb::zeros({kCount}), hb::ones({kCount})};
  hb::bridge::save(values[0], path("t.pt"));
  for (int round = 0; round < 8; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0;; ++i) hb::bridge::save(values[i % 2], path("t.pt"));
    }
    ::usleep(5000u * static_cast<unsigned>(round + 1));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    Tensor loaded;
    hb::bridge::load(loaded, path("t.pt"));
    expect_same(loaded, values[*loaded.data_ptr<float>() == 0 ? 0 : 1]);
  }
}

TEST_F(IoArchives, ASaveKeepsModeAndLink) {
  hb::bridge::save(hb::arange(3), path("t.pt"));
  fs::permissions(path("t.pt"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(path("t.pt"), path("link.pt"));
  hb::bridge::save(hb::arange(4), path("link.pt"));
  EXPECT_TRUE(fs::is_symlink(path("link.pt")));
  EXPECT_EQ(fs::status(path("t.pt")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  Tensor loaded;
  hb::bridge::load(loaded, path("t.pt"));
  EXPECT_EQ(loaded.numel(), 4);
}

TEST_F(IoArchives, ErrorsNameTheFile) {
  Tensor tensor;
  const auto message = [&](const std::string& name) {
    try {
      hb::bridge::load(tensor, path(name));
    } catch (const hb::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message("missing.pt").find("missing.pt"), std::string::npos);
  std::ofstream(path("text.pt")) << "no archive at all";
  EXPECT_NE(message("text.pt").find("text.pt"), std::string::npos);
  std::ofstream(path("empty.pt")).close();
  EXPECT_NE(message("empty.pt").find("empty.pt"), std::string::npos);
  fs::create_directory(path("folder.pt"));
  EXPECT_NE(message("folder.pt").find("folder.pt"), std::string::npos);
  EXPECT_THROW(hb::bridge::save(tensor, path("undefined.pt")), hb::Error);
  EXPECT_THROW(hb::bridge::save(hb::ones({1}), path("no/such/folder.pt")), hb::Error);
  EXPECT_THROW(hb::bridge::save(hb::ones({1}), path("folder.pt")), hb::Error);
}

}  // namespace
