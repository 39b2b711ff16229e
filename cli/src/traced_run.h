// Running a program while its layers are recorded.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <halfbridge/diff/report.h>
#include <halfbridge/diff/trace.h>

namespace hb::cli {

/// Runs a program with its trace in `folder` and these variables, and opens the trace. With a reference the same steps
/// are recorded, and dropout takes its masks from there where it has them. Throws "[command] …" where the program ends
/// with another status than 0 or leaves no trace.
std::shared_ptr<const layer_diff::Trace> traced_run(const std::string& command, const std::vector<std::string>& program,
                                                    const std::string& folder,
                                                    const layer_diff::Trace* reference = nullptr,
                                                    std::map<std::string, std::string> variables = {});

/// The five steps of a comparison, a line each.
std::string steps_text(const layer_diff::Report& report);

}  // namespace hb::cli
