#pragma once
#include <c10/names.h>
#include <halfbridge/stream.h>
