// MNIST folders, whole and broken, and what happens to workers.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <filesystem>
#include <fstream>

namespace data = torch::data;
namespace fs = std::filesystem;
using torch::Tensor;

namespace {

class MnistFolder : public testing::Test {
 protected:
  MnistFolder() : folder_(fs::path(testing::TempDir()) / "halfbridge_mnist") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~MnistFolder() override { fs::remove_all(folder_); }

  static std::string header(int dims, std::initializer_list<uint32_t> shape) {
    std::string bytes{'\0', '\0', '\x08', static_cast<char>(dims)};
    for (uint32_t n : shape)
      for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(n >> shift));
    return bytes;
  }
  static std::string images(uint32_t count) {
    std::string bytes = header(3, {count, 28, 28});
    for (uint32_t i = 0; i < count * 28 * 28; ++i) bytes.push_back(static_cast<char>(i % 256));
    return bytes;
  }
  static std::string labels(uint32_t count) {
    std::string bytes = header(1, {count});
    for (uint32_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i % 10));
    return bytes;
  }
  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  void write_gz(const std::string& name, const std::string& bytes) {
    // One block that is stored as it is, which holds up to 65535 bytes.
    ASSERT_LE(bytes.size(), 65535u);
    const auto size = static_cast<uint32_t>(bytes.size());
    uint32_t crc = 0xffffffffu;
    for (unsigned char byte : bytes) {
      crc ^= byte;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    const std::string head("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
    write(name + ".gz", head + little(size, 2) + little(~size, 2) + bytes + little(~crc, 4) + little(size, 4));
  }
  static std::string little(uint32_t n, int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(n >> 8 * i));
    return bytes;
  }
  void expect_error(const std::string& part) {
    try {
      data::datasets::MNIST set(folder_.string());
      FAIL() << "a broken folder was read";
    } catch (const c10::Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }
  fs::path folder_;
};

}  // namespace

TEST_F(MnistFolder, PlainAndGzipped) {
  write("train-images-idx3-ubyte", images(3));
  write("train-labels-idx1-ubyte", labels(3));
  write_gz("t10k-images-idx3-ubyte", images(2));
  write_gz("t10k-labels-idx1-ubyte", labels(2));
  data::datasets::MNIST train(folder_.string() + "/"), test(folder_.string(), data::datasets::MNIST::Mode::kTest);
  EXPECT_TRUE(train.is_train());
  EXPECT_FALSE(test.is_train());
  EXPECT_EQ(*train.size(), 3u);
  EXPECT_EQ(*test.size(), 2u);
  EXPECT_EQ(train.images().sizes().vec(), (std::vector<int64_t>{3, 1, 28, 28}));
  EXPECT_EQ(train.images().scalar_type(), torch::kFloat);
  EXPECT_EQ(train.targets().scalar_type(), torch::kLong);
  EXPECT_EQ(train.targets()[2].item<int64_t>(), 2);
  EXPECT_EQ(train.get(0).data[0][3][10].item<float>(), 94 / 255.0f);
  EXPECT_TRUE(test.images().equal(train.images().slice(0, 0, 2)));
}

TEST_F(MnistFolder, Broken) {
  expect_error("train-images-idx3-ubyte");
  write("train-images-idx3-ubyte", images(3));
  expect_error("train-labels-idx1-ubyte");
  write("train-labels-idx1-ubyte", labels(4));
  expect_error("as many images as labels");
  write("train-labels-idx1-ubyte", labels(3).substr(0, 9));
  expect_error("train-labels-idx1-ubyte");
  write("train-labels-idx1-ubyte", images(3));
  expect_error("dimension");
  write("train-labels-idx1-ubyte", "");
  expect_error("train-labels-idx1-ubyte");
}

namespace {
std::atomic<int> copies{0};
struct Counted : data::datasets::Dataset<Counted> {
  Counted() { ++copies; }
  Counted(const Counted&) : data::datasets::Dataset<Counted>() { ++copies; }
  ~Counted() override { --copies; }
  data::Example<> get(size_t index) override {
    return {torch::full({1}, static_cast<double>(index)), torch::tensor(static_cast<int64_t>(index))};
  }
  std::optional<size_t> size() const override { return 50; }
};
}  // namespace

TEST(DataLoader, AnUnfinishedEpochEndsCleanly) {
  {
    auto loader = data::make_data_loader<data::samplers::SequentialSampler>(Counted().map(data::transforms::Stack<>()),
                                                                            data::DataLoaderOptions(3).workers(3));
    int seen = 0;
    for (auto& batch : *loader) {
      EXPECT_EQ(batch.target[0].item<int64_t>(), 3 * seen);
      if (++seen == 4) break;
    }
    EXPECT_GT(copies, 0);
  }
  EXPECT_EQ(copies, 0);
}

TEST(DataLoader, WorkersServeManyEpochs) {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(Counted().map(data::transforms::Stack<>()),
                                                                          data::DataLoaderOptions(7).workers(2));
  for (int epoch = 0; epoch < 20; ++epoch) {
    int64_t sum = 0;
    for (auto& batch : *loader) sum += batch.target.sum().item<int64_t>();
    EXPECT_EQ(sum, 50 * 49 / 2);
  }
  loader->join();
}

TEST(DataLoader, NeedsItsWorkersToBeginAgain) {
  auto loader =
      data::make_data_loader(Counted().map(data::transforms::Stack<>()), data::DataLoaderOptions(7).workers(2));
  loader->begin();
  loader->join();
  loader->join();
  try {
    loader->begin();
    FAIL() << "a loader without workers began";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("join() has ended them"), std::string::npos) << error.what();
  }
  auto alone = data::make_data_loader(Counted().map(data::transforms::Stack<>()), data::DataLoaderOptions(50));
  alone->join();  // there was nobody to end
  EXPECT_EQ(alone->begin()->target.numel(), 50);
}

TEST(DataLoader, ExceptionsThatAreNoStdExceptions) {
  struct Odd : data::datasets::Dataset<Odd> {
    data::Example<> get(size_t) override { throw 7; }
    std::optional<size_t> size() const override { return 1; }
  };
  auto loader = data::make_data_loader(Odd().map(data::transforms::Stack<>()), data::DataLoaderOptions(1).workers(1));
  EXPECT_THROW(loader->begin()->target.sum(), data::WorkerException);
}
