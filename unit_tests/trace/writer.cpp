// Trace files: what is in them, when a new one begins, how they end.

#include <halfbridge/trace/writer.h>

#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "trace/trace_files.h"

namespace {

using namespace hb::trace;
using trace_files::fresh_folder;

Record record(std::vector<int64_t> shape, Kind kind = Kind::output) {
  Record r;
  r.kind = kind, r.call = 7, r.path = "block.conv", r.root = "Net", r.type = "Conv2d", r.training = true;
  r.shape = std::move(shape);
  return r;
}
std::vector<float> ramp(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i) * 0.5f;
  return values;
}

TEST(TraceWriter, WritesRecordsThatReadBack) {
  const std::string folder = fresh_folder();
  const auto values = ramp(6);
  {
    Writer writer(folder, "test 1.0", Options());
    Record r = record({2, 3});
    r.parent = 3, r.index = 1, r.step = 4;
    r.config = "quote \" backslash \\ line \n byte \xff \xc3\xa9";
    const std::string name = writer.write(r, values.data());
    EXPECT_FALSE(name.empty());
    Record again = record({6}, Kind::input);
    writer.write_same(again, name);
    Record empty = record({0, 3});
    writer.write(empty, values.data());
    Record scalar = record({}, Kind::loss_scale);
    scalar.path.reset(), scalar.call.reset(), scalar.name = "scale", scalar.dtype = Dtype::F64;
    const double scale = 1024;
    writer.write(scalar, &scale);
  }
  const auto trace = trace_files::read(folder);
  ASSERT_EQ(trace.records.size(), 4u);
  EXPECT_EQ(trace.end(), "complete");
  EXPECT_EQ(trace.files[0].at("producer"), "test 1.0");
  EXPECT_EQ(trace.files[0].at("halfbridge.trace"), "1");
  const auto& first = trace.records[0];
  EXPECT_EQ(first.json.at("config"), "quote \" backslash \\ line \n byte \xef\xbf\xbd \xc3\xa9");
  EXPECT_EQ(first.number("parent"), 3);
  EXPECT_EQ(first.number("step"), 4);
  EXPECT_TRUE(first.tensor.equal(hb::arange(6).to(hb::kFloat).mul(0.5).view({2, 3})));
  EXPECT_TRUE(trace.records[1].tensor.equal(first.tensor.view({6})));
  EXPECT_EQ(trace.records[2].tensor.numel(), 0);
  EXPECT_EQ(trace.records[3].tensor.item<double>(), 1024);
  EXPECT_FALSE(trace.records[3].json.contains("call"));
}

