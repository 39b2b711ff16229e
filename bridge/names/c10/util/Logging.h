#pragma once
// Macros as those of LibTorch without glog. A program that brings its own keeps them.
#include <c10/util/check_macros.h>
#include <halfbridge/bridge/logging.h>

#define HB_LOG(severity) ::hb::bridge::LogMessage(__FILE__, __LINE__, severity).stream()
#define HB_LOG_UNLESS(condition, severity) (condition) ? (void)0 : ::hb::bridge::LogVoid() & HB_LOG(severity)

#ifndef LOG
#define LOG(n) HB_LOG(::hb::bridge::log_severity::n)
#define LOG_IF(n, condition) HB_LOG_UNLESS(!(condition), ::hb::bridge::log_severity::n)
#define VLOG(n) HB_LOG(-(n))
#define VLOG_IF(n, condition) HB_LOG_UNLESS(!(condition), -(n))
#define VLOG_IS_ON(n) true
#ifdef NDEBUG
#define DLOG(n) HB_LOG_UNLESS(true, ::hb::bridge::log_severity::n)
#else
#define DLOG(n) LOG(n)
#endif
#endif
#ifndef CHECK
#define CHECK(condition) HB_LOG_UNLESS(condition, ::hb::bridge::log_severity::FATAL) << "Check failed: " #condition " "
#ifdef NDEBUG
#define DCHECK(condition) HB_LOG_UNLESS(true || (condition), ::hb::bridge::log_severity::FATAL)
#else
#define DCHECK(condition) CHECK(condition)
#endif
#endif
#define C10_LOG_FIRST_N(severity, n) LOG(severity)
#define C10_LOG_EVERY_N(severity, n) LOG(severity)
#define C10_LOG_EVERY_MS(severity, ms) LOG(severity)
#define CAFFE_ENFORCE(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_THROW(...) AT_ERROR(__VA_ARGS__)
