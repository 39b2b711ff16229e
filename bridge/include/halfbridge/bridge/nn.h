#pragma once
// Modules, functional forms and utilities.

#include <halfbridge/bridge/enum.h>
#include <halfbridge/bridge/expanding_array.h>
#include <halfbridge/bridge/nn/containers/functional_module.h>
#include <halfbridge/bridge/nn/containers/sequential.h>
#if __has_include(<halfbridge/bridge/nn/init.h>)
#include <halfbridge/bridge/nn/init.h>
#endif
