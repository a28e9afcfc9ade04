// The rewrites. All of them work on tokens and keep every line where it was, so that compiler
// messages, sanitizer reports and __LINE__ name the places of the .cu file:
//
//   __global__ void k(float* x) { BODY }    void k(float* x) { kernel("k", [=]() mutable { BODY });
//   } k<T><<<grid, block>>>(x);               k<T>(x), launch(grid, block);
//   __shared__ float a[8][9];               struct t { float a[8][9]; }; static SharedVariable
//   s{...};
//                                           auto& a = static_cast<t*>(s.address())->a;
//   extern __shared__ float d[];            struct t { float d[1]; };
//                                           auto* d = static_cast<t*>(dynamic_shared())->d;
#include "rewrite.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "constants.hpp"

namespace kb::cu2cpp {
namespace {

/// A __shared__ variable declared outside of functions: bound at the start of each function that
/// names it.
struct GlobalShared {
  std::string name;
  std::string binding;
};

class Rewriter {
 public:
  Rewriter(Source& source, bool count_constants)
      : source_(source),
        tokens_(source.tokens),
        partner_(match_brackets(source)),
        count_constants_(count_constants) {}

  void run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      enter_and_leave(i);
      if (tokens_[i].kind == Kind::identifier) identifier(i);
      if (tokens_[i].is("<<<")) launch(i, i + 1);
      // Formatters that do not know CUDA break the brackets: << < and >> >.
      if (tokens_[i].is("<<") && i + 1 < tokens_.size() && tokens_[i + 1].is("<")) launch(i, i + 2);
      if (tokens_[i].is("(") || tokens_[i].is("reinterpret_cast")) untyped_cast(i);
      if (tokens_[i].is("[") && inside_function()) captures(i);
    }
  }

 private:
  struct Scope {
    std::size_t end;
    bool device;                      ///< body of a __global__ or __device__ function
    bool function;                    ///< false: namespace, class or other declaration scope
    std::vector<std::string> shared;  ///< shared variables declared in it
  };

  // --- structure -----------------------------------------------------------------------------

  bool inside_function() const {
    return std::any_of(scopes_.begin(), scopes_.end(),
                       [](const Scope& scope) { return scope.function; });
  }
  bool inside_device() const {
    return std::any_of(scopes_.begin(), scopes_.end(),
                       [](const Scope& scope) { return scope.device; });
  }

  void enter_and_leave(std::size_t i) {
    while (!scopes_.empty() && i >= scopes_.back().end) scopes_.pop_back();
    if (!tokens_[i].is("{") || partner_[i] == none) return;
    const bool device = std::exchange(device_body_, none) == i;
    scopes_.push_back({partner_[i], device, device || inside_function() || opens_function(i),
                       device ? std::exchange(bound_, {}) : std::vector<std::string>{}});
  }

  /// A brace after `)` or after what may follow a parameter list opens a function.
  bool opens_function(std::size_t brace) const {
    if (brace == 0) return false;
    const Token& before = tokens_[brace - 1];
    return before.is(")") || before.is("const") || before.is("noexcept") || before.is("override") ||
           before.is("mutable");
  }

