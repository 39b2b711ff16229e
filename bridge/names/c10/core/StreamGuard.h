#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/stream_guard.h>
