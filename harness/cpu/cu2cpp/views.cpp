// nvcc compiles a file twice: for the host, and for the device with __CUDA_ARCH__ defined. Where
// the two views differ, the program that runs on the CPU needs both.
#include <algorithm>
#include <climits>
#include <utility>

#include "rewrite.hpp"

namespace kb::cu2cpp {
namespace {

class Merger {
 public:
  Merger(Source& device, const Source& host)
      : device_(device),
        host_(host),
        device_partner_(match_brackets(device)),
        host_partner_(match_brackets(host)) {}

  void run() {
    const std::size_t device_end = device_.tokens.size(), host_end = host_.tokens.size();
    std::size_t i = 0, j = 0;
    while (i < device_end || j < host_end) {
      if (!same(i, j)) {
        declarations(i, j);
      } else if (device_.tokens[i].is("{") && device_partner_[i] != none &&
                 host_partner_[j] != none && is_body(i)) {
        body(i, j);
      } else {
        take(device_, i, i + 1);
        ++i, ++j;
      }
    }
    device_.tokens = std::move(merged_);
  }

 private:
  static const std::string& file(const Source& source, const Token& token) {
    return source.files[token.file];
  }
  bool same(std::size_t i, std::size_t j) const {
    if (i >= device_.tokens.size() || j >= host_.tokens.size()) return false;
    const Token &a = device_.tokens[i], &b = host_.tokens[j];
    return a.text == b.text && a.line == b.line && file(device_, a) == file(host_, b);
  }

  /// Appends tokens of one view, whose lines may not follow those of the last one.
  void take(const Source& from, std::size_t first, std::size_t end) {
    const bool jumps = std::exchange(last_, &from) != &from || first != std::exchange(next_, end);
    for (std::size_t i = first; i < end; ++i) {
      Token token = from.tokens[i];
      if (&from == &host_) {
        const std::string& name = file(from, token);
        const auto known = std::find(device_.files.begin(), device_.files.end(), name);
        token.file = static_cast<int>(known - device_.files.begin());
        if (known == device_.files.end()) device_.files.push_back(name);
      }
      if (i == first && jumps)
        token.trivia = device_.made.emplace_back("\n# " + std::to_string(token.line) + " \"" +
                                                 device_.files[token.file] +
                                                 (token.system ? "\" 3\n" : "\"\n"));
      merged_.push_back(token);
    }
  }
  void make(std::string_view text) {
    Token token = merged_.back();
    token.kind = Kind::punctuator;  // nothing that would be rewritten
    token.text = text;
    token.trivia = " ";
    merged_.push_back(token);
  }

  bool mentions(const Source& source, std::size_t from, std::size_t to,
                std::string_view name) const {
    return std::any_of(source.tokens.begin() + from, source.tokens.begin() + to,
                       [&](const Token& token) { return token.is(name); });
  }

  /// Where the declaration with the brace `i` starts.
  std::size_t start(std::size_t i) const {
    while (i > 0 && !device_.tokens[i - 1].is(";") && !device_.tokens[i - 1].is("{") &&
           !device_.tokens[i - 1].is("}"))
      --i;
    return i;
  }
  /// True for the brace of a function, false for that of a class, a namespace or a list.
  bool is_body(std::size_t brace) const {
    bool parameters = false;
    for (std::size_t i = brace, first = start(brace); i-- > first && !device_.tokens[i].is("=");) {
      const Token& token = device_.tokens[i];
      const bool of_template =
          i > 0 && (device_.tokens[i - 1].is("<") || device_.tokens[i - 1].is(","));
      if (!of_template &&
          (token.is("struct") || token.is("class") || token.is("union") || token.is("enum")))
        return false;
      const std::size_t open = device_partner_[i];
      if (!token.is(")") || open == none || open == 0) continue;
      parameters |= !is_attribute(device_.tokens[open - 1]);
      i = open;
    }
    return parameters;
  }

  /// The bodies at the braces i and j: of two different ones the side decides on which the function
  /// runs, and for a function of both sides the caller.
  void body(std::size_t& i, std::size_t& j) {
    const std::size_t first = start(i), after = device_partner_[i] + 1,
                      host_after = host_partner_[j] + 1;
    bool equal = after - i == host_after - j;
    for (std::size_t k = 0; equal && k < after - i; ++k) equal = same(i + k, j + k);
    const bool on_device = mentions(device_, first, i, "__device__");
    if (equal || (on_device && !mentions(device_, first, i, "__host__")) ||
        mentions(device_, first, i, "__global__")) {
      take(device_, i, after);
    } else if (on_device) {
      make("{");
      make("if (!__builtin_is_constant_evaluated() && ::kb::cpu::in_kernel())");
      take(device_, i, after);
      make("else");
      take(host_, j, host_after);
      make("}");
    } else {
      take(host_, j, host_after);
    }
    i = after, j = host_after;
  }

  /// Declarations that only one view has. Those for the device alone are not the host's business.
  void declarations(std::size_t& i, std::size_t& j) {
    const std::size_t first = i, host_first = j;
    const bool ends = i >= device_.tokens.size();
    const Token at = ends ? host_.tokens[j] : device_.tokens[i];
    while (!same(i, j) && (i < device_.tokens.size() || j < host_.tokens.size())) {
      const int here = i < device_.tokens.size() ? device_.tokens[i].line : INT_MAX;
      const int there = j < host_.tokens.size() ? host_.tokens[j].line : INT_MAX;
      if (here <= there) ++i;
      if (there <= here) ++j;
    }
    const bool host_is_device =
        mentions(host_, host_first, j, "__device__") && !mentions(host_, host_first, j, "__host__");
    if (!balanced(device_partner_, first, i) || !balanced(host_partner_, host_first, j) ||
        (i > first && j > host_first && !host_is_device))
      throw Unsupported(ends ? host_ : device_, at, "declarations that depend on __CUDA_ARCH__");
    take(device_, first, i);
    if (!host_is_device) take(host_, host_first, j);
  }

  static bool balanced(const std::vector<std::size_t>& partner, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if (partner[i] != none && (partner[i] < from || partner[i] >= to)) return false;
    return true;
  }

  Source& device_;
  const Source& host_;
  std::vector<std::size_t> device_partner_, host_partner_;
  std::vector<Token> merged_;
  const Source* last_ = &device_;  ///< the view that was taken from last,
  std::size_t next_ = 0;           ///< and what follows there
};

}  // namespace

void merge_views(Source& device, const Source& host) { Merger(device, host).run(); }

}  // namespace kb::cu2cpp
