#pragma once
#include <ATen/core/ivalue.h>
#include <halfbridge/bridge/dispatch/function_schema.h>
