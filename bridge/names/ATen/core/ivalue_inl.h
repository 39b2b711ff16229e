#pragma once
#include <ATen/core/ivalue.h>
#include <halfbridge/future.h>
#include <halfbridge/weak_ivalue.h>
