#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/dispatch/function_schema.h>
