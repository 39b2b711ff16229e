#include "plan.h"

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include <halfbridge/distributed/environment.h>
#include <halfbridge/error.h>

namespace hb::cli {

namespace {

// Variables that hosts get from here without being asked for.
constexpr const char* kForwardedPrefixes[] = {"HALFBRIDGE_", "OMP_"};

struct Host {
  std::string name;
  int processes;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string random_text() {
  unsigned char bytes[16];
  HB_CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes, "[run] the system gives no random numbers");
  std::string text;
  for (const unsigned char b : bytes) {
    text += "0123456789abcdef"[b >> 4];
    text += "0123456789abcdef"[b & 15];
  }
  return text;
}

bool is_free(int port) {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool free = ::bind(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(s);
  return free;
}

// Below those that the system gives to connections: one of them could meet itself there.
int free_port() {
  for (int tries = 0; tries < 1000; ++tries) {
    uint32_t drawn = 0;
    HB_CHECK(::getrandom(&drawn, sizeof drawn, 0) == sizeof drawn, "[run] the system gives no random numbers");
    const int port = 20000 + static_cast<int>(drawn % 12000);
    if (is_free(port)) return port;
  }
  HB_CHECK(false, "[run] found no free port from 20000 to 31999; give one by --master-port");
}

Host parse_host(const std::string& text, int processes) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, processes};
  int n = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, n);
  HB_CHECK(error == std::errc() && stop == end && n >= 1 && colon > 0,
           "[run] expected a host as NAME or NAME:PROCESSES, got '", text, "'");
  return {text.substr(0, colon), n};
}

std::vector<Host> hosts_of(const RunOptions& options) {
  std::vector<Host> hosts;
  for (const std::string& text : options.hosts) hosts.push_back(parse_host(text, options.processes));
  return hosts;
}

void check_hosts(RunOptions& options) {
  const auto hosts = hosts_of(options);
  if (!options.master_address.empty()) return;
  const std::string& first = hosts[0].name;
  options.master_address = first.substr(first.find('@') + 1);
  HB_CHECK(hosts.size() == 1 || options.master_address != "localhost",
           "[run] expected --master-addr, an address of this host that the others reach, beside the host 'localhost'");
}

// This launcher may be one of several that mpirun or Slurm started, one per host.
void read_environment(RunOptions& options) {
  const auto place = distributed::placement_from_environment();
  if (options.nodes == 0) options.nodes = place.world_size;
  if (options.node_rank < 0) options.node_rank = options.nodes == place.world_size ? place.rank : 0;
  HB_CHECK(options.node_rank < options.nodes, "[run] expected a node rank below ", options.nodes, ", got ",
           options.node_rank);
  if (options.nodes == 1) {
    if (options.master_address.empty()) options.master_address = "127.0.0.1";
    return;
  }
  if (options.master_address.empty())
    options.master_address = place.world_size > 1 ? place.master_address : variable("MASTER_ADDR");
  if (options.master_port == 0) options.master_port = place.master_port;
  HB_CHECK(!options.master_address.empty(),
           "[run] expected --master-addr or the variable MASTER_ADDR, the address of the first of ", options.nodes,
           " nodes");
  HB_CHECK(options.max_restarts == 0,
           "[run] expected --max-restarts with one node or --hosts: a launcher per node does not know of the others");
}

void set_threads(int processes, std::map<std::string, std::string>& variables) {
  if (processes > 1 && variable("OMP_NUM_THREADS").empty()) variables["OMP_NUM_THREADS"] = "1";
}

