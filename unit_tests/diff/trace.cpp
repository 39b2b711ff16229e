// Reading of traces, and what is done with files that are none.
#include <halfbridge/diff/output.h>
#include <halfbridge/diff/trace_text.h>
#include <halfbridge/trace/writer.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "diff/diff_traces.h"

namespace {

using namespace diff_test;
using hb::layer_diff::Kind;
using hb::layer_diff::Trace;

Json entry(const Json& more = Json::object()) {
  Json json = {{"order", 0}, {"step", 0}, {"kind", "output"}, {"index", 0}, {"call", 0}, {"type", "x"}};
  json.update(more);
  return json;
}

// The error for a trace whose only record has this entry; empty for none.
std::string error_of(const std::string& json, const hb::Tensor& tensor = filled({2}, 1),
                     std::map<std::string, std::string> metadata = {{"halfbridge.trace", "1"}}) {
  const Folder folder;
  const std::string file = folder / "trace-00000.safetensors";
  metadata["r"] = json;
  hb::io::NamedTensors tensors;
  if (tensor.defined()) tensors.emplace_back("r", tensor);
  hb::io::save_safetensors(file, tensors, metadata);
  try {
    Trace::open(file);
  } catch (const hb::Error& error) {
    return error.what();
  }
  return "";
}

TEST(DiffTrace, CallsAndTheirRecords) {
  const Folder folder;
  TraceBuilder builder;
  const int64_t outer = builder.call("Sequential", ".", filled({2, 3}, 1), filled({2, 4}, 2));
  const int64_t inner = builder.call("Linear", "0", filled({2, 3}, 1), filled({2, 4}, 2), outer);
  builder.tensor_of(inner, "grad_output", "Linear", "0", filled({2, 4}, 5));
  builder.state("parameter", "0", "weight", filled({4, 3}, 3));
  const auto trace = Trace::open(builder.save(folder / "t"));
  EXPECT_EQ(trace->producer(), "test 1");
  EXPECT_EQ(trace->end(), "complete");
  ASSERT_EQ(trace->calls().size(), 2u);
  EXPECT_TRUE(trace->calls()[0].has_children);
  EXPECT_EQ(trace->calls()[1].parent, std::optional<int64_t>(outer));
  ASSERT_EQ(trace->calls()[1].grad_outputs.size(), 1u);
  const auto* weight = trace->state_of("Net", "0", 0).at("weight");
  EXPECT_TRUE(hb::equal(trace->load(*weight), filled({4, 3}, 3)));
  double two[2];
  trace->read(*weight, 10, 2, two);
  EXPECT_FLOAT_EQ(static_cast<float>(two[1]), filled({4, 3}, 3).data_ptr<float>()[11]);
  EXPECT_THROW(trace->read(*weight, 11, 2, two), hb::Error);
  EXPECT_NE(trace_text(*trace, {}).find("grad_output 0"), std::string::npos);
}

TEST(DiffTrace, StatesOfLaterSteps) {
  const Folder folder;
  TraceBuilder builder;
  builder.state("parameter", "a", "weight", filled({2}, 0));
  builder.state("updated_parameter", "a", "weight", filled({2}, 1));
  builder.step = 1;
  builder.call("x", "a", filled({2}, 1), filled({2}, 1));
  builder.step = 5;
  builder.call("x", "a", filled({2}, 1), filled({2}, 1));
  const auto trace = Trace::open(builder.save(folder / "t"));
  EXPECT_EQ(trace->state_of("Net", "a", 0).at("weight")->kind, Kind::parameter);
  EXPECT_EQ(trace->state_of("Net", "a", 1).at("weight")->kind, Kind::updated_parameter);
  EXPECT_TRUE(trace->state_of("Net", "a", 5).empty());  // steps between were not recorded
}

TEST(DiffTrace, RecordsThatShareBytes) {
  const Folder folder;
  TraceBuilder ref, test;
  for (auto* side : {&ref, &test}) {
    side->call("x", "a", filled({3}, 1), filled({2, 3}, 2));
    Json shared = {{"kind", "input"}, {"call", 7},      {"path", "b"},  {"root", "Net"},  {"type", "x"},
                   {"index", 0},      {"dtype", "F32"}, {"shape", {6}}, {"same_as", "r1"}};
    side->record(shared, hb::Tensor());
  }
  const auto report = compared(ref, test);
  EXPECT_EQ(report.compared, 3);
  EXPECT_TRUE(report.agree());
  const auto trace = Trace::open(ref.save(folder / "t"));
  EXPECT_TRUE(hb::equal(trace->load(trace->records()[2]), filled({2, 3}, 2).reshape({6})));
}

TEST(DiffTrace, AnySafetensorsFile) {
  const Folder folder;
  hb::io::save_safetensors(folder / "a.safetensors", {{"x", filled({2}, 1)}, {"y.z", filled({3}, 2)}});
  hb::io::save_safetensors(folder / "b.safetensors", {{"y.z", filled({3}, 2)}, {"x", filled({2}, 1) + 1}});
  const auto report = compare(Trace::open(folder / "a.safetensors"), Trace::open(folder / "b.safetensors"));
  EXPECT_EQ(report.compared, 2);
  EXPECT_EQ(report.failed, 1);
}

TEST(DiffTrace, StatisticsProveDifferencesOnly) {
  const auto trace = [](double max) {
    TraceBuilder builder;
    const int64_t id = builder.call("x", "a", filled({2}, 1), filled({2}, 1));
    builder.record(
        {{"kind", "output"},
         {"call", id},
         {"type", "x"},
         {"path", "a"},
         {"root", "Net"},
         {"index", 1},
         {"dtype", "F32"},
         {"shape", {4}},
         {"stats",
          {{"min", 0}, {"max", max}, {"mean", 1}, {"std", 1}, {"l2", 2}, {"nan", 0}, {"inf", 0}, {"zeros", 0}}}},
        hb::Tensor());
    return builder;
  };
  const auto same = compared(trace(2), trace(2)), other = compared(trace(2), trace(3));
  EXPECT_TRUE(same.agree());
  EXPECT_EQ(same.compared, 2);
  EXPECT_EQ(same.statistics, 1);
  EXPECT_EQ(other.failed, 1);
}

TEST(DiffTrace, UnfinishedTracesSayIt) {
  const Folder folder;
  TraceBuilder builder;
  builder.call("x", "a", filled({2}, 1), filled({2}, 1));
  const std::string path = builder.save(folder / "t", "");
  std::ofstream(path + "/trace-00000.safetensors", std::ios::app | std::ios::binary) << "half a tensor";
  const auto trace = Trace::open(path);
  EXPECT_EQ(trace->end(), "");
  EXPECT_NE(text_report(compare(trace, trace)).find("was not closed"), std::string::npos);
}

TEST(DiffTrace, AFileThatWasOnlyBegunHoldsNothing) {
  const Folder folder;
  TraceBuilder builder;
  builder.call("x", "a", filled({2}, 1), filled({2}, 1));
  const std::string path = builder.save(folder / "t", "");
  std::ofstream(path + "/trace-00001.safetensors").close();
  const auto trace = Trace::open(path);
  EXPECT_EQ(trace->records().size(), 2u);
  EXPECT_EQ(trace->end(), "");
  std::filesystem::resize_file(path + "/trace-00001.safetensors", 5);
  EXPECT_EQ(Trace::open(path)->records().size(), 2u);
  std::filesystem::resize_file(path + "/trace-00000.safetensors", 20);
  EXPECT_ANY_THROW(Trace::open(path));
  std::filesystem::remove(path + "/trace-00001.safetensors");
  EXPECT_TRUE(Trace::open(path)->records().empty());
  std::filesystem::resize_file(path + "/trace-00000.safetensors", 0);
  EXPECT_TRUE(Trace::open(path)->records().empty());
}

TEST(DiffTrace, AHeaderThatWasBeingWrittenAnewHoldsNothing) {
  const Folder folder;
  TraceBuilder builder;
  builder.call("x", "a", filled({2}, 1), filled({2}, 1));
  const std::string path = builder.save(folder / "t", ""), last = path + "/trace-00001.safetensors";
  const std::string json = R"({"__metadata__":{"halfbridge.)";
  std::string header(4088, ' ');
  header.replace(0, json.size(), json);
  std::ofstream(last, std::ios::binary) << std::string("\xf8\x0f\0\0\0\0\0\0", 8) << header;
  EXPECT_EQ(Trace::open(path)->records().size(), 2u);
  header.back() = '}';
  std::ofstream(last, std::ios::binary) << std::string("\xf8\x0f\0\0\0\0\0\0", 8) << header;
  EXPECT_ANY_THROW(Trace::open(path));
}

