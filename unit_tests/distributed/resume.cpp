// A rank that is killed at any place: all start again from the newest checkpoint, with the losses of an undisturbed
// run.
#include <gtest/gtest.h>

#include <map>

#include "cli/launcher.h"

namespace {

using namespace launcher_test;

// The last loss that was printed for each step.
std::map<std::string, std::string> losses(const std::string& out) {
  std::map<std::string, std::string> found;
  std::istringstream stream(out);
  for (std::string rank, word, step, loss, value; stream >> rank >> word >> step >> loss >> value;) found[step] = value;
  return found;
}

std::string run(const std::string& options, const std::string& death, int expected_restarts) {
  const Folder folder;
  std::filesystem::create_directories(folder / "saved");
  Launcher launcher(options + " '" HALFBRIDGE_RESUME_PROGRAM "' '" + (folder / "saved") + "' " + death);
  EXPECT_EQ(launcher.wait(), 0) << launcher.err();
  EXPECT_EQ(launcher.err().find("starts again") != std::string::npos, expected_restarts > 0) << launcher.err();
  if (expected_restarts) {
    EXPECT_NE(launcher.err().find("signal 9"), std::string::npos) << launcher.err();
  }
  return launcher.out();
}

TEST(Resume, LossesOfAnUndisturbedRun) {
  const auto want = losses(run("-n 2", "", 0));
  ASSERT_EQ(want.size(), 20u);
  for (const char* death :
       {"1 7 forward", "0 12 backward", "1 8 collective", "0 10 save", "1 15 save", "0 3 forward"}) {
    SCOPED_TRACE(death);
    EXPECT_EQ(losses(run("-n 2 --max-restarts 1", death, 1)), want);
  }
}

}  // namespace