// Workers of one node, as torchrun tells them.
std::vector<WorkerPlan> workers_of(const Run& run, int attempt, int port, int node, int nodes, int first, int local,
                                   int world) {
  std::vector<WorkerPlan> plans;
  const auto text = [](int n) { return std::to_string(n); };
  for (int i = 0; i < local; ++i) {
    WorkerPlan plan;
    plan.name = "rank " + text(first + i), plan.label = "[" + text(first + i) + "] ";
    plan.arguments = run.options.command;
    plan.variables = {{"RANK", text(first + i)},
                      {"LOCAL_RANK", text(i)},
                      {"WORLD_SIZE", text(world)},
                      {"LOCAL_WORLD_SIZE", text(local)},
                      {"GROUP_RANK", text(node)},
                      {"GROUP_WORLD_SIZE", text(nodes)},
                      {"ROLE_RANK", text(first + i)},
                      {"ROLE_WORLD_SIZE", text(world)},
                      {"ROLE_NAME", "default"},
                      {"MASTER_ADDR", run.options.master_address},
                      {"MASTER_PORT", text(port)},
                      {"TORCHELASTIC_RESTART_COUNT", text(attempt)},
                      {"TORCHELASTIC_MAX_RESTARTS", text(run.options.max_restarts)},
                      {"TORCHELASTIC_RUN_ID", run.id},
                      {"TORCHELASTIC_USE_AGENT_STORE", "False"}};
    if (!run.secret.empty()) plan.variables["HALFBRIDGE_SECRET"] = run.secret;
    set_threads(local, plan.variables);
    if (first + i == 0 && !::isatty(STDIN_FILENO)) plan.input = WorkerPlan::Input::kInherited;
    plans.push_back(std::move(plan));
  }
  return plans;
}

void add_forwarded(const RunOptions& options, std::map<std::string, std::string>& variables) {
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const size_t end = text.find('=');
    for (const char* prefix : kForwardedPrefixes)
      if (text.rfind(prefix, 0) == 0 && end != std::string::npos)
        variables.emplace(text.substr(0, end), text.substr(end + 1));
  }
  for (const std::string& text : options.forwarded) {
    const size_t end = text.find('=');
    const std::string name = text.substr(0, end);
    if (end != std::string::npos)
      variables[name] = text.substr(end + 1);
    else if (std::getenv(name.c_str()))
      variables[name] = variable(name.c_str());
  }
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::vector<WorkerPlan> agents_of(const Run& run, int attempt) {
  const auto hosts = hosts_of(run.options);
  int world = 0, first = 0;
  for (const Host& host : hosts) world += host.processes;
  std::vector<WorkerPlan> agents;
  for (size_t node = 0; node < hosts.size(); ++node) {
    const Host& host = hosts[node];
    auto workers = workers_of(run, attempt, run.options.master_port, static_cast<int>(node),
                              static_cast<int>(hosts.size()), first, host.processes, world);
    for (WorkerPlan& w : workers) {
      w.input = WorkerPlan::Input::kNone;
      add_forwarded(run.options, w.variables);
    }
    first += host.processes;
    WorkerPlan agent;
    agent.name = "host " + host.name, agent.reports_itself = true;
    std::istringstream words(run.options.ssh);
    for (std::string word; words >> word;) agent.arguments.push_back(word);
    if (host.name == "localhost")
      agent.arguments = {run.options.remote_program, "run", "--agent"};
    else
      agent.arguments.insert(agent.arguments.end(), {host.name, quoted(run.options.remote_program) + " run --agent"});
    agent.input = WorkerPlan::Input::kText;
    agent.text = to_line(workers, std::filesystem::current_path().string(), run.options.grace);
    agents.push_back(std::move(agent));
  }
  return agents;
}

}  // namespace

Run make_run(RunOptions options) {
  HB_CHECK(!options.command.empty(), "[run] expected a program");
  HB_CHECK(options.hosts.empty() || options.nodes == 0, "[run] expected --hosts or --nnodes, not both");
  Run run;
  if (options.hosts.empty())
    read_environment(options);
  else
    check_hosts(options);
  if (options.remote_program.empty()) options.remote_program = std::filesystem::read_symlink("/proc/self/exe").string();
  if (!options.hosts.empty() && options.master_port == 0) options.master_port = 29500;
  run.id = variable("TORCHELASTIC_RUN_ID").empty() ? random_text() : variable("TORCHELASTIC_RUN_ID");
  run.secret = variable("HALFBRIDGE_SECRET");
  if (run.secret.empty() && (options.nodes == 1 || !options.hosts.empty())) run.secret = random_text();
  run.options = std::move(options);
  return run;
}

std::vector<WorkerPlan> plan_attempt(const Run& run, int attempt) {
  const RunOptions& o = run.options;
  if (!o.hosts.empty()) return agents_of(run, attempt);
  const int port = o.master_port ? o.master_port : free_port();
  return workers_of(run, attempt, port, o.node_rank, o.nodes, o.node_rank * o.processes, o.processes,
                    o.nodes * o.processes);
}

}  // namespace hb::cli
