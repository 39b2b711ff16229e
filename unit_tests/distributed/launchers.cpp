// Launchers of others and connections of others: PyTorch's torchrun, and ssh with a daemon of its own.
#include <gtest/gtest.h>

#include "cli/launcher.h"

namespace {

using namespace launcher_test;

/// What a command prints, and its exit status.
std::pair<int, std::string> said(const std::string& command) {
  const Folder folder;
  const int status = std::system(("(" + command + ") > '" + (folder / "out") + "' 2>&1 < /dev/null").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, contents(folder / "out")};
}

/// The lines of losses, without what launchers put before them.
std::set<std::string> losses(const std::string& out) {
  std::set<std::string> found;
  for (const std::string& line : lines_of(out))
    if (const size_t at = line.find("step "); at != std::string::npos) found.insert(line.substr(at));
  return found;
}

std::string expected_losses() {
  const Folder folder;
  Launcher run("-n 2 '" HALFBRIDGE_RESUME_PROGRAM "' '" + (folder / "") + "'");
  EXPECT_EQ(run.wait(), 0) << run.err();
  return run.out();
}

TEST(Launchers, TorchrunStartsAndRestartsThem) {
  const char* chosen = std::getenv("HALFBRIDGE_PYTHON");
  const std::string python = chosen ? chosen : "python3";
  if (said(python + " -c 'import torch.distributed.run'").first != 0) GTEST_SKIP() << "no Python with torch here";
  const auto want = losses(expected_losses());
  ASSERT_EQ(want.size(), 20u);
  for (const std::string death : {"", " 1 7 collective"}) {
    const Folder folder;
    const auto [status, out] =
        said("OMP_NUM_THREADS=1 " + python + " -m torch.distributed.run --nproc-per-node 2 --max-restarts 1 " +
             "--master-port 29533 --no-python '" HALFBRIDGE_RESUME_PROGRAM "' '" + (folder / "") + "'" + death);
    EXPECT_EQ(status, 0) << out;
    EXPECT_EQ(losses(out), want) << out;
  }
}

/// A stand-in for srun: two tasks on this host, with the variables that srun gives them.
TEST(Launchers, SlurmsVariablesJoinThem) {
  const Folder folder;
  std::ofstream(folder / "srun") << R"(export SLURM_JOB_ID=$$ SLURM_STEP_ID=0 SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2
export SLURM_STEP_NUM_NODES=1 SLURM_STEP_TASKS_PER_NODE='2' SLURM_STEP_NODELIST='localhost' SLURM_NODEID=0
SLURM_PROCID=1 SLURM_LOCALID=1 "$@" & SLURM_PROCID=0 SLURM_LOCALID=0 "$@"; status=$?; wait $! && exit $status)";
  const auto [status, out] =
      said("OMP_NUM_THREADS=1 sh '" + (folder / "srun") + "' '" HALFBRIDGE_RESUME_PROGRAM "' '" + (folder / "") + "'");
  EXPECT_EQ(status, 0) << out;
  EXPECT_EQ(losses(out), losses(expected_losses())) << out;
}

/// sshd for this test alone: its keys and its port are its own.
class SshDaemon {
 public:
  SshDaemon() {
    const std::string keys = "ssh-keygen -q -t ed25519 -N '' -f '";
    if (said(keys + (folder_ / "host") + "'").first != 0 || said(keys + (folder_ / "user") + "'").first != 0) return;
    std::filesystem::copy(folder_ / "user.pub", folder_ / "authorized");
    std::ofstream(folder_ / "config") << "Port " << kPort << "\nListenAddress 127.0.0.1\nHostKey " << (folder_ / "host")
                                      << "\nAuthorizedKeysFile " << (folder_ / "authorized") << "\nPidFile "
                                      << (folder_ / "pid") << "\nStrictModes no\nUsePAM no\n"
                                      << "PasswordAuthentication no\nPermitRootLogin yes\n";
    if (geteuid() == 0) std::filesystem::create_directories("/run/sshd");
    if (said("/usr/sbin/sshd -f '" + (folder_ / "config") + "'").first != 0) return;
    for (int i = 0; i < 100 && !runs_; ++i) {
      runs_ = said(command() + " 127.0.0.1 true").first == 0;
      if (!runs_) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  ~SshDaemon() {
    const std::string pid = contents(folder_ / "pid");
    if (!pid.empty()) ::kill(std::stoi(pid), SIGTERM);
  }
  bool runs() const { return runs_; }
  std::string command() const {
    return "ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p " +
           std::to_string(kPort) + " -i " + (folder_ / "user");
  }

 private:
  static constexpr int kPort = 29722;
  Folder folder_;
  bool runs_ = false;
};

TEST(Launchers, HostsBySsh) {
  const SshDaemon daemon;
  if (!daemon.runs()) GTEST_SKIP() << "no ssh daemon can be started here (Debian: openssh-server)";
  const auto want = losses(expected_losses());
  for (const std::string death : {"", " 1 7 collective"}) {
    const Folder folder;
    Launcher run("-n 2 --max-restarts 1 --master-port 29534 --hosts 127.0.0.1 --ssh '" + daemon.command() +
                 "' '" HALFBRIDGE_RESUME_PROGRAM "' '" + (folder / "") + "'" + death);
    EXPECT_EQ(run.wait(), 0) << run.err();
    EXPECT_EQ(losses(run.out()), want) << run.out() << run.err();
  }
  // The end of the connection ends what it started.
  Launcher run("-n 1 --master-port 29535 --hosts 127.0.0.1,127.0.0.1 --ssh '" + daemon.command() +
               "' sh -c 'echo pid $$; echo ready; sleep 300; true'");
  ASSERT_TRUE(run.prints("[0] ready") && run.prints("[1] ready")) << run.err();
  run.signal(SIGKILL);
  run.wait();
  EXPECT_EQ(processes_in(run.out()).size(), 2u);
  EXPECT_TRUE(all_gone(processes_in(run.out())));
}

}  // namespace
