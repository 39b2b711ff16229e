// The program's exit status and what it writes: 0 agrees, 1 differs, 2 could not run.
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "diff/diff_traces.h"

namespace {

using namespace diff_test;

int status_of(const std::string& arguments, const std::string& out) {
  const std::string command = "'" HALFBRIDGE_PROGRAM "' " + arguments + " > '" + out + "' 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DiffProgram, ExitStatus) {
  const Folder folder;
  TraceBuilder ref, wrong, later;
  ref.call("Identity", "a", filled({4}, 1), filled({4}, 1));
  wrong.call("Identity", "a", filled({4}, 1), filled({4}, 9));
  later.step = 3;
  later.call("Identity", "a", filled({4}, 1), filled({4}, 1));
  const std::string a = ref.save(folder / "a"), b = wrong.save(folder / "b"), c = later.save(folder / "c");
  const std::string out = folder / "out", xml = folder / "tests.xml";
  EXPECT_EQ(status_of("diff " + a + ' ' + a, out), 0);
  EXPECT_NE(contents(out).find("AGREES: 2 tensors"), std::string::npos) << contents(out);
  EXPECT_EQ(status_of("diff " + a + ' ' + b + " --junit " + xml, out), 1);
  EXPECT_NE(contents(out).find("First divergence forward: a"), std::string::npos) << contents(out);
  EXPECT_EQ(contents(out).find('\x1b'), std::string::npos);  // no colours in a pipe
  EXPECT_NE(contents(xml).find("<failure"), std::string::npos);
  EXPECT_EQ(status_of("diff " + a + ' ' + b + " --atol 10", out), 0);
  EXPECT_EQ(status_of("diff " + a + ' ' + b + " --tol 'a*=10'", out), 0);
  EXPECT_EQ(status_of("diff " + a + ' ' + c, out), 2);
  for (const std::string& arguments :
       {"diff " + a, "diff " + a + " missing", "diff " + a + ' ' + a + " --atol -1",
        "diff " + a + ' ' + a + " --map nothing", std::string("diff"), std::string("nonsense")}) {
    EXPECT_EQ(status_of(arguments, out), 2) << arguments;
    EXPECT_NE(contents(out), "");
  }
  EXPECT_EQ(status_of("diff " + a + ' ' + b + " --json -", out), 1);
  EXPECT_EQ(Json::parse(contents(out))["failed"], 1);
  EXPECT_EQ(status_of("trace show " + a + " --values 2 --json", out), 0);
  EXPECT_EQ(Json::parse(contents(out).substr(0, contents(out).find('\n')))["values"].size(), 2u);
  EXPECT_EQ(status_of("info", out), 0);
  EXPECT_NE(contents(out).find("oneDNN"), std::string::npos);
}

}  // namespace