  /// Where the bracket at `i` closes; none if there is no bracket that does.
  std::size_t closing(std::size_t i) const {
    return i < tokens_.size() && partner_[i] != none && partner_[i] > i ? partner_[i] : none;
  }
  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].is(text);
  }

  void erase(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i <= to; ++i) tokens_[i].erased = true;
  }

  std::string text(std::size_t from, std::size_t to, bool with_erased = false) const {
    std::string result;
    for (std::size_t i = from; i < to; ++i) {
      if (tokens_[i].erased && !with_erased) continue;
      if (!result.empty() && !tokens_[i].trivia.empty()) result += ' ';
      result += tokens_[i].text;
    }
    return result;
  }

  [[noreturn]] void unsupported(std::size_t i, const std::string& what) const {
    throw Unsupported(source_, tokens_[i], what);
  }

  // --- keywords ------------------------------------------------------------------------------

  void identifier(std::size_t i) {
    Token& token = tokens_[i];
    if (token.is("asm") || token.is("__asm__") || token.is("__asm")) return assembly(i);
    if (token.system || token.text.size() < 8 || token.text[0] != '_') return;
    if (token.is("__global__")) {
      token.erased = true;
      device_function(i, true);
    } else if (token.is("__device__")) {
      token.erased = true;
      device_function(i, false);
    } else if (token.is("__host__") || token.is("__managed__") || token.is("__grid_constant__")) {
      token.erased = true;
    } else if (token.is("__constant__")) {
      token.erased = true;
      if (count_constants_ && (i == 0 || !tokens_[i - 1].is("extern")))
        token.prefix = constant_section(i);
    } else if (token.is("__shared__")) {
      shared(i);
    } else if (token.is("__launch_bounds__")) {
      if (closing(i + 1) != none) erase(i, closing(i + 1));
    } else if (token.is("__forceinline__")) {
      token.erased = true;
      if (!has_inline(i)) token.prefix = "inline";
    } else if (token.is("__noinline__")) {
      if (i > 0 && (tokens_[i - 1].is("(") || tokens_[i - 1].is(","))) return;  // the GCC attribute
      token.erased = true;
      token.prefix = "__attribute__((noinline))";
    }
  }

  /// True when the declaration around token i has another `inline`, or is a lambda.
  bool has_inline(std::size_t i) const {
    for (std::size_t j = i; j-- > 0;) {
      const Token& token = tokens_[j];
      if (token.is(";") || token.is("}") || token.is("{") || token.is(">")) break;
      if (token.is("]")) return true;
      if (is_inline(token)) return true;
    }
    for (std::size_t j = i + 1; j < tokens_.size(); ++j) {
      const Token& token = tokens_[j];
      if (token.is("(") || token.is("{") || token.is(";")) break;
      if (is_inline(token)) return true;
    }
    return false;
  }

  static bool is_inline(const Token& token) {
    return token.is("inline") || token.is("__inline__") || token.is("__inline") ||
           (token.is("__forceinline__") && !token.prefix.empty());
  }

  void assembly(std::size_t i) {
    if (tokens_[i].system) return;
    std::size_t j = i + 1;
    while (j < tokens_.size() && tokens_[j].kind == Kind::identifier) ++j;  // volatile
    // An empty template is a mere compiler barrier and means the same everywhere.
    if (j + 1 < tokens_.size() && tokens_[j].is("(") && tokens_[j + 1].is("\"\"")) return;
    if (!inside_function() && j < tokens_.size() && tokens_[j].is("(") && i > 0 &&
        tokens_[i - 1].is(")"))
      return;  // a symbol's name: void f() asm("f");
    unsupported(i, "inline PTX");
  }

  // --- kernels and device functions ------------------------------------------------------------

  /// From a `__global__` or `__device__`: finds the body, if this is a function definition.
  void device_function(std::size_t i, bool is_kernel) {
    std::size_t bounds = none, parameters = none, j = i + 1;
    for (std::size_t k = i; k-- > 0;) {  // __launch_bounds__ may also stand in front
      const Token& token = tokens_[k];
      if (token.is(";") || token.is("}") || token.is("{")) break;
      if (token.is("__launch_bounds__")) bounds = k;
    }
    for (; j < tokens_.size(); ++j) {
      const Token& token = tokens_[j];
      if (token.is(";") || token.is("{") || token.is("=")) break;
      if (!token.is("(")) continue;
      const Token& before = tokens_[j - 1];
      if (before.is("__launch_bounds__")) {
        bounds = j - 1;
      } else if (!is_attribute(before) && parameters == none &&
                 (before.kind == Kind::identifier || before.is(">") || before.is("]") ||
                  is_operator(j - 1))) {
        parameters = j;
      }
      j = partner_[j];
      if (j == none) return;
    }
    if (j >= tokens_.size() || !tokens_[j].is("{") || parameters == none || partner_[j] == none)
      return;
    device_body_ = j;
    bind_globals(i, parameters, j);
    if (!is_kernel) return;
    std::size_t name = parameters - 1;
    while (name > i && tokens_[name].kind != Kind::identifier) --name;  // back over <...>
    const std::size_t end = partner_[j];
    const std::string launch_bounds = bounds == none || closing(bounds + 1) == none
                                          ? ""
                                          : text(bounds + 2, closing(bounds + 1), true);
    tokens_[j].suffix = " ::kb::cpu::kernel(\"" + std::string(tokens_[name].text) + "\", \"" +
                        source_.files[tokens_[name].file] + "\", " +
                        std::to_string(tokens_[name].line) + ", {" + launch_bounds +
                        "}, [=]() mutable {" + tokens_[j].suffix;
    tokens_[end].prefix += "});";
  }

  bool is_operator(std::size_t i) const {
    for (std::size_t back = 1; back <= 3 && back <= i; ++back)
      if (tokens_[i - back].is("operator")) return true;
    return false;
  }

  void bind_globals(std::size_t from, std::size_t parameters, std::size_t body) {
    for (const GlobalShared& each : global_shared_) {
      if (!mentions(body, partner_[body], each.name) ||
          mentions(parameters, partner_[parameters], each.name) || from >= body)
        continue;
      tokens_[body].suffix += " " + each.binding;
      bound_.push_back(each.name);
    }
  }

  // --- launches --------------------------------------------------------------------------------

  /// @param first  the first token behind the opening brackets
  void launch(std::size_t i, std::size_t first) {
    if (tokens_[i].system || (i > 0 && tokens_[i - 1].is("operator"))) return;
    const bool broken = first > i + 1;
    std::size_t end = first;
    for (; end + 3 < tokens_.size(); ++end) {
      const Token& token = tokens_[end];
      if (token.is("(") || token.is("[") || token.is("{")) {
        end = partner_[end];
        if (end == none) return;
      } else if (token.is(">") && follows(end, broken) && follows(end + 1, broken) &&
                 tokens_[end + 3].is("(")) {
        break;
      } else if (token.is(";")) {
        return;
      }
    }
    if (end + 3 >= tokens_.size() || partner_[end + 3] == none) return;
    if (inside_device()) unsupported(i, "dynamic parallelism (a launch inside a kernel)");
    const std::size_t operand = third_operand(i);
    if (operand != none) tokens_[operand].prefix += "(";
    const std::string configuration = text(first, end);
    erase(i, end + 2);
    tokens_[partner_[end + 3]].suffix +=
        ", ::kb::cpu::launch(" + configuration + (operand == none ? ")" : "))");
  }

  /// The comma of a rewritten launch binds weaker than `?:`, whose third operand therefore needs
  /// parentheses. Returns where this operand starts if the launch at `i` ends one.
  std::size_t third_operand(std::size_t i) const {
    std::size_t operand = none, j = i;
    for (int angles = 0; j > 0 && (j == i || angles > 0);) {  // over the template arguments
      --j;
      if (tokens_[j].is(">")) ++angles;
      if (tokens_[j].is("<")) --angles;
      if (closes(j)) j = partner_[j];
      if (j == none || tokens_[j].is(";")) return none;
    }
    while (j-- > 0) {
      const Token& token = tokens_[j];
      if (token.is("?")) return operand;
      if (token.is(":") && operand == none) operand = j + 1;
      if (closes(j) && (operand != none || !token.is("}")))
        j = partner_[j];
      else if (token.is(";") || token.is("(") || token.is("{") || token.is("}") ||
               (token.is(",") && operand == none))
        return none;
    }
    return none;
  }

  bool closes(std::size_t i) const { return partner_[i] != none && partner_[i] < i; }

  /// Whether another `>` follows, apart from this one only in a launch whose brackets are broken.
  bool follows(std::size_t i, bool broken) const {
    return tokens_[i + 1].is(">") && (broken || tokens_[i + 1].trivia.empty());
  }

  /// A cast to `void*` or `const void*` in host code: it may be a kernel's, whose type the calls
  /// that take untyped kernels need. C-style casts only of names, with their template arguments.
  void untyped_cast(std::size_t i) {
    const bool keyword = tokens_[i].is("reinterpret_cast");
    const std::size_t end = keyword ? matching_angle(i + 1) : partner_[i];
    if (end == none || end + 2 >= tokens_.size() || end > i + 5 || i == 0) return;
    if (tokens_[i].system || inside_device()) return;
    const std::string type = text(i + (keyword ? 2 : 1), end);
    if (type != "void*" && type != "void *" && type != "const void*" && type != "const void *" &&
        type != "void const*" && type != "void const *")
      return;
    std::string call = "::kb::cpu::untyped<" + type + ">";
    if (keyword) {
      erase(i, end);
      tokens_[i].prefix += call;
      return;
    }
    const Token& before = tokens_[i - 1];
    if ((before.kind == Kind::identifier && !before.is("return")) || before.is(")") ||
        before.is("]") || before.is(">"))
      return;  // a parameter list
    std::size_t last = end + 1;
    if (is(last, "&")) ++last;
    while (is(last, "::") || is(last + 1, "::")) ++last;
    if (last >= tokens_.size() || tokens_[last].kind != Kind::identifier) return;
    if (is(last + 1, "<")) last = matching_angle(last + 1);
    if (!is(last + 1, ")") && !is(last + 1, ",") && !is(last + 1, ";") && !is(last + 1, "}"))
      return;
    erase(i, end);
    tokens_[i].prefix += call + "(";
    tokens_[last].suffix += ")";
  }

  // --- shared memory ---------------------------------------------------------------------------

  /// Each variable becomes the only member of a struct, which takes any type, attribute and bound
  /// as it stands; the struct has a slot in the block's shared memory.
  void shared(std::size_t i) {
    std::size_t begin = i, end = i;
    while (begin > 0 && (is_specifier(tokens_[begin - 1]) || opens_attribute(begin - 1) != none)) {
      const std::size_t attribute = opens_attribute(begin - 1);
      begin = attribute == none ? begin - 1 : attribute;
    }
    struct Declarator {
      std::size_t first, name, end;
    };
    bool external = false;
    std::vector<Declarator> declarators{{none, none, none}};
    for (end = begin; end < tokens_.size() && !tokens_[end].is(";"); ++end) {
      Token& token = tokens_[end];
      Declarator& last = declarators.back();
      external |= token.is("extern");
      token.erased |=
          token.is("__shared__") || token.is("extern") || token.is("static") || token.is("inline");
      if (token.is("="))
        unsupported(end, "an initialised __shared__ variable (CUDA does not allow it)");
      if (token.is("(")) unsupported(end, "a __shared__ variable declared with parentheses");
      if (token.is(",")) {
        last.end = end;
        declarators.push_back({end + 1, none, none});
      } else if (is_attribute(token)) {
        end = closing(end + 1);
      } else if (token.is("<")) {
        end = matching_angle(end);
      } else if (token.is("[") || token.is("{")) {
        end = closing(end);
      } else if (token.is("*") && last.first == none) {
        last.first = end;  // the type ends here: int *a, b
      } else if (token.kind == Kind::identifier && !token.erased) {
        last.name = end;
      }
      if (end == none) return;
    }
    if (end == tokens_.size() || std::any_of(declarators.begin(), declarators.end(),
                                             [](const auto& each) { return each.name == none; }))
      return;
    declarators.back().end = end;
    if (declarators[0].first == none) declarators[0].first = declarators[0].name;
    const std::string type = text(begin, declarators[0].first);
    std::string structs, bindings;
    for (const auto& [first, name, comma] : declarators) {
      const std::string own_name(tokens_[name].text), id = std::to_string(++counter_);
      std::string declarator = text(first, comma), address;
      // The size of dynamic shared memory is not the type's business.
      if (external && comma - first > 2 && tokens_[comma - 1].is("]") && tokens_[comma - 2].is("["))
        declarator.insert(declarator.size() - 1, "1");
      structs += "struct kb_shared_" + id + " { " + type + " " + declarator + "; };";
      if (external) {
        address = "::kb::cpu::dynamic_shared()";
      } else {
        structs += " static ::kb::cpu::SharedVariable kb_slot_" + id + "{\"" + own_name +
                   "\", sizeof(kb_shared_" + id + "), alignof(kb_shared_" + id + "), \"" +
                   source_.files[tokens_[i].file] + "\", " + std::to_string(tokens_[i].line) + "};";
        address = "kb_slot_" + id + ".address()";
      }
      const std::string binding = std::string(external ? "auto* " : "auto& ") + own_name +
                                  " = static_cast<kb_shared_" + id + "*>(" + address + ")->" +
                                  own_name + ";";
      // Without a function around it, the names are bound inside the functions that use them.
      if (inside_function())
        bindings += " " + binding, scopes_.back().shared.push_back(own_name);
      else
        global_shared_.push_back({own_name, binding});
    }
    erase(begin, end);
    tokens_[begin].prefix += structs + bindings;
  }

  static bool is_specifier(const Token& token) {
    return token.is("static") || token.is("extern") || token.is("volatile") || token.is("const") ||
           token.is("inline");
  }

  /// The `__attribute__` or `alignas` whose last parenthesis is at `close`, or none.
  std::size_t opens_attribute(std::size_t close) const {
    const std::size_t open = partner_[close];
    if (!tokens_[close].is(")") || open == none || open == 0) return none;
    return is_attribute(tokens_[open - 1]) ? open - 1 : none;
  }

  std::size_t matching_angle(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size() && !tokens_[i].is(";"); ++i) {
      if (tokens_[i].is("<")) ++depth;
      if (tokens_[i].is(">") && --depth == 0) return i;
      if (!tokens_[i].is("(") && !tokens_[i].is("[")) continue;
      i = closing(i);
      if (i == none) break;
    }
    return open;
  }

  /// Shared variables are references here. A lambda has to capture those that it names, which CUDA
  /// does not need, and by reference: a copy would not be shared.
  void captures(std::size_t i) {
    const std::size_t end = partner_[i];
    if (tokens_[i].system || end == none || end + 1 >= tokens_.size() || i == 0) return;
    const Token &before = tokens_[i - 1], &first = tokens_[i + 1];
    const bool subscript = before.kind == Kind::identifier && !before.is("return");
    if (subscript || before.is(")") || before.is("]") || before.is("[") || first.is("[")) return;
    std::size_t body = end + 1;
    while (body < tokens_.size() && !tokens_[body].is("{") && !tokens_[body].is(";"))
      body = tokens_[body].is("(") && partner_[body] != none ? partner_[body] + 1 : body + 1;
    if (body >= tokens_.size() || !tokens_[body].is("{") || partner_[body] == none) return;
    if (first.is("&") && (tokens_[i + 2].is(",") || i + 2 == end)) return;
    std::set<std::string> names;
    for (const Scope& scope : scopes_)
      for (const std::string& name : scope.shared)
        if (mentions(body, partner_[body], name) && !mentions(i, body, name)) names.insert(name);
    Token& last = tokens_[end - 1];
    for (const std::string& name : names)
      last.suffix += (i + 1 == end && name == *names.begin() ? "&" : ", &") + name;
  }

  bool mentions(std::size_t from, std::size_t to, const std::string& name) const {
    return std::any_of(tokens_.begin() + from, tokens_.begin() + to,
                       [&](const Token& token) { return token.is(name); });
  }

  Source& source_;
  std::vector<Token>& tokens_;
  std::vector<std::size_t> partner_;
  const bool count_constants_;
  std::vector<Scope> scopes_;
  std::vector<GlobalShared> global_shared_;
  std::size_t device_body_ = none;  ///< where the function that was seen last opens
  std::vector<std::string> bound_;  ///< its shared variables of namespace scope
  int counter_ = 0;
};

}  // namespace

Unsupported::Unsupported(const Source& source, int file, int line, const std::string& what)
    : std::runtime_error(source.files[file] + ":" + std::to_string(line) +
                         ": unsupported on the CPU backend: " + what) {}

void rewrite(Source& source, bool count_constants) { Rewriter(source, count_constants).run(); }

}  // namespace kb::cu2cpp
