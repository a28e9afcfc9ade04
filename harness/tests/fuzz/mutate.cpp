// Where there is no libFuzzer: `<program> <runs> <folder>` changes the files of the folder as a
// fixed seed says and gives them to the program's LLVMFuzzerTestOneInput(). The input of a run that
// ends the program stays in <program>.input.
#include <sanitizer/common_interface_defs.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Random = std::mt19937;

std::string kept, text;

void keep_input() { std::ofstream(kept, std::ios::binary | std::ios::trunc) << text; }

size_t below(Random& random, size_t limit) { return limit == 0 ? 0 : random() % limit; }

// Changes one place of the text: a bit, a byte, a number, its length, or a part that comes from
// elsewhere.
void change(const std::vector<std::string>& corpus, Random& random) {
  const size_t at = below(random, text.size() + 1);
  const size_t length = std::min(1 + below(random, 32), text.size() - at);
  const std::string& other = corpus[below(random, corpus.size())];
  switch (random() % 7) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 2: {  // what counters and offsets are compared with
      constexpr uint64_t edges[] = {0, 1, 8, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX};
      const uint64_t value = edges[below(random, std::size(edges))] - random() % 2;
      const size_t bytes = std::min(size_t{1} << random() % 4, text.size() - at);
      std::copy_n(reinterpret_cast<const char*>(&value), bytes, text.begin() + at);
      break;
    }
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(at, text.substr(below(random, text.size()), length));
      break;
    case 5:
      text.insert(at, other.substr(below(random, other.size()), 1 + below(random, 64)));
      break;
    default:
      if (random() % 8 == 0) text.resize(at);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  kept = std::filesystem::path(argv[0]).filename().string() + ".input";
  __sanitizer_set_death_callback(keep_input);
  std::signal(SIGABRT, [](int) { keep_input(); });  // an assertion's; the program ends all the same
  Random random(1);
  const size_t runs = std::strtoull(argv[1], nullptr, 10);
  for (size_t run = 0; run < runs && !corpus.empty(); ++run) {
    text = corpus[run % corpus.size()];
    // The files themselves come first.
    for (size_t n = run < corpus.size() ? 0 : 1 + random() % 4; n > 0; --n) {
      change(corpus, random);
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }
  std::cout << runs << " runs from " << corpus.size() << " files\n";
  return corpus.empty() ? 1 : 0;
}