TEST(TraceWriter, BeginsANewFileWhenTheHeaderIsFull) {
  const std::string folder = fresh_folder();
  const float value = 1;
  {
    Writer writer(folder, "test", Options());
    for (int i = 0; i < 2000; ++i) writer.write(record({1}), &value);
    Record large = record({1});
    large.config.assign(300'000, 'x');  // more than the first header's room
    writer.write(large, &value);
  }
  const auto trace = trace_files::read(folder);
  EXPECT_GE(trace.files.size(), 3u);
  ASSERT_EQ(trace.records.size(), 2001u);
  for (size_t i = 0; i < trace.records.size(); ++i)
    EXPECT_EQ(trace.records[i].number("order"), static_cast<int64_t>(i));
  for (size_t i = 0; i + 1 < trace.files.size(); ++i) EXPECT_FALSE(trace.files[i].count("end"));
}

TEST(TraceWriter, StopsAtTheLimitAndSaysSo) {
  const std::string folder = fresh_folder();
  Options options;
  options.max_bytes = 1'000'000;
  const auto values = ramp(50'000);
  Writer writer(folder, "test", options);
  int written = 0;
  while (!writer.stopped()) {
    ASSERT_LT(written, 100);
    if (!writer.write(record({50'000}), values.data()).empty()) ++written;
  }
  writer.close();
  EXPECT_EQ(writer.write(record({50'000}), values.data()), "");
  const auto trace = trace_files::read(folder);
  EXPECT_EQ(trace.end(), "limit of 1000000 bytes");
  EXPECT_EQ(trace.records.size(), static_cast<size_t>(written));
  EXPECT_GE(written, 3);
  uintmax_t size = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) size += entry.file_size();
  EXPECT_LE(size, 1'000'000u);
}

TEST(TraceWriter, TensorsLargerThanTheQueuePassThrough) {
  const std::string folder = fresh_folder();
  const auto values = ramp(20'000'000);  // 80 MB
  {
    Writer writer(folder, "test", Options());
    writer.write(record({20'000'000}), values.data());
  }
  const auto trace = trace_files::read(folder);
  ASSERT_EQ(trace.records.size(), 1u);
  EXPECT_EQ(std::memcmp(trace.records[0].tensor.data_ptr(), values.data(), values.size() * 4), 0);
}

// Blocks that go past the page cache and pieces that cannot (a refresh cuts one short) make one file.
TEST(TraceStream, BytesKeepTheirPlacesAcrossARefresh) {
  const std::string path = fresh_folder() + ".bytes";
  const auto values = ramp(5'000'000);  // 20 MB
  const size_t bytes = values.size() * 4, room = hb::trace::detail::Stream::room_for(100);
  const auto header = [&](int64_t, const std::string&) {
    return hb::trace::detail::Stream::Header{"{}", static_cast<int64_t>(bytes)};
  };
  EXPECT_EQ((room + 8) % hb::trace::detail::OutputFile::kAlignment, 0u);
  {
    hb::trace::detail::Stream stream;
    stream.open(path, room, header);
    const char* data = reinterpret_cast<const char*>(values.data());
    size_t at = 0;
    for (const size_t n : {size_t{13}, size_t{5'000'000}, size_t{1}, bytes - 5'000'014}) {
      stream.append(data + at, n);
      at += n;
      stream.refresh(header);
    }
    stream.finish(header);
    stream.wait();
    EXPECT_EQ(stream.error(), "");
  }
  std::ifstream file(path, std::ios::binary);
  std::string read((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_EQ(read.size(), 8 + room + bytes);
  EXPECT_EQ(read.substr(8, 2), "{}");
  EXPECT_EQ(std::memcmp(read.data() + 8 + room, values.data(), bytes), 0);
  std::filesystem::remove(path);
}

TEST(TraceWriter, StatisticsStandInForTensors) {
  const std::string folder = fresh_folder();
  Options options;
  options.stats = true;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {1e4f + 1, inf, 1e4f - 1, nan, 1e4f, 0, -inf};
  const std::vector<uint16_t> halves = {0x3C00, 0xC000, 0x0001, 0x7C00};  // 1, -2, 2^-24, inf
  {
    Writer writer(folder, "test", options);
    EXPECT_EQ(writer.write(record({7}), values.data()), "");
    Record half = record({4});
    half.dtype = Dtype::F16;
    writer.write(half, halves.data());
    writer.write(record({1}), &nan);
  }
  const auto trace = trace_files::read(folder);
  ASSERT_EQ(trace.records.size(), 3u);
  EXPECT_FALSE(trace.records[0].tensor.defined());
  const auto& s = trace.records[0].json.at("stats");
  EXPECT_EQ(s.at("min"), 0);
  EXPECT_EQ(s.at("max"), 10001);
  EXPECT_EQ(s.at("mean"), 7500);
  EXPECT_NEAR(s.at("std").get<double>(), std::sqrt((2501. * 2501 + 2499. * 2499 + 2500. * 2500 + 7500. * 7500) / 4),
              1e-9);
  EXPECT_NEAR(s.at("l2").get<double>(), std::sqrt(10001. * 10001 + 9999. * 9999 + 1e8), 1e-9);
  EXPECT_EQ(s.at("nan"), 1);
  EXPECT_EQ(s.at("inf"), 2);
  EXPECT_EQ(s.at("zeros"), 1);
  const auto& h = trace.records[1].json.at("stats");
  EXPECT_EQ(h.at("min"), -2);
  EXPECT_EQ(h.at("max"), 1);
  EXPECT_NEAR(h.at("mean").get<double>(), (-1 + std::ldexp(1, -24)) / 3, 1e-15);
  EXPECT_TRUE(trace.records[2].json.at("stats").at("mean").is_null());
}

TEST(TraceWriter, RemovesAnEarlierTraceAndNothingElse) {
  const std::string folder = fresh_folder();
  for (const char* name : {"trace-00007.safetensors", "trace-123456.safetensors", "trace-mine.safetensors", "notes"})
    std::ofstream(folder + "/" + name) << "x";
  { Writer writer(folder, "test", Options()); }
  EXPECT_TRUE(std::filesystem::exists(folder + "/trace-00000.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/trace-00007.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/trace-123456.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/trace-mine.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/notes"));
}

TEST(TraceWriter, RefusesAFolderThatItCannotHave) {
  const std::string folder = fresh_folder();
  std::ofstream(folder + "/file") << "x";
  EXPECT_THROW(Writer(folder + "/file", "test", Options()), std::runtime_error);
  EXPECT_THROW(Writer("/proc/nowhere", "test", Options()), std::runtime_error);
  Writer first(folder, "test", Options());
  EXPECT_THROW(Writer(folder, "test", Options()), std::runtime_error);
  const float value = 1;
  EXPECT_NE(first.write(record({1}), &value), "");  // unharmed by the second
}

TEST(TraceWriter, ThreadsWriteTogether) {
  const std::string folder = fresh_folder();
  {
    Writer writer(folder, "test", Options());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&writer, t] {
        const std::vector<float> values(3000, static_cast<float>(t));
        for (int i = 0; i < 200; ++i) {
          Record r = record({3000});
          r.index = t;
          writer.write(r, values.data());
        }
      });
    for (auto& thread : threads) thread.join();
  }
  const auto trace = trace_files::read(folder);
  ASSERT_EQ(trace.records.size(), 800u);
  for (const auto& r : trace.records) {
    EXPECT_EQ(r.tensor.min().item<float>(), static_cast<float>(r.number("index")));
    EXPECT_EQ(r.tensor.max().item<float>(), static_cast<float>(r.number("index")));
  }
}

TEST(TraceWriter, SaysThatAnExceptionEndedIt) {
  const std::string folder = fresh_folder();
  const float value = 1;
  try {
    Writer writer(folder, "test", Options());
    writer.write(record({1}), &value);
    throw std::runtime_error("training broke");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(trace_files::read(folder).end(), "left by an exception");
}

TEST(TraceWriterDeathTest, IsCompleteWhenTheProcessEnds) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const std::string folder = std::filesystem::temp_directory_path().string() + "/hb_trace_death";
  const float value = 1;
  EXPECT_EXIT(
      {
        auto* writer = new Writer(folder, "test", Options());
        writer->write(record({1}), &value);
        std::exit(3);
      },
      testing::ExitedWithCode(3), "");
  EXPECT_EQ(trace_files::read(folder).end(), "complete");
  EXPECT_EQ(trace_files::read(folder).records.size(), 1u);
  EXPECT_DEATH(
      {
        auto* writer = new Writer(folder, "test", Options());
        writer->write(record({1}), &value);
        const std::function<void()> fail = [] { throw std::runtime_error("nobody caught this"); };
        [&]() noexcept { fail(); }();
      },
      "nobody caught this");
  EXPECT_EQ(trace_files::read(folder).end(), "exception: nobody caught this");
  EXPECT_EQ(trace_files::read(folder).records.size(), 1u);
}

TEST(TraceOptions, Steps) {
  const StepSet some("0,10-12,100-1000:100");
  for (int64_t s : {0, 10, 11, 12, 100, 200, 1000}) EXPECT_TRUE(some.contains(s)) << s;
  for (int64_t s : {1, 9, 13, 99, 101, 1001, 1100}) EXPECT_FALSE(some.contains(s)) << s;
  EXPECT_FALSE(some.over(1000));
  EXPECT_TRUE(some.over(1001));
  EXPECT_TRUE(StepSet("all").contains(INT64_MAX));
  EXPECT_TRUE(StepSet("0-9223372036854775807").contains(INT64_MAX));
  for (const char* wrong : {"", "x", "1-", "-1", "3-2", "1:0", "1,", "1-2-3", "9223372036854775808", " 1", "1-3:x"})
    EXPECT_THROW(StepSet{wrong}, std::invalid_argument) << wrong;
}

TEST(TraceOptions, Layers) {
  EXPECT_TRUE(LayerSet().contains(""));
  const LayerSet some("layer?.*,fc,-*.bn?");
  EXPECT_TRUE(some.contains("layer1.0.conv1"));
  EXPECT_TRUE(some.contains("fc"));
  EXPECT_FALSE(some.contains("layer1.0.bn1"));
  EXPECT_FALSE(some.contains("layer10.conv1"));
  EXPECT_FALSE(some.contains("fc2"));
  EXPECT_TRUE(LayerSet("-fc").contains("conv"));
  EXPECT_FALSE(LayerSet("-fc").contains("fc"));
  EXPECT_FALSE(LayerSet("*a*a*a*a*a*b").contains(std::string(5000, 'a')));
  for (const char* wrong : {"", "a,,b", "-"}) EXPECT_THROW(LayerSet{wrong}, std::invalid_argument) << wrong;
}

TEST(TraceOptions, VariablesAreNamedInErrors) {
  const auto message = [](const char* variable, const char* value) {
    ::setenv(variable, value, 1);
    std::string text;
    try {
      Options::from_environment();
    } catch (const std::invalid_argument& e) {
      text = e.what();
    }
    ::unsetenv(variable);
    return text;
  };
  EXPECT_NE(message("HALFBRIDGE_TRACE_STEPS", "some").find("[HALFBRIDGE_TRACE_STEPS]"), std::string::npos);
  EXPECT_NE(message("HALFBRIDGE_TRACE_KINDS", "output,outputs").find("'output,outputs'"), std::string::npos);
  EXPECT_NE(message("HALFBRIDGE_TRACE_LAYERS", ",").find("[HALFBRIDGE_TRACE_LAYERS]"), std::string::npos);
  EXPECT_NE(message("HALFBRIDGE_TRACE_STATS", "yes").find("expected 0 or 1"), std::string::npos);
  EXPECT_NE(message("HALFBRIDGE_TRACE_MAX_BYTES", "-1").find("[HALFBRIDGE_TRACE_MAX_BYTES]"), std::string::npos);
  EXPECT_EQ(message("HALFBRIDGE_TRACE_KINDS", "output,loss_scale"), "");
}

}  // namespace
