#pragma once
#include <halfbridge/bridge/dispatch/register_operators.h>
#include <torch/library.h>
