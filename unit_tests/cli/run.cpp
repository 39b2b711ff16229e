// halfbridge run: what its processes are told, what it prints, and that nothing is left behind.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <halfbridge/distributed/environment.h>
#include <halfbridge/error.h>

#include "cli/launcher.h"

namespace {

using namespace launcher_test;

TEST(Run, TellsTheRanks) {
  Launcher run(
      "-n 2 sh -c 'echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR "
      "$TORCHELASTIC_RESTART_COUNT ${#HALFBRIDGE_SECRET} ${MASTER_PORT:+port}; echo to err >&2; printf part'");
  EXPECT_EQ(run.wait(), 0);
  EXPECT_EQ(lines_of(run.out()), (std::set<std::string>{"[0] 0 0 2 2 0 127.0.0.1 0 32 port", "[0] part",
                                                        "[1] 1 1 2 2 0 127.0.0.1 0 32 port", "[1] part"}));
  EXPECT_EQ(lines_of(run.err()), (std::set<std::string>{"[0] to err", "[1] to err"}));
}

TEST(Run, OneThreadUnlessToldOtherwise) {
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before ? before : "";
  ::unsetenv("OMP_NUM_THREADS");
  Launcher one("-n 2 sh -c 'echo $OMP_NUM_THREADS'");
  one.wait();
  ::setenv("OMP_NUM_THREADS", "3", 1);
  Launcher given("-n 2 sh -c 'echo $OMP_NUM_THREADS'");
  given.wait();
  before ? ::setenv("OMP_NUM_THREADS", kept.c_str(), 1) : ::unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(lines_of(one.out()), (std::set<std::string>{"[0] 1", "[1] 1"}));
  EXPECT_EQ(lines_of(given.out()), (std::set<std::string>{"[0] 3", "[1] 3"}));
}

TEST(Run, LinesStayWhole) {
  Launcher run(
      "-n 3 sh -c 'i=0; while [ $i -lt 300 ]; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; i=$((i+1)); done'");
  EXPECT_EQ(run.wait(), 0);
  const std::string text(40, 'a');
  EXPECT_EQ(lines_of(run.out()), (std::set<std::string>{"[0] " + text, "[1] " + text, "[2] " + text}));
}

TEST(Run, ARankThatDiesEndsTheOthers) {
  const auto began = Clock::now();
  Launcher run(
      "-n 3 sh -c 'sleep 300 & echo pid $!; echo pid $$; if [ $RANK = 1 ]; then sleep 0.3; kill -9 $$; fi; wait'");
  EXPECT_EQ(run.wait(), 128 + SIGKILL);
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(5));
  EXPECT_EQ(processes_in(run.out()).size(), 6u) << run.out();
  EXPECT_TRUE(all_gone(processes_in(run.out())));
  EXPECT_NE(run.err().find("rank 1 (process "), std::string::npos) << run.err();
  EXPECT_NE(run.err().find("was ended by signal 9"), std::string::npos) << run.err();
  EXPECT_NE(run.err().find("    pid "), std::string::npos) << run.err();
}

TEST(Run, ExitStatusAndLastLines) {
  Launcher run(
      "-n 2 sh -c 'i=0; while [ $i -lt 50 ]; do echo line $i; i=$((i+1)); done; [ $RANK = 0 ] || exit 7; sleep 60'");
  EXPECT_EQ(run.wait(), 7);
  EXPECT_NE(run.err().find("rank 1"), std::string::npos);
  EXPECT_NE(run.err().find("exit status 7"), std::string::npos);
  EXPECT_NE(run.err().find("    line 49"), std::string::npos);
  EXPECT_EQ(run.err().find("    line 29\n"), std::string::npos);
}

