# What a CDash server gets to know, for those who have one (docs/nightly.md). Without a URL nothing is sent anywhere.
set(CTEST_PROJECT_NAME "KernelBench Native")
set(CTEST_NIGHTLY_START_TIME "00:00:00 UTC")
if(NOT CTEST_SUBMIT_URL)
  set(CTEST_SUBMIT_URL "$ENV{KB_CDASH_URL}")
endif()
