// What an Error says.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "heed/base/error.h"

namespace heed::test {

// Of a usage error; empty if nothing is thrown.
inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
    return error.what();
  }
  return "";
}

}  // namespace heed::test

#define EXPECT_SAYS(call, part)                                                                    \
  do {                                                                                             \
    const std::string message = ::heed::test::message_of([&] { call; });                           \
    EXPECT_NE(message.find(part), std::string::npos) << "'" << message << "' instead of " << part; \
  } while (false)
