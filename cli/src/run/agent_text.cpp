#include <nlohmann/json.hpp>

#include <halfbridge/error.h>

#include "plan.h"

namespace hb::cli {

using Json = nlohmann::json;

std::string to_line(const std::vector<WorkerPlan>& workers, const std::string& directory, double grace) {
  Json list = Json::array();
  for (const WorkerPlan& w : workers)
    list.push_back({{"name", w.name}, {"label", w.label}, {"arguments", w.arguments}, {"variables", w.variables}});
  // Names of files may be in any encoding: what is not UTF-8 is refused rather than changed.
  try {
    return Json({{"directory", directory}, {"grace", grace}, {"workers", std::move(list)}}).dump() + '\n';
  } catch (const Json::type_error& e) {
    HB_CHECK(false,
             "[run] expected arguments, variables and a folder in UTF-8 for other hosts, got others: ", e.what());
  }
}

AgentPlan from_line(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    AgentPlan plan;
    plan.directory = json.at("directory"), plan.grace = json.at("grace");
    for (const Json& item : json.at("workers")) {
      WorkerPlan w;
      w.name = item.at("name"), w.label = item.at("label");
      w.arguments = item.at("arguments").get<std::vector<std::string>>();
      w.variables = item.at("variables").get<std::map<std::string, std::string>>();
      plan.workers.push_back(std::move(w));
    }
    return plan;
  } catch (const Json::exception& e) {
    HB_CHECK(false,
             "[run] expected the plan of a launcher on the standard input, got what does not read as one: ", e.what());
  }
}

}  // namespace hb::cli
