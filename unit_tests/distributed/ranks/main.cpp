#include <gtest/gtest.h>
#include <halfbridge/distributed/init.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  hb::distributed::InitOptions options;
  options.timeout = std::chrono::seconds(60);
  const char* engine = std::getenv("HALFBRIDGE_TEST_ENGINE");
  hb::distributed::init(engine ? engine : "gloo", options);
  const int status = RUN_ALL_TESTS();
  hb::distributed::destroy();
  return status;
}
