// halfbridge devices -- PROGRAM [ARGS...]
#include <filesystem>
#include <optional>
#include <string>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

#include "command.h"
#include "diff.h"
#include "temporary.h"
#include "traced_run.h"

namespace hb::cli {
namespace {

using namespace hb::layer_diff;

constexpr const char* kHelp =
    R"(Runs PROGRAM twice and records its layers: first on the CPU, where torch::cuda::is_available() returns false, then on CUDA.
PROGRAM must be built with Halfbridge and is otherwise unchanged. `{device}` in its arguments becomes `cpu` in the first run and
`cuda` in the second. The runs are then compared layer by layer; dropout uses the masks of the first run.)";

constexpr const char* kExamples = R"(Examples:
  halfbridge devices -- ./train --device {device}
  halfbridge devices --html page.html -- ./train     a program that uses CUDA if it is available
  halfbridge devices --keep runs/ -- ./train         keeps both traces, in runs/cpu and runs/cuda

Random numbers drawn on the device (such as torch::rand on CUDA) differ between CPU and CUDA: then inputs or weights differ.

Exit status: 0 all agree, 1 some differ, 2 could not run.)";

std::vector<std::string> on_device(std::vector<std::string> program, const std::string& device) {
  constexpr std::string_view kPlace = "{device}";
  for (std::string& argument : program)
    for (size_t at; (at = argument.find(kPlace)) != std::string::npos;) argument.replace(at, kPlace.size(), device);
  return program;
}

/// Says why there is no CUDA device.
void check_cuda() {
  try {
    (void)empty({0}, TensorOptions().device(kCUDA));
  } catch (const Error& e) {
    const std::string text = e.msg();
    HB_CHECK(false, "[devices]", text.substr(text.find(']') + 1));
  }
}

int compare_devices(const std::vector<std::string>& program, const std::string& folder, const DiffOptions& options) {
  check_cuda();
  namespace fs = std::filesystem;
  fs::create_directories(folder);
  const auto cpu = traced_run("devices", on_device(program, "cpu"), (fs::path(folder) / "cpu").string(), nullptr,
                              {{"HALFBRIDGE_CUDA_LIBRARY", "none"}});
  const auto cuda = traced_run("devices", on_device(program, "cuda"), (fs::path(folder) / "cuda").string(), cpu.get(),
                               {{"HALFBRIDGE_TRACE_DEVICE", "cuda"}});
  HB_CHECK(cuda->end().rfind("nothing was", 0) != 0, "[devices] '", program[0], "': ", cuda->end(),
           ": expected an argument {device}, or a program that takes CUDA where it is available");
  return run_diff(cpu, cuda, options, steps_text);
}

}  // namespace

void add_devices(CLI::App& app, int& exit) {
  struct Options {
    DiffOptions diff;
    std::string keep;
    std::vector<std::string> program;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("devices", "Run a program on the CPU and on CUDA and compare the runs layer by layer");
  command->footer(std::string(kHelp) + "\n\n" + kExamples);
  command->add_option("PROGRAM", options->program, "The program and its arguments, after --")
      ->required()
      ->type_name("");
  command->add_option("--keep", options->keep, "Keep both traces in this folder")->type_name("DIR");
  add_diff_options(*command, options->diff);
  command->callback([options, &exit] {
    std::optional<TemporaryFolder> temporary;
    if (options->keep.empty()) temporary.emplace("halfbridge-devices");
    exit = compare_devices(options->program, temporary ? temporary->path() : options->keep, options->diff);
  });
}

}  // namespace hb::cli
