#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/env.h>

namespace c10::utils {
using namespace hb::bridge::utils;
}
namespace torch::utils {  // hides c10's
using namespace c10::utils;
}
