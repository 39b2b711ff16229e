#include "process.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include <halfbridge/error.h>

extern char** environ;

namespace hb::cli {

int run_program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& variables) {
  HB_CHECK(!arguments.empty(), "[run] expected a program");
  std::vector<std::string> entries;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!variables.count(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);

  const auto pointers = [](const std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
  };
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0].c_str(), nullptr, nullptr, pointers(arguments).data(),
                                  pointers(entries).data());
  HB_CHECK(failed == 0, "[run] cannot start '", arguments[0], "': ", std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    HB_CHECK(errno == EINTR, "[run] cannot wait for '", arguments[0], "': ", std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace hb::cli