// A program that does not end when asked, one that is stopped, and a child in a session of its own.
TEST(Run, InterruptEndsAll) {
  for (const std::string worker : {"trap \"\" INT TERM; ", "kill -STOP $$; ", "setsid sleep 300 & "}) {
    Launcher run("-n 2 --grace 0.3 sh -c 'echo pid $$; " + worker + "echo ready; while :; do sleep 0.05; done'");
    ASSERT_TRUE(run.prints("[0] pid") && run.prints("[1] pid"));
    run.signal(SIGINT);
    const auto began = Clock::now();
    EXPECT_EQ(run.wait(), 128 + SIGINT);
    EXPECT_LT(Clock::now() - began, std::chrono::seconds(5));
    EXPECT_TRUE(all_gone(processes_in(run.out()))) << worker;
  }
}

TEST(Run, NothingOutlivesAKilledLauncher) {
  Launcher run("-n 2 sh -c 'sleep 300 & echo pid $!; echo pid $$; echo ready; wait'");
  ASSERT_TRUE(run.prints("[0] ready") && run.prints("[1] ready"));
  run.signal(SIGKILL);
  run.wait();
  EXPECT_EQ(processes_in(run.out()).size(), 4u);
  EXPECT_TRUE(all_gone(processes_in(run.out())));
}

TEST(Run, StartsAgain) {
  Launcher run(
      "-n 2 --max-restarts 2 sh -c 'echo try $TORCHELASTIC_RESTART_COUNT; [ $TORCHELASTIC_RESTART_COUNT = 2 ]'");
  EXPECT_EQ(run.wait(), 0);
  EXPECT_TRUE(lines_of(run.out()).count("[0] try 2") && lines_of(run.out()).count("[1] try 2"));
  Launcher often("-n 2 --max-restarts 1 sh -c 'exit 3'");
  EXPECT_EQ(often.wait(), 3);
  EXPECT_NE(often.err().find("(1 of 1)"), std::string::npos);
}

// A stand-in for ssh: drops the host and gives the rest to a shell, as sshd does.
class Hosts : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "ssh") << "#!/bin/sh\necho to $1 >> '" << (folder_ / "log")
                                   << "'\nshift\nexec sh -c \"$*\"\n";
    std::filesystem::permissions(folder_ / "ssh", std::filesystem::perms::owner_all);
  }
  std::string options() const {
    return "--ssh '" + (folder_ / "ssh") + "' --master-addr 127.0.0.1 --master-port 29511 ";
  }
  Folder folder_;
};

TEST_F(Hosts, RanksOverHosts) {
  ::setenv("HALFBRIDGE_TEST_VARIABLE", "it's \"here\"", 1);
  Launcher run(options() +
               "-n 2 --hosts one,two:1 --env GIVEN=yes sh -c "
               "'echo $RANK $LOCAL_RANK $GROUP_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GIVEN $HALFBRIDGE_TEST_VARIABLE'");
  EXPECT_EQ(run.wait(), 0) << run.err();
  ::unsetenv("HALFBRIDGE_TEST_VARIABLE");
  EXPECT_EQ(lines_of(run.out()),
            (std::set<std::string>{"[0] 0 0 0 3 2 yes it's \"here\"", "[1] 1 1 0 3 2 yes it's \"here\"",
                                   "[2] 2 0 1 3 1 yes it's \"here\""}));
  EXPECT_EQ(lines_of(contents(folder_ / "log")), (std::set<std::string>{"to one", "to two"}));
}

TEST_F(Hosts, OneDiesAllEnd) {
  Launcher run(options() +
               "--hosts one,two sh -c 'sleep 300 & echo pid $!; if [ $RANK = 1 ]; then sleep 0.3; exit 9; fi; wait'");
  EXPECT_EQ(run.wait(), 9);
  EXPECT_EQ(processes_in(run.out()).size(), 2u);
  EXPECT_TRUE(all_gone(processes_in(run.out())));
  EXPECT_NE(run.err().find("rank 1 (process"), std::string::npos) << run.err();
}

