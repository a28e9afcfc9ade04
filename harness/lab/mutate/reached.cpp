#include "lab/mutate/reached.h"

#include <sstream>
#include <stdexcept>

#include "base/files.h"
#include "judge/single/compiler.h"
#include "lab/mutate/subprocess.h"

namespace kb {

namespace fs = std::filesystem;

std::set<int> lines_of_listing(const std::string& listing, const std::string& file) {
  // Each row is: file name, line, address, and more; the name may be cut off at its front.
  std::set<int> lines;
  std::istringstream rows(listing);
  for (std::string row; std::getline(rows, row);) {
    std::istringstream words(row);
    std::string name;
    int line = 0;
    if (words >> name >> line && name == file) lines.insert(line);
  }
  return lines;
}

std::set<int> reached_lines(const fs::path& build_dir, const std::string& task,
                            const std::string& source) {
  const TemporaryDirectory folder;
  fs::create_directory(folder.path() / "object");
  Kernel kernel{task,
                "none",
                {},
                folder.path() / "kernel.cu",
                folder.path() / "object/kernel.cu.o",
                folder.path() / "kernel.so"};
  write_file_atomically(kernel.source, source);
  kernel.is_trusted = true;
  Commands commands = commands_for(kernel, build_dir, [](const std::vector<std::string>& words) {
    const Ran ran = run_program(words);
    if (ran.exit_code != 0) throw std::runtime_error("ninja cannot be run: configure again");
    return ran.output;
  });
  commands.compile.insert(commands.compile.end(), {"-O0", "-g1"});
  const Ran compiled = run_program(commands.compile, build_dir);
  if (compiled.exit_code != 0) throw std::runtime_error("kb_cc failed: " + compiled.output);
  const Ran listed = run_program({"objdump", "--dwarf=decodedline", kernel.object});
  if (listed.exit_code != 0) {
    throw std::runtime_error("objdump cannot be run: install binutils");
  }
  return lines_of_listing(listed.output, "kernel.cu");
}

}  // namespace kb
