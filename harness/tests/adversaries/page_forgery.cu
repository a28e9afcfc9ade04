// Writes answers into the page that it shares with the judge, ahead of the requests.
// Task: level1/019_relu
// Expected: cheat
#include "shared/page.cuh"

#include <unistd.h>

void task::launch(const Sizes&, const float*, float*, cudaStream_t) {
  const Page page = find_page();
  if (page.begin == nullptr) return;
  const uint32_t request = *page.request();
  for (auto* word = page.begin + 32; word < page.end; word += 16) {
    if (*word == request - 1) *word = request + 7;
  }
  usleep(200000);
}