TEST_F(Hosts, NothingOutlivesAKilledLauncher) {
  Launcher run(options() + "--hosts one,two sh -c 'sleep 300 & echo pid $!; echo pid $$; echo ready; wait'");
  ASSERT_TRUE(run.prints("[0] ready") && run.prints("[1] ready"));
  run.signal(SIGKILL);
  run.wait();
  EXPECT_EQ(processes_in(run.out()).size(), 4u);
  EXPECT_TRUE(all_gone(processes_in(run.out())));
}

TEST(Run, RefusesWhatDoesNotFit) {
  for (const std::string& arguments :
       {std::string("-n 2"), std::string("-n 0 true"), std::string("--unknown true"), std::string("no-such-program"),
        std::string("--hosts a:x true"), std::string("--hosts localhost,b true"),
        std::string("--nnodes 2 --node-rank 2 true"), std::string("--nnodes 2 --node-rank 0 true"),
        std::string("--nnodes 2 --hosts a true")}) {
    Launcher run(arguments);
    EXPECT_EQ(run.wait(), 2) << arguments;
    EXPECT_NE(run.err() + run.out(), "") << arguments;
  }
}

using Variables = std::map<std::string, std::string>;
hb::distributed::Placement placed(const Variables& variables) {
  return hb::distributed::placement_from([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Placement, OfEachLauncher) {
  auto p = placed({});
  EXPECT_EQ(p.launcher, "none");
  EXPECT_EQ(p.world_size, 1);
  EXPECT_EQ(p.master_address, "127.0.0.1");
  p = placed({{"RANK", "3"},
              {"WORLD_SIZE", "4"},
              {"LOCAL_RANK", "1"},
              {"LOCAL_WORLD_SIZE", "2"},
              {"MASTER_ADDR", "h"},
              {"MASTER_PORT", "1234"},
              {"OMPI_COMM_WORLD_RANK", "0"},
              {"OMPI_COMM_WORLD_SIZE", "1"}});
  EXPECT_EQ(p.launcher, "torchrun");
  EXPECT_EQ(p.rank, 3);
  EXPECT_EQ(p.local_rank, 1);
  EXPECT_EQ(p.master_address, "h");
  EXPECT_EQ(p.master_port, 1234);
  p = placed({{"OMPI_COMM_WORLD_RANK", "2"},
              {"OMPI_COMM_WORLD_SIZE", "3"},
              {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
              {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}});
  EXPECT_EQ(p.launcher, "Open MPI");
  EXPECT_EQ(p.rank, 2);
  EXPECT_EQ(p.master_address, "127.0.0.1");
  p = placed({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}});
  EXPECT_EQ(p.launcher, "MPICH");
  // Another launcher that speaks PMI, and does not tell which ranks are on one host.
  p = placed({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(p.master_address, "");
}

/// The variables of a task that srun started on the second of four hosts.
Variables srun_task() {
  return {{"SLURM_JOB_ID", "4711"},
          {"SLURM_JOB_NODELIST", "login,rack[1-2]node[03-04,7],b"},
          {"SLURM_NTASKS", "7"},
          {"SLURM_NPROCS", "7"},
          {"SLURM_NNODES", "4"},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_STEP_NUM_NODES", "4"},
          {"SLURM_STEP_NUM_TASKS", "7"},
          {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
          {"SLURM_STEP_NODELIST", "rack[1-2]node[03-04,7],b"},
          {"SLURM_STEP_LAUNCHER_PORT", "38123"},
          {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.9"},
          {"SLURM_SRUN_COMM_HOST", "10.0.0.9"},
          {"SLURM_NODEID", "1"},
          {"SLURM_PROCID", "3"},
          {"SLURM_LOCALID", "1"},
          {"SLURM_TASK_PID", "999"},
          {"SLURM_CPUS_ON_NODE", "8"}};
}

TEST(Placement, OfSlurm) {
  Variables v = srun_task();
  const auto p = placed(v);
  EXPECT_EQ(p.launcher, "Slurm");
  EXPECT_EQ(p.rank, 3);
  EXPECT_EQ(p.world_size, 7);
  EXPECT_EQ(p.local_rank, 1);
  EXPECT_EQ(p.local_size, 2);
  EXPECT_EQ(p.master_address, "rack1node03");
  // Steps that share a host do not share a port, which all tasks of a step know.
  EXPECT_GE(p.master_port, 10000);
  EXPECT_LT(p.master_port, 30000);
  v["SLURM_STEP_ID"] = "1";
  EXPECT_NE(placed(v).master_port, p.master_port);
  v["SLURM_NODEID"] = "3", v["SLURM_PROCID"] = "6", v["SLURM_LOCALID"] = "0";
  EXPECT_EQ(placed(v).local_size, 1);
  v["MASTER_ADDR"] = "h", v["MASTER_PORT"] = "1234";
  EXPECT_EQ(placed(v).master_address, "h");
  EXPECT_EQ(placed(v).master_port, 1234);
  for (const auto& [list, first] : Variables{{"n1", "n1"},
                                             {"n1,n2", "n1"},
                                             {"gpu[03-04,7],b", "gpu03"},
                                             {"a[7]-ib", "a7-ib"},
                                             {"10.1.2.3", "10.1.2.3"}}) {
    v = srun_task();
    v["SLURM_STEP_NODELIST"] = list;
    EXPECT_EQ(placed(v).master_address, first);
  }
}

TEST(Placement, OfSlurmBesideOthers) {
  EXPECT_EQ(placed({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}).world_size, 1);  // a batch script
  Variables v = srun_task();
  v["PMI_RANK"] = "3",
  v["PMI_SIZE"] = "7";  // srun --mpi=pmi2: the same numbers, without a place among the host's ranks
  EXPECT_EQ(placed(v).launcher, "Slurm");
  EXPECT_EQ(placed(v).local_rank, 1);
  // mpirun starts one task of Slurm on each host, whose variables its ranks inherit.
  v = srun_task();
  v["SLURM_STEP_NUM_TASKS"] = "4", v["SLURM_PROCID"] = "1", v["SLURM_LOCALID"] = "0";
  v["PMI_RANK"] = "3", v["PMI_SIZE"] = "7", v["MPI_LOCALRANKID"] = "1", v["MPI_LOCALNRANKS"] = "2";
  EXPECT_EQ(placed(v).launcher, "MPICH");
  EXPECT_EQ(placed(v).rank, 3);
  v["OMPI_COMM_WORLD_RANK"] = "2", v["OMPI_COMM_WORLD_SIZE"] = "7";
  EXPECT_EQ(placed(v).launcher, "Open MPI");
}

TEST(Placement, RefusesNonsense) {
  for (const Variables& v :
       {Variables{{"RANK", "x"}, {"WORLD_SIZE", "2"}}, Variables{{"RANK", "2"}, {"WORLD_SIZE", "2"}},
        Variables{{"WORLD_SIZE", "2"}}, Variables{{"RANK", "-1"}, {"WORLD_SIZE", "2"}},
        Variables{{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_PORT", "99999"}}})
    EXPECT_THROW(placed(v), hb::ValueError);
  for (const auto& [name, value] : {std::pair("SLURM_STEP_NODELIST", "gpu[03-"),
                                    {"SLURM_STEP_TASKS_PER_NODE", "2(x3"},
                                    {"SLURM_STEP_TASKS_PER_NODE", "two"},
                                    {"SLURM_STEP_TASKS_PER_NODE", "0,2"},
                                    {"SLURM_STEP_TASKS_PER_NODE", "1(x4)"},
                                    {"SLURM_LOCALID", "7"}}) {
    Variables v = srun_task();
    v[name] = value;
    EXPECT_THROW(placed(v), hb::ValueError) << name << ' ' << value;
  }
}

}  // namespace
