#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/infer_size.h>
