#pragma once
#include <halfbridge/bridge/dlpack_layout.h>
