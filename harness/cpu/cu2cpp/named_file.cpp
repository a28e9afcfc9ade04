#include "named_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace kb::cu2cpp {

std::string text_of(const std::string& name) {
  constexpr std::size_t most = 16 << 20;
  std::string text;
  // Opening a pipe waits for whoever writes into it.
  const int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return text;
  struct stat status {};
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    std::array<char, 1 << 16> chunk;
    for (ssize_t n; text.size() < most && (n = read(fd, chunk.data(), chunk.size())) > 0;)
      text.append(chunk.data(), static_cast<std::size_t>(n));
  }
  close(fd);
  return text;
}

std::string line_of(const std::string& name, int number) {
  const std::string text = text_of(name);
  std::size_t start = 0;
  for (int i = 1; i < number; ++i) {
    start = text.find('\n', start);
    if (start++ == std::string::npos) return "";
  }
  return text.substr(start, text.find('\n', start) - start);
}

}  // namespace kb::cu2cpp
