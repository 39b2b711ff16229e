// Programs that `halfbridge diff --bundle` writes: while they are written the process may be killed or the disk be
// full.
#include <halfbridge/diff/explain.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "diff/diff_traces.h"

namespace {

namespace fs = std::filesystem;
using diff_test::filled;
using diff_test::Folder;
using diff_test::TraceBuilder;
using hb::layer_diff::Report;

// A ReLU that differs, of `size` elements: each file of its bundle shows the size.
Report report_of(const Folder& folder, int64_t size) {
  const auto saved = [&](const char* side, double factor) {
    TraceBuilder trace;
    const hb::Tensor x = filled({size}, 1);
    for (const auto& [kind, tensor] : {std::pair("input", x), std::pair("output", x * factor)})
      trace.record({{"kind", kind}, {"index", 0}, {"call", 0}, {"type", "ReLU"}, {"path", "act"}, {"root", "Net"}},
                   tensor);
    return hb::layer_diff::Trace::open(trace.save(folder / (side + std::to_string(size))));
  };
  return compare(saved("ref", 1), saved("test", 2));
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The size that all files of the bundle agree on; 0 where there is none, or files are missing or of two bundles.
int64_t size_of(const fs::path& bundle) {
  if (!fs::exists(bundle / "input_0.bin") || !fs::exists(bundle / "CMakeLists.txt")) return 0;
  const auto size = static_cast<int64_t>(fs::file_size(bundle / "input_0.bin") / sizeof(float));
  const bool same = fs::exists(bundle / "output_0.bin") &&
                    fs::file_size(bundle / "output_0.bin") == size * sizeof(float) &&
                    text_of(bundle / "main.cpp").find("{" + std::to_string(size) + "}") != std::string::npos &&
                    text_of(bundle / "README.md").find("{" + std::to_string(size) + "}") != std::string::npos;
  return same ? size : 0;
}

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Bundle, KilledWritersLeaveTheOldOneOrTheNewOne) {
  const Folder folder;
  const Report reports[] = {report_of(folder, 100), report_of(folder, 7000)};
  const std::string bundle = folder / "repro";
  write_bundle(reports[0], 0, bundle);
  fs::create_directory(bundle + "/build");
  std::ofstream(bundle + "/build/mine") << "mine";
  unsigned delay = 1;
  bool seen[2] = {false, false};
  for (int round = 0; round < 40 || (round < 1000 && !(seen[0] && seen[1])); ++round) {
    const pid_t child = ::fork();
    if (child == 0)
      for (int i = 0;; ++i) write_bundle(reports[i % 2], 0, bundle);
    delay = delay * 1103515245u + 12345u;
    ::usleep(500 + delay % 10000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const int64_t size = size_of(bundle);
    ASSERT_TRUE(size == 100 || size == 7000) << size;
    seen[size == 7000] = true;
    EXPECT_EQ(text_of(bundle + "/build/mine"), "mine");
  }
  EXPECT_TRUE(seen[0] && seen[1]);
  write_bundle(reports[1], 0, bundle);  // what killed ones left is in no one's way
  EXPECT_EQ(size_of(bundle), 7000);
}

TEST(Bundle, NoRoomKeepsTheOldOne) {
  const Folder folder;
  const Report small = report_of(folder, 100), large = report_of(folder, 7000);
  const size_t before = entries(folder / "");
  write_bundle(small, 0, folder / "repro");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20000, 20000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_bundle(large, 0, folder / "repro");
      ::_exit(0);
    } catch (const hb::Error& error) {
      ::_exit(std::string(error.what()).find("[bundle] cannot write") != std::string::npos ? 3 : 4);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 3);
  EXPECT_EQ(size_of(folder / "repro"), 100);
  EXPECT_EQ(entries(folder / ""), before + 1);  // and nothing beside it
}

TEST(Bundle, WhatALinkPointsAtIsReplaced) {
  const Folder folder;
  const Report small = report_of(folder, 100), large = report_of(folder, 7000);
  write_bundle(small, 0, folder / "there");
  fs::create_directory_symlink("there", folder / "link");
  write_bundle(large, 0, folder / "link/");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(size_of(folder / "there"), 7000);
  std::ofstream(folder / "file") << "mine";
  EXPECT_THROW(write_bundle(small, 0, folder / "file"), hb::Error);
  EXPECT_THROW(write_bundle(small, 0, folder / "file/below"), hb::Error);
  EXPECT_EQ(text_of(folder / "file"), "mine");
}

}  // namespace