// A child writes records, the k-th full of k, until it is killed; false where it had no time to begin a file.
bool whole_after_kill(const std::string& folder, useconds_t delay) {
  const pid_t child = ::fork();
  if (child == 0) {
    hb::trace::Writer writer(folder, "killed", hb::trace::Options());
    hb::trace::Record record;
    record.kind = hb::trace::Kind::output, record.call = 1, record.path = "a", record.root = "Net", record.type = "x";
    record.shape = {5000};
    for (int64_t k = 0;; ++k) {
      record.step = k;
      const std::vector<float> values(5000, static_cast<float>(k));
      writer.write(record, values.data());
    }
  }
  ::usleep(delay);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (!std::filesystem::exists(folder + "/trace-00000.safetensors")) return false;
  const auto trace = Trace::open(folder);
  EXPECT_EQ(trace->end(), "");
  for (const auto& record : trace->records())
    EXPECT_TRUE(hb::equal(trace->load(record), hb::full({5000}, static_cast<float>(record.step)))) << record.step;
  return !trace->records().empty();
}

TEST(DiffTrace, OfAKilledProgramWhatIsListedIsWhole) {
  int with_records = 0;
  for (useconds_t round = 0; round < 20 || (round < 200 && with_records == 0); ++round) {
    const Folder folder;
    if (whole_after_kill(folder / "t", 500 + 1500 * round)) ++with_records;
  }
  EXPECT_GT(with_records, 0);
}

