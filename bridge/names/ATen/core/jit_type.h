#pragma once
#include <ATen/core/ivalue.h>
#include <halfbridge/bridge/dispatch/function_schema.h>
#include <halfbridge/future.h>
#include <halfbridge/tensor_type.h>
#include <halfbridge/type_tree.h>
#include <halfbridge/weak_ivalue.h>
