// `halfbridge port`: what of LibTorch a source tree uses, and what of that needs an edit.

#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include <halfbridge/io/keys.h>

#include "command.h"
#include "port/uses.h"

namespace hb::cli {

namespace {

struct Options {
  std::string folder;
  bool json = false, plain = false, all = false;
};

constexpr std::array kKinds = {"name", "method of Tensor", "method", "macro", "header", "build"};
constexpr size_t kPlacesShown = 12;

// File names may hold anything: nothing of it reaches the terminal's control sequences.
using io::printable;

/// `a.cpp:3, 7; b.cpp:1`
std::string places_of(const port::Use& use, bool all) {
  std::string text, file;
  const size_t shown = all ? use.places.size() : std::min(use.places.size(), kPlacesShown);
  for (size_t i = 0; i < shown; ++i) {
    const port::Place& place = use.places[i];
    if (place.file == file) {
      text += fmt::format(", {}", place.line);
    } else {
      text += fmt::format("{}{}:{}", text.empty() ? "" : "; ", printable(place.file), place.line);
      file = place.file;
    }
  }
  if (shown < use.places.size()) text += fmt::format("; {} more (--all)", use.places.size() - shown);
  return text;
}

void print_use(const port::Use& use, const Options& options) {
  const auto style = [&](fmt::terminal_color color) { return options.plain ? fmt::text_style() : fmt::fg(color); };
  if (!use.limit.empty()) {
    fmt::print("{} {}  {}\n", fmt::format(style(fmt::terminal_color::yellow), "less  "), use.name,
               places_of(use, options.all));
    fmt::print("         compiles: {}\n", use.limit);
    return;
  }
  if (use.supported) {
    fmt::print("{} {}  {}\n", fmt::format(style(fmt::terminal_color::green), "has   "), use.name,
               places_of(use, false));
    return;
  }
  fmt::print("{} {}  {}\n", fmt::format(style(fmt::terminal_color::red), "edit  "), use.name,
             places_of(use, options.all));
  if (!use.sure) fmt::print("         if the object is a Tensor, which the source does not show\n");
  fmt::print("         instead: {}\n", use.instead.empty() ? "nothing stands in for it" : use.instead);
}

std::string summary(const port::Uses& uses) {
  const size_t files = uses.files_to_edit().size();
  const std::string edits = fmt::format("{} of {} names, {} {} edits", uses.missing(), uses.names(), files,
                                        files == 1 ? "file needs" : "files need");
  if (uses.limited() == 0) return edits;
  return edits + fmt::format("; {} more {} less than in LibTorch", uses.limited(), uses.limited() == 1 ? "does" : "do");
}

void print_text(const port::Uses& uses, const Options& options) {
  for (const port::Use& use : uses.all)
    if (!use.supported || !use.limit.empty() || options.all) print_use(use, options);
  for (const std::string& file : uses.cuda_sources)
    fmt::print("note   {}: CUDA source, which nvcc compiles with Halfbridge's headers\n", printable(file));
  for (const std::string& note : uses.notes) fmt::print("note   {}\n", printable(note));
  fmt::print("{}\n", summary(uses));
}

void print_json(const port::Uses& uses) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const port::Use& use : uses.all) {
    nlohmann::ordered_json places = nlohmann::ordered_json::array();
    for (const port::Place& place : use.places) places.push_back({{"file", place.file}, {"line", place.line}});
    nlohmann::ordered_json entry = {
        {"name", use.name}, {"kind", kKinds[use.kind]}, {"supported", use.supported}, {"sure", use.sure}};
    if (!use.supported) entry["instead"] = use.instead;
    if (!use.limit.empty()) entry["limit"] = use.limit;
    entry["places"] = std::move(places);
    names.push_back(std::move(entry));
  }
  const nlohmann::ordered_json report = {{"names", uses.names()},
                                         {"missing", uses.missing()},
                                         {"limited", uses.limited()},
                                         {"files", uses.files},
                                         {"files_to_edit", uses.files_to_edit()},
                                         {"cuda_sources", uses.cuda_sources},
                                         {"notes", uses.notes},
                                         {"summary", summary(uses)},
                                         {"uses", std::move(names)}};
  fmt::print("{}\n", report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

void add_port(CLI::App& app, int& exit) {
  CLI::App* command =
      app.add_subcommand("port", "List which LibTorch names a source tree uses, and which need an edit");
  command->footer(
      "Reads C++, CUDA and CMake files below DIR without a compiler. It lists names of torch::, at:: and c10:: (also "
      "through\n"
      "aliases and using-directives), macros, headers, and methods of Tensors and modules as far as the source shows "
      "what\n"
      "an object is. It does not distinguish overloads: a name counts as supported if one of its forms is.\n"
      "`edit` marks a name that Halfbridge lacks; `less` one that compiles and does less than in LibTorch (it throws "
      "when\n"
      "called, for example), which needs an edit only if the program reaches it.\n"
      "Exit status: 0 nothing needs an edit, 1 something does, 2 could not run.\n"
      "Example: halfbridge port ~/my_program --all");
  auto options = std::make_shared<Options>();
  command->add_option("DIR", options->folder, "A source tree or a single file")->required();
  command->add_flag("--json", options->json, "Print everything as JSON");
  command->add_flag("--plain", options->plain, "No colours; the default in a pipe or if NO_COLOR is set");
  command->add_flag("--all", options->all, "Also list supported names, and every place");
  command->callback([options, &exit] {
    const port::Uses uses = port::find_uses(options->folder);
    options->plain |= !isatty(STDOUT_FILENO) || std::getenv("NO_COLOR");
    if (options->json)
      print_json(uses);
    else
      print_text(uses, *options);
    exit = uses.files_to_edit().empty() ? kAgrees : kDiffers;
  });
}

}  // namespace hb::cli