TEST(DiffTrace, NothingInCommonIsNoAgreement) {
  TraceBuilder ref, test;
  ref.call("x", "a", filled({2}, 1), filled({2}, 1));
  test.step = 3;
  test.call("x", "a", filled({2}, 1), filled({2}, 1));
  const auto report = compared(ref, test);
  EXPECT_FALSE(report.agree());
  EXPECT_EQ(report.compared, 0);
  EXPECT_NE(text_report(report).find("NOTHING COMPARED"), std::string::npos);
  EXPECT_NE(junit_report(report).find("<failure"), std::string::npos);
}

TEST(DiffTrace, HostileRecords) {
  EXPECT_EQ(error_of(entry().dump()), "");
  for (const char* wrong : {"", "{", "[]", "7", "{\"kind\":\"output\"}", "{\"order\":1}"})
    EXPECT_NE(error_of(wrong), "") << wrong;
  for (const Json& more : std::vector<Json>{{{"order", -1}},
                                            {{"order", 1.5}},
                                            {{"order", "0"}},
                                            {{"order", 1e30}},
                                            {{"kind", "outputs"}},
                                            {{"kind", 3}},
                                            {{"call", -2}},
                                            {{"path", 3}},
                                            {{"path", std::string(5000, 'a')}},
                                            {{"training", "yes"}},
                                            {{"stats", 3}},
                                            {{"stats", {{"nan", -1}}}},
                                            {{"stats", {{"min", "x"}}}},
                                            {{"dtype", "F31"}},
                                            {{"shape", {-1}}},
                                            {{"shape", std::vector<int>(65, 1)}},
                                            {{"shape", {int64_t{1} << 40, int64_t{1} << 40}}},
                                            {{"shape", "x"}}}) {
    EXPECT_NE(error_of(entry(more).dump()), "") << more.dump();
  }
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "{\"a\":";
  EXPECT_NE(error_of(deep), "");
  EXPECT_NE(error_of(entry().dump(), filled({2}, 1), {{"halfbridge.trace", "2"}}), "");
  // No tensor, and nothing that stands for it.
  EXPECT_NE(error_of(entry({{"dtype", "F32"}, {"shape", {2}}}).dump(), hb::Tensor()), "");
  for (const char* other : {"r", "none"}) {
    EXPECT_NE(error_of(entry({{"dtype", "F32"}, {"shape", {2}}, {"same_as", other}}).dump(), hb::Tensor()), "")
        << other;
  }
}

