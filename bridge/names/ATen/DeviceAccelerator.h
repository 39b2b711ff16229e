#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/accelerator.h>
