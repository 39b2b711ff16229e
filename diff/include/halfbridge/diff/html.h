// A report as a page for the browser.
#pragma once

#include <string>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

/// One self-contained page: works from a file, asks the network for nothing. It opens at the first divergence. Names
/// from traces are shown as text, whatever they hold.
std::string html_page(const Report& report);

}  // namespace hb::layer_diff
