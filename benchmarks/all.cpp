#include "workload.h"

namespace bench {

std::vector<Workload> workloads() {
  auto all = training_workloads();
  all.push_back({"ppo_f32", ppo});
  for (auto& workload : op_workloads()) all.push_back(workload);
  return all;
}

}  // namespace bench
