// Ranks that die, stop, do not come or call something else; each a process.
#include "distributed/processes.h"
#include "distributed/ranks.h"

namespace {

using ranks::Processes;

TEST(DistributedFaults, ARankThatIsKilledIsNamed) {
  for (int victim : {0, 2}) {
    Processes run("forever", 3, 60000);
    run.all_ready();
    usleep(50000);
    run.signal(victim, SIGKILL);
    for (int r = 0; r < 3; ++r)
      if (r != victim)
        run.expect_error(r, {"ALLREDUCE #", "Float [100000]", "rank " + std::to_string(victim) + " has died"});
  }
}

/// Ranks write to each other's memory then.
TEST(DistributedFaults, ALargeSumWhoseRankIsKilledOrStopped) {
  for (int after : {20, 50, 77}) {
    Processes run("forever_large", 3, 60000);
    run.all_ready();
    usleep(after * 1000);
    run.signal(1, SIGKILL);
    for (int r : {0, 2}) run.expect_error(r, {"ALLREDUCE #", "Float [5000000]", "rank 1 has died"});
  }
  Processes run("forever_large", 2, 700);
  run.all_ready();
  usleep(50000);
  run.signal(1, SIGSTOP);
  run.expect_error(0, {"ALLREDUCE #", "timed out after 700 ms", "rank 1 is missing"});
  run.signal(1, SIGCONT);
  run.expect_error(1, {"timed out", "rank 1 is missing"});
}

TEST(DistributedFaults, ARankThatMayNotReachTheOthers) {
  Processes run("large_out_of_reach", 3, 20000);
  for (int r = 0; r < 3; ++r) run.expect_end(r, 0, 0, {"done"});
}

TEST(DistributedFaults, AChildOfAKilledRankDoesNotHoldItsPlace) {
  Processes run("forks", 2, 60000);
  run.all_ready();
  usleep(200000);
  const auto began = ranks::Clock::now();
  run.signal(1, SIGKILL);
  run.expect_error(0, {"ALLREDUCE #", "rank 1 has died"});
  EXPECT_LT(ranks::Clock::now() - began, std::chrono::seconds(4));
}

TEST(DistributedFaults, ARankThatIsKilledIsNamedOverTcp) {
  if (ranks::without_gloo()) GTEST_SKIP() << "no Gloo here";
  const ranks::Setting tcp("HALFBRIDGE_GLOO_TRANSPORT", "tcp");
  Processes run("forever", 2, 60000);
  run.all_ready();
  usleep(50000);
  run.signal(1, SIGKILL);
  run.expect_error(0, {"ALLREDUCE #", "Float [100000]", "the connection to rank 1 failed"});
}

TEST(DistributedFaults, ARankThatStopsIsMissingAtTheDeadline) {
  Processes run("forever", 2, 700);
  run.all_ready();
  usleep(50000);
  run.signal(1, SIGSTOP);
  run.expect_error(0, {"ALLREDUCE #", "timed out after 700 ms", "rank 1 is missing"});
  run.signal(1, SIGCONT);  // it learns that the others gave up
  run.expect_error(1, {"timed out", "rank 1 is missing"});
}

TEST(DistributedFaults, ARankThatDoesNotComeIsMissing) {
  {
    Processes run("pauses", 3, 500);
    run.expect_error(0, {"[ALLREDUCE #2 (SUM) of Float [10]] timed out after 500 ms", "rank 1 is missing",
                         "ALLREDUCE (SUM) of Float [10] #1"});
    run.expect_error(2, {"rank 1 is missing"});
  }
  if (ranks::without_gloo()) return;
  const ranks::Setting tcp("HALFBRIDGE_GLOO_TRANSPORT", "tcp");
  Processes run("pauses", 3, 500);
  run.expect_error(0, {"[ALLREDUCE #2 (SUM) of Float [10]] timed out after 500 ms", "rank 1 is missing"});
  run.expect_error(2, {"rank 1 is missing"});
}

TEST(DistributedFaults, ARankThatCallsSomethingElseIsNamed) {
  {
    Processes run("other_call", 2, 20000);
    run.expect_error(0, {"[ALLREDUCE #1 (SUM) of Float [3]] expected the same call",
                         "rank 1 called BROADCAST with root 0 of Float [3]"});
    run.expect_error(1, {"[BROADCAST #1 with root 0 of Float [3]]", "rank 0 called ALLREDUCE (SUM) of Float [3]"});
  }
  {
    Processes run("other_shape", 3, 20000);
    run.expect_error(0, {"rank 1 called ALLREDUCE (SUM) of Float [4]"});
    run.expect_error(1, {"rank 0 called", "rank 2 called ALLREDUCE (SUM) of Float [3]"});
  }
  if (ranks::without_gloo()) return;
  const ranks::Setting tcp("HALFBRIDGE_GLOO_TRANSPORT", "tcp"), detail("TORCH_DISTRIBUTED_DEBUG", "DETAIL");
  Processes run("other_shape", 2, 20000);
  run.expect_error(0, {"rank 1 called ALLREDUCE (SUM) of Float [4]"});
  run.expect_error(1, {"rank 0 called ALLREDUCE (SUM) of Float [3]"});
}

TEST(DistributedFaults, MessagesHaveDeadlinesToo) {
  {
    Processes run("message", 2, 300);
    run.expect_error(0, {"RECV of Float [3] from rank 1, tag 0", "timed out after 300 ms"});
  }
  {
    Processes run("message", 2, 60000);
    run.all_ready();
    run.signal(1, SIGKILL);
    run.expect_error(0, {"RECV of Float [3] from rank 1", "rank 1 has died"});
  }
  Processes run("monitored", 3, 300);
  run.expect_error(0, {"Rank 1 failed to pass monitoredBarrier in 300 ms"});
}

}  // namespace
