#pragma once
#include <halfbridge/bridge/dispatch/not_implemented_fallback.h>
#include <torch/library.h>
