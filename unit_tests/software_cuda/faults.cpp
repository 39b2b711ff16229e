// A lane that touches memory which is not its own ends its kernel; host code that touches the device's memory ends the
// program, with a sentence.
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "software_cuda/lanes.h"
#include "software_cuda/memory.h"

namespace software_cuda {
namespace {

struct sigaction before;
const void* touched;

[[noreturn]] void end_kernel() { fail_lane("touched %s", describe(touched).c_str()); }

void on_fault(int signal, siginfo_t* info, void* context) {
  if (is_device(info->si_addr) && open_touched(info->si_addr)) return;  // the access happens again
  auto* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (in_kernel()) {  // goes on in end_kernel, on the lane's stack
    touched = info->si_addr;
    registers[REG_RSP] = (registers[REG_RSP] - 256) / 16 * 16 - 8;
    registers[REG_RIP] = reinterpret_cast<greg_t>(&end_kernel);
    return;
  }
  if (is_device(info->si_addr)) {
    static const char text[] = "software CUDA: host code touched the device's memory\n";
    [[maybe_unused]] const auto written = write(2, text, sizeof text - 1);
  }
  if (before.sa_flags & SA_SIGINFO && before.sa_sigaction) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  sigaction(signal, &before, nullptr);  // the access happens again, and ends the program
}

}  // namespace

void watch_faults() {
  struct sigaction now {};
  sigaction(SIGSEGV, nullptr, &now);
  if (now.sa_sigaction == on_fault) return;
  before = now;
  now = {};
  now.sa_sigaction = on_fault;
  now.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &now, nullptr);
}

[[maybe_unused]] static const bool watched = (watch_faults(), true);

}  // namespace software_cuda