TEST(DiffTrace, HostileFoldersAndFiles) {
  const Folder folder;
  EXPECT_THROW(Trace::open(folder / "missing"), hb::Error);
  std::filesystem::create_directories(folder / "empty");
  EXPECT_THROW(Trace::open(folder / "empty"), hb::Error);
  for (const std::string& bytes :
       {std::string(), std::string("short"), std::string(8, '\xff'), std::string(100, ' ')}) {
    std::ofstream(folder / "bad.safetensors", std::ios::binary) << bytes;
    EXPECT_THROW(Trace::open(folder / "bad.safetensors"), hb::Error);
  }
  // A file that becomes shorter while it is open.
  TraceBuilder builder;
  builder.call("x", "a", filled({5000}, 1), filled({5000}, 2));
  const std::string path = builder.save(folder / "t");
  const auto trace = Trace::open(path);
  std::filesystem::resize_file(path + "/trace-00000.safetensors", 2000);
  EXPECT_THROW(compare(trace, trace), hb::Error);
}

TEST(DiffTrace, OutputHoldsNoControlCharacters) {
  TraceBuilder ref, test;
  ref.call("x\x1b[31m", "a\x1b]0;title\x07<b>&\"", filled({2}, 1), filled({2}, 1));
  test.call("x\x1b[31m", "a\x1b]0;title\x07<b>&\"", filled({2}, 1), filled({2}, 3));
  const auto report = compared(ref, test);
  EXPECT_EQ(text_report(report).find('\x1b'), std::string::npos);
  EXPECT_EQ(text_report(report).find('\x07'), std::string::npos);
  const std::string xml = junit_report(report);
  EXPECT_NE(xml.find("&lt;b&gt;&amp;&quot;"), std::string::npos) << xml;
  EXPECT_TRUE(Json::accept(json_report(report)));
}

TEST(DiffTrace, JsonHasWhatTheReportHas) {
  TraceBuilder ref, test;
  ref.call("x", "a", filled({2}, 1), filled({2}, 1));
  test.call("x", "a", filled({2}, 1), values({std::numeric_limits<double>::infinity(), 1}));
  const Json json = Json::parse(json_report(compared(ref, test)));
  EXPECT_EQ(json["agree"], false);
  EXPECT_EQ(json["first_forward"], 0);
  EXPECT_EQ(json["layers"][0]["ref"]["path"], "a");
  EXPECT_EQ(json["layers"][0]["forward"][1]["metrics"]["max_abs"], "inf");
  EXPECT_EQ(json["layers"][0]["forward"][1]["metrics"]["inf_test"], 1);
  EXPECT_EQ(json["layers"][0]["forward"][0]["pass"], true);
}

TEST(DiffTrace, BackwardPassStartsAtTheEnd) {
  // Both layers' gradients differ; the backward pass reaches `b` first.
  TraceBuilder ref, test;
  for (auto* side : {&ref, &test}) {
    const double add = side == &test ? 1 : 0;
    const int64_t a = side->call("x", "a", filled({2}, 1), filled({2}, 1));
    const int64_t b = side->call("x", "b", filled({2}, 1), filled({2}, 1));
    side->tensor_of(b, "grad_output", "x", "b", filled({2}, 1));
    side->tensor_of(b, "grad_input", "x", "b", filled({2}, 1) + add);
    side->tensor_of(a, "grad_output", "x", "a", filled({2}, 1) + add);
    side->tensor_of(a, "grad_input", "x", "a", filled({2}, 1) + add);
  }
  const auto report = compared(ref, test);
  EXPECT_FALSE(report.first_forward);
  EXPECT_EQ(report.first_backward, std::optional<int>(1));
}

TEST(DiffTrace, ParametersThatOneSideLacks) {
  TraceBuilder ref, test;
  for (auto* side : {&ref, &test}) {
    side->state("parameter", "a", "weight", filled({2}, 1));
    side->call("x", "a", filled({2}, 1), filled({2}, 1));
  }
  ref.state("parameter", "a", "bias", filled({2}, 1));
  const auto report = compared(ref, test);
  EXPECT_EQ(report.failed, 1);
  ASSERT_TRUE(report.first_state);
  EXPECT_EQ(report.state[static_cast<size_t>(*report.first_state)].name, "bias");
}

}  // namespace
