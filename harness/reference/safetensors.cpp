// Reads and writes with one pass over the data; everything in a header is checked before it is
// used.
#include "reference/safetensors.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/files.h"

namespace kb {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<const char*, at::ScalarType>, 8> types{{{"F64", at::kDouble},
                                                                       {"F32", at::kFloat},
                                                                       {"F16", at::kHalf},
                                                                       {"BF16", at::kBFloat16},
                                                                       {"I64", at::kLong},
                                                                       {"I32", at::kInt},
                                                                       {"U8", at::kByte},
                                                                       {"BOOL", at::kBool}}};

at::ScalarType type_of(const std::string& text) {
  for (const auto& [name, type] : types) {
    if (text == name) return type;
  }
  throw std::runtime_error("dtype " + text + " is not supported");
}

const char* name_of(at::ScalarType wanted) {
  for (const auto& [name, type] : types) {
    if (type == wanted) return name;
  }
  throw std::runtime_error(std::string("cannot store ") + c10::toString(wanted));
}

// The size of a tensor whose shape a file claims.
uint64_t bytes_of(const std::vector<int64_t>& shape, at::ScalarType type) {
  uint64_t bytes = c10::elementSize(type);
  for (const int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      throw std::runtime_error("the shape is negative or larger than any file");
    }
  }
  return bytes;
}

at::Tensor read_tensor(std::ifstream& in, const Json& entry, uint64_t data_start,
                       uint64_t file_bytes) {
  const at::ScalarType type = type_of(entry.at("dtype"));
  const std::vector<int64_t> shape = entry.at("shape");
  const std::vector<uint64_t> range = entry.at("data_offsets");
  const uint64_t bytes = bytes_of(shape, type);
  if (range.size() != 2 || range[0] > range[1] || range[1] - range[0] != bytes ||
      range[1] > file_bytes - data_start) {
    throw std::runtime_error("offsets do not fit shape and file");
  }
  at::Tensor tensor = at::empty(shape, type);
  in.seekg(static_cast<std::streamoff>(data_start + range[0]));
  in.read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(bytes));
  if (!in) throw std::runtime_error("the data is cut short");
  return tensor;
}

}  // namespace

std::map<std::string, at::Tensor> read_safetensors(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::string name;
  try {
    const uint64_t file_bytes = fs::file_size(path);
    uint64_t header_bytes = 0;
    in.read(reinterpret_cast<char*>(&header_bytes), sizeof header_bytes);
    if (!in || header_bytes > file_bytes - sizeof header_bytes) {
      throw std::runtime_error("the header is cut short");
    }
    std::string header(header_bytes, '\0');
    in.read(header.data(), static_cast<std::streamsize>(header_bytes));
    std::map<std::string, at::Tensor> tensors;
    const Json parsed = Json::parse(header);
    for (const auto& [key, entry] : parsed.items()) {
      if (key == "__metadata__") continue;
      name = key;
      tensors[key] = read_tensor(in, entry, sizeof header_bytes + header_bytes, file_bytes);
    }
    return tensors;
  } catch (const std::exception& error) {
    throw std::runtime_error(path.string() + " is not a valid safetensors file" +
                             (name.empty() ? "" : " (tensor '" + name + "')") + ": " +
                             error.what());
  }
}

void require_replaceable(const fs::path& path) {
  // A rename would put a file in the place of a device, a pipe or /dev/stdout.
  if (fs::exists(path) && !fs::is_regular_file(path)) {
    throw std::runtime_error("cannot write " + path.string() +
                             ": it is no regular file; name one, or a new one");
  }
}

void write_safetensors(const fs::path& path,
                       const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  Json header = Json::object();
  uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const uint64_t bytes = tensor.nbytes();
    header[name] = {{"dtype", name_of(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {end, end + bytes}}};
    end += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data starts aligned
  require_replaceable(path);
  fs::path target = path;  // links stay links, those to a file that does not exist yet as well
  while (fs::is_symlink(target)) target = target.parent_path() / fs::read_symlink(target);
  FileReplacement file(target);
  const uint64_t header_bytes = text.size();
  file.write({reinterpret_cast<const char*>(&header_bytes), sizeof header_bytes});
  file.write(text);
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor data = tensor.cpu().contiguous();
    file.write({static_cast<const char*>(data.data_ptr()), data.nbytes()});
  }
  file.commit();
}

}  // namespace kb
