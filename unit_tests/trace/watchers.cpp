// The contract of watchers (src/core/watchers.h), and the tools that watch, all of them on one program together.

#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "../../src/core/watchers.h"
#include "trace/trace_files.h"

namespace {

using hb::WatchPlace;

/// Writes what it is told into a list that several share.
struct Listener {
  Listener(std::string name, std::vector<std::string>& log) : name(std::move(name)), log(log) {}
  void tell(const std::string& what) {
    log.push_back(name + " " + what);
    if (what == throws_at) throw std::runtime_error(name);
    if (on_tell) on_tell();
  }
  std::string name, throws_at;
  std::vector<std::string>& log;
  std::function<void()> on_tell;
};
using List = hb::Watchers<Listener>;
using Log = std::vector<std::string>;

const auto hello = [](Listener& l) { l.tell("hello"); };

TEST(Watchers, AreToldInAFixedOrder) {
  Log log;
  const auto make = [&](const char* name) { return std::make_shared<Listener>(name, log); };
  EXPECT_FALSE(List::any());
  const hb::Attachment<Listener> inner(make("inner"), WatchPlace::inner), a(make("a")), b(make("b"));
  EXPECT_TRUE(List::any());
  List::each(hello);
  List::now().each_back(hello);
  EXPECT_EQ(log, (Log{"a hello", "b hello", "inner hello", "inner hello", "b hello", "a hello"}));
}

TEST(Watchers, DetachWithTheirAttachmentAndWithin) {
  Log log;
  auto a = std::make_shared<Listener>("a", log), b = std::make_shared<Listener>("b", log);
  a->on_tell = [&] { List::detach(*b); };
  {
    hb::Attachment<Listener> first(a), second(b);
    hb::Attachment<Listener> moved = std::move(second);
    List::each(hello);  // began when both were attached
    List::each(hello);
  }
  List::each(hello);
  EXPECT_EQ(log, (Log{"a hello", "b hello", "a hello"}));
  EXPECT_FALSE(List::any());
  EXPECT_EQ(b.use_count(), 1);
}

TEST(Watchers, LiveUntilTheEventIsOver) {
  Log log;
  auto a = std::make_shared<Listener>("a", log);
  const std::weak_ptr<Listener> alive = a;
  List::attach(a);
  auto now = List::now();
  List::detach(*a);
  a.reset();
  now.each(hello);
  EXPECT_EQ(log, Log{"a hello"});
  now = {};
  EXPECT_TRUE(alive.expired());
}

TEST(Watchers, WhatTheyThrowReachesTheProgram) {
  Log log;
  auto a = std::make_shared<Listener>("a", log), b = std::make_shared<Listener>("b", log),
       c = std::make_shared<Listener>("c", log);
  b->throws_at = "begin";
  const hb::Attachment<Listener> first(a), second(b), third(c);
  EXPECT_THROW(List::now().begin([](Listener& l) { l.tell("begin"); }, [](Listener& l) { l.tell("failed"); }),
               std::runtime_error);
  EXPECT_EQ(log, (Log{"a begin", "b begin", "a failed"}));
}

TEST(Watchers, OwnWorkIsNotSeen) {
  Log log;
  const hb::Attachment<Listener> attached(std::make_shared<Listener>("a", log));
  {
    const hb::Unwatched own;
    EXPECT_FALSE(List::now());
    List::each(hello);
  }
  EXPECT_TRUE(log.empty());
  List::each(hello);
  EXPECT_EQ(log.size(), 1u);
}

// --- all tools on one program

/// What it prints, by the first word of a line.
using Output = std::map<std::string, std::string>;
Output run(const std::string& variables, const std::string& arguments) {
  const std::string command = "env " + variables + " " HALFBRIDGE_WATCHED_PROGRAM " " + arguments + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  EXPECT_EQ(::pclose(pipe), 0) << command << '\n' << text;
  Output output;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) output[line.substr(0, line.find(' '))] += line + '\n';
  return output;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_same(const trace_files::Trace& got, const trace_files::Trace& expected) {
  EXPECT_EQ(got.end(), expected.end());
  ASSERT_EQ(got.records.size(), expected.records.size());
  for (size_t i = 0; i < got.records.size(); ++i) {
    auto g = got.records[i], e = expected.records[i];
    for (auto* r : {&g, &e}) r->json.erase("same_as");  // which records share their bytes depends on who holds tensors
    EXPECT_EQ(g.json, e.json);
    ASSERT_EQ(g.tensor.defined(), e.tensor.defined()) << e.name;
    if (g.tensor.defined()) {
      EXPECT_TRUE(hb::allclose(g.tensor, e.tensor, 0, 0, /*equal_nan=*/true)) << e.name;
    }
  }
}

TEST(WatchersTogether, EachGivesWhatItGivesAlone) {
  const std::string folder = trace_files::fresh_folder();
  std::filesystem::create_directories(folder);
  const auto trace = [&](const std::string& name) { return "HALFBRIDGE_TRACE='" + folder + "/" + name + "' "; };
  const auto report = [&](const std::string& name) { return "HALFBRIDGE_AMP_REPORT='" + folder + "/" + name + "' "; };
  for (const std::string amp : {"HALFBRIDGE_AMP=O0 ", "HALFBRIDGE_AMP=O2:fp16 "}) {
    SCOPED_TRACE(amp);
    for (const char* name : {"alone", "together"}) std::filesystem::remove_all(folder + "/" + name);
    const Output plain = run(amp, "");
    Output alone = run(amp, "profile");
    alone["story"] = run(amp, "story")["story"];
    run(amp + trace("alone"), "");
    run(amp + report("alone.gradients"), "");
    const Output together = run(amp + trace("together") + report("together.gradients"), "profile story");
    EXPECT_EQ(plain.at("loss"), alone.at("loss"));
    EXPECT_EQ(together, alone);
    EXPECT_NE(together.at("story").find("SqrtBackward0"), std::string::npos) << together.at("story");
    EXPECT_NE(together.at("profile").find("relu"), std::string::npos);
    const auto traced = trace_files::read(folder + "/together");
    EXPECT_FALSE(traced.of("grad_output").empty());
    expect_same(traced, trace_files::read(folder + "/alone"));
    EXPECT_FALSE(contents(folder + "/alone.gradients").empty());
    EXPECT_EQ(contents(folder + "/together.gradients"), contents(folder + "/alone.gradients"));
  }
}

}  // namespace
