// Runs the cases of one build and writes what they recorded.
#include <execinfo.h>
#include <unistd.h>
#include <csetjmp>
#include <csignal>
#include <cstring>

#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "recorder.h"
#if __has_include(<halfbridge/graph.h>)
#include "../../../unit_tests/software_cuda/cpu_random.h"
#endif

namespace parity {
namespace {

char current_case[256] = "";
// While a case runs on a device whose memory the host cannot read: where to go on after it was read.
sigjmp_buf after_fault;
volatile bool faults_end_cases = false;

struct Options {
  std::string out, filter;
  bool list = false;
  bool any_device = false;  // what runs on every device, alone
  std::set<std::string> skipped;
};

// A case a line, and after a blank why it is left out.
std::set<std::string> names_in(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("cannot read " + path);
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') names.insert(line.substr(0, line.find(' ')));
  return names;
}

void report_crash(int signal) {
  const char text[] = "\nCRASHED in ";
  (void)!write(2, text, sizeof text - 1);
  (void)!write(2, current_case, std::strlen(current_case));
  (void)!write(2, "\n", 1);
  if (signal == SIGSEGV && faults_end_cases) {
    void* frames[24];
    backtrace_symbols_fd(frames, backtrace(frames, 24), 2);
    siglongjmp(after_fault, 1);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--list") {
      options.list = true;
    } else if (arg == "--exact") {
      exact_mode() = true;
    } else if (arg == "--device" && i + 1 < argc) {
      input_device() = torch::Device(argv[++i]);
      options.any_device = true;
      if (input_device().is_cuda()) at::globalContext().setAllowTF32CuDNN(false);  // the CPU rounds nothing
#if __has_include(<halfbridge/graph.h>)
    } else if (arg == "--draw-on-cpu") {  // behind --device cuda
      if (!torch::cuda::is_available()) throw std::invalid_argument("--draw-on-cpu expects a CUDA device");
      software_cuda::draw_on_cpu();
#endif
    } else if (arg == "--skip" && i + 1 < argc) {
      options.skipped = names_in(argv[++i]);
    } else if ((arg == "--out" || arg == "--filter") && i + 1 < argc) {
      (arg == "--out" ? options.out : options.filter) = argv[++i];
    } else {
      throw std::invalid_argument(
          "unknown argument '" + arg +
          "'; known: --out FILE --filter TEXT --list --exact --device NAME --draw-on-cpu --skip FILE");
    }
  }
  return options;
}

// Cases that other devices than the CPU are spared: they read or write memory themselves, or name the CPU.
const std::map<std::string, std::string> kHostCases{
    {"aliases.packed_accessors", "accessors"},
    {"factories.accessors", "accessors"},
    {"factories.options", "names the CPU"},
    {"registration_errors.wrong_calls", "functions registered for the CPU alone"},
    {"tensor_records.memory", "puts memory of the host's behind tensors"},
    {"tensor_functions.about", "names the CPU"},
    {"tensor_records.options", "names the CPU"},
};

// A filter that ends in a dot names a family; any other is looked for anywhere in the name.
bool matches(const std::string& name, const std::string& filter) {
  const auto at = name.find(filter);
  return !filter.empty() && filter.back() == '.' ? at == 0 : at != std::string::npos;
}

// True when the case ran through without a failure.
bool run_case(const RegisteredCase& entry) {
  std::strncpy(current_case, entry.full_name().c_str(), sizeof current_case - 1);
  torch::manual_seed(17);
  Case c(entry.full_name());
  faults_end_cases = !input_device().is_cpu();
  if (sigsetjmp(after_fault, 1) != 0) {
    std::cout << "FAILED " << entry.full_name() << ": host code read or wrote the device's memory\n";
    return false;
  }
  try {
    entry.body(c);
  } catch (const std::exception& error) {
    c.fail(std::string("threw ") + error.what());
  }
  for (const auto& failure : c.failures()) std::cout << "FAILED " << failure << "\n";
  return c.failures().empty();
}

int run(const Options& options) {
  int ran = 0, failed = 0;
  std::set<std::string> seen;
  for (const auto& entry : registered_cases()) {
    const std::string name = entry.full_name();
    if (!seen.insert(name).second) throw std::invalid_argument("two cases are named " + name);
    if (!matches(name, options.filter)) continue;
    if (options.any_device && kHostCases.count(name)) continue;
    if (options.skipped.count(name)) continue;
    if (options.list) {
      std::cout << name << "\n";
      continue;
    }
    ++ran;
    failed += !run_case(entry);
    recorder().add_metadata("case:" + name, "");
  }
  if (options.list) return 0;
  if (!options.out.empty()) recorder().write(options.out);
  std::cout << ran << " cases ran, " << failed << " failed" << std::endl;
  if (ran == 0) std::cout << "no case matches '" << options.filter << "'" << std::endl;
  return failed == 0 && ran > 0 ? 0 : 1;
}

}  // namespace

std::vector<RegisteredCase>& registered_cases() {
  static std::vector<RegisteredCase> cases;
  return cases;
}

Registration::Registration(const char* file, const char* family, const char* name, void (*body)(Case&)) {
  const std::string path = file, expected = std::string("/") + family + "_cases.cpp";
  if (path.size() < expected.size() || path.compare(path.size() - expected.size(), expected.size(), expected) != 0) {
    std::cerr << file << ": case " << family << "." << name << " belongs in " << family << "_cases.cpp\n";
    std::exit(2);
  }
  registered_cases().push_back({family, name, body});
}

}  // namespace parity

int main(int argc, char** argv) {
#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer reports crashes itself
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, parity::report_crash);
#endif
  try {
    return parity::run(parity::parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << std::endl;
    return 2;
  }
}
