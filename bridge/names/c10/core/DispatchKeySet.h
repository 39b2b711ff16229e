#pragma once
#include <c10/names.h>
#include <halfbridge/dispatch_key_set.h>
