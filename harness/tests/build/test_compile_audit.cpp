// What a candidate's object defines: forged names are refused, everyday code is not.
#include "sandbox/build/object_audit.h"

#include <elf.h>

#include <cstring>

#include "sandbox/build/elf_read.h"
#include "workspace.h"

namespace kb::test {
namespace {

class CompileAudit : public Workspace {
 protected:
  // The reason for which the good candidate with `addition` is refused, "" if it is accepted.
  std::string refusal(const std::string& addition) const {
    const Ending result = compile(good_candidate + addition);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    const auto json = record();
    EXPECT_EQ(json["exit_code"], 0) << json.dump(1);
    if (json["status"] == "ok") return "";
    EXPECT_EQ(json["status"], "compile_error");
    EXPECT_TRUE(object_is_stub());
    return json["reason"];
  }
};

TEST_F(CompileAudit, ForgedDefinitionsAreNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"int main() { return 0; }", "main"},
      {"extern \"C\" int cudaEventElapsedTime(float* ms, void*, void*) { *ms = 0; return 0; }",
       "cudaEventElapsedTime"},
      {"extern \"C\" int cuEventElapsedTime(float* ms) { *ms = 0; return 0; }",
       "cuEventElapsedTime"},
      {"extern \"C\" __attribute__((weak)) int cudaDeviceSynchronize() { return 0; }",
       "cudaDeviceSynchronize"},
      {"extern \"C\" __attribute__((visibility(\"default\"))) int nvmlInit() { return 0; }",
       "nvmlInit"},
      {"struct timespec; extern \"C\" int clock_gettime(int, struct timespec*) { return 0; }",
       "clock_gettime"},
      {"extern \"C\" void* dlsym(void*, const char*) { return nullptr; }", "dlsym"},
      {"extern \"C\" void* malloc(size_t) { return nullptr; }", "malloc"},
      {"void* operator new(size_t) { return nullptr; }", "operator new(unsigned long)"},
      {"void operator delete(void*) noexcept {}", "operator delete(void*)"},
      {"extern \"C\" int kb_module_secret() { return 0; }", "kb_module_secret"},
      {"namespace testing { void pass() {} }", "testing::pass()"},
      {"namespace benchmark { int State; }", "benchmark::State"},
      {"namespace at { struct Tensor { bool allclose() const; }; bool Tensor::allclose() const { "
       "return "
       "true; } }",
       "at::Tensor::allclose() const"},
      {"namespace c10 { template <class T> bool eq(T) { return true; } template bool eq(int); }",
       "bool c10::eq<int>(int)"},
      {"asm(\".globl cudaMemcpy\\n.type cudaMemcpy, @function\\ncudaMemcpy: ret\");",
       "cudaMemcpy"}};
  for (const auto& [code, symbol] : cases) {
    EXPECT_EQ(refusal(code + "\n").find("candidate defines " + symbol + ","), 0u)
        << code << "\n"
        << record()["reason"];
  }
}

TEST_F(CompileAudit, EverydayCodeIsAccepted) {
  for (const char* code :
       {"#include <algorithm>\n#include <iostream>\n#include <map>\n#include <new>\n#include "
        "<string>\n"
        "#include <vector>\nint words() { std::map<std::string, std::vector<int>> m; std::cout << "
        "m.size(); return int(m.size()); }",
        "static int cudaHelper() { return 1; }\nint use() { return cudaHelper(); }",
        "namespace { int clock_gettime() { return 1; } }\nint use() { return clock_gettime(); }",
        "int current_device; int nvals; int clock_rate; int timer; int kernel_main() { return 0; }",
        "struct Arena {}; inline void* operator new(size_t, Arena&) { return nullptr; }\n"
        "struct Node { void* operator new(size_t); void operator delete(void*); };\n"
        "void* Node::operator new(size_t) { return nullptr; }\nvoid Node::operator delete(void*) "
        "{}",
        "namespace mine::at { int x; }\nnamespace detail { namespace testing { int y; } }",
        "extern \"C\" int cudaMalloc(void**, size_t);\nint use(void** p) { return cudaMalloc(p, "
        "4); }"}) {
    EXPECT_EQ(refusal(std::string(code) + "\n"), "") << code;
  }
}

TEST_F(CompileAudit, StaticConstructorsAreCounted) {
  EXPECT_EQ(refusal("struct S { S() { asm(\"\"); } } s;\n__attribute__((constructor)) static void "
                    "c() { asm(\"\"); }\n"),
            "");
  EXPECT_EQ(record()["static_constructors"], 2);
  EXPECT_EQ(refusal("asm(\".section .init,\\\"ax\\\"\\nnop\\n.text\");\n"), "");
  EXPECT_EQ(record()["static_constructors"], 1);
}

TEST_F(CompileAudit, SymbolsDoNotReachTheTerminalAsTheyAre) {
  EXPECT_EQ(
      refusal("asm(\".globl \\\"cudaX\\033[2J<CTestLabel>\\\"\\n\\\"cudaX\\033[2J<CTestLabel>"
              "\\\": ret\");\n"),
      "candidate defines cudaX\\x1b[2J\\x3cCTestLabel>, a name of the CUDA runtime or driver");
  EXPECT_EQ(refusal("asm(\".weak \\\"kb_\\033[2J\\\"\\n\\\"kb_\\033[2J\\\": ret\");\n"),
            "candidate makes kb_\\x1b[2J weak, so that another could replace it");
}

// Each level doubles the name that a person would read; of the last one it is gigabytes.
TEST_F(CompileAudit, NamesThatExplodeAreRefusedByTheirSymbols) {
  std::string code =
      "template <class A, class B> struct P {};\n"
      "template <int N> struct L { using T = P<typename L<N - 1>::T, typename L<N - 1>::T>; };\n"
      "template <> struct L<0> { using T = int; };\n";
  for (const char* levels : {"17", "40"}) {
    const std::string reason =
        refusal(code + "namespace testing { void f(L<" + levels + ">::T*) {} }\n");
    EXPECT_TRUE(reason.ends_with(" ..., which belongs to namespace testing of another library"))
        << reason;
    EXPECT_LT(reason.size(), 400u);
  }
}

// An hour, and CTest's limit, where each initialiser is looked for among all functions.
TEST_F(CompileAudit, AuditingTakesNoLongerThanReading) {
  EXPECT_EQ(refusal("asm(\".macro kb_f\\nf\\\\@:\\n.type f\\\\@,@function\\nret\\n.endm\\n"
                    ".rept 90000\\nkb_f\\n.endr\\n.section .init_array,\\\"aw\\\",@init_array\\n"
                    ".rept 500000\\n.quad f0\\n.endr\\n.text\");\n"),
            "");
  EXPECT_EQ(record()["static_constructors"], 500000);
  EXPECT_EQ(audit_object(path("obj/candidate.o")).static_constructors, 500000);
}

TEST_F(CompileAudit, SymbolsBeyondAllMeasureAreRefused) {
  const std::string reason = refusal(
      "asm(\".macro kb_f\\nf\\\\@:\\n.type f\\\\@,@function\\nret\\n.endm\\n.rept 100000\\nkb_f\\n"
      ".endr\");\n");
  EXPECT_TRUE(reason.ends_with("entries, more than the 100000 that are read")) << reason;
  EXPECT_EQ(refusal("asm(\".section .more,\\\"\\\",@2\\n.text\");\n"),
            "the compiler wrote no usable object: ELF file with two symbol tables of a kind");
}

TEST_F(CompileAudit, NamesThatShareTheirBytesDoNotFillTheMemory) {
  EXPECT_EQ(refusal("asm(\".macro kb_f\\nf\\\\@: ret\\n.endm\\n.rept 2000\\nkb_f\\n.endr\\nlong" +
                    std::string(50000, 'x') + ": ret\");\n"),
            "");
  std::string object = read("obj/candidate.o");
  const auto header = read_structure<Elf64_Ehdr>(object, 0);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section =
        read_structure<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto strings =
        read_structure<Elf64_Shdr>(object, header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
    const auto name = static_cast<uint32_t>(object.find("longxxx") - strings.sh_offset);
    for (uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      std::memcpy(object.data() + section.sh_offset + at, &name, sizeof name);  // st_name
    }
  }
  write("obj/x.o", object);
  EXPECT_EQ(audit_object(path("obj/x.o")).problem,
            "the compiler wrote no usable object: ELF names of more than 64 MiB");
}

TEST_F(CompileAudit, NvccRegistrationIsNotTheCandidatesConstructor) {
  if (std::string(KB_TEST_NVCC).empty()) GTEST_SKIP() << "nvcc was not found at configure time";
  const std::string kernel =
      "#include \"task.h\"\n__global__ void k(float* y) { *y = 1; }\n"
      "void task::launch(const Sizes&, const float*, float* y, cudaStream_t) { k<<<1, "
      "1>>>(y); }\n";
  write("src/candidate.cu", kernel);
  run(kb_cc(nvcc_command()));
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_EQ(record()["static_constructors"], 0);
  write("src/candidate.cu", kernel + "struct S { S() { asm(\"\"); } } s;\n");
  run(kb_cc(nvcc_command()));
  EXPECT_EQ(record()["status"], "ok");
  EXPECT_EQ(record()["static_constructors"], 1);
  write("src/candidate.cu",
        kernel +
            "cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) "
            "{ *ms = 1e-3f; return cudaSuccess; }\n");
  run(kb_cc(nvcc_command()));
  EXPECT_EQ(record()["status"], "compile_error");
  EXPECT_NE(record()["reason"].get<std::string>().find("cudaEventElapsedTime"), std::string::npos);
}

TEST_F(CompileAudit, FilesThatAreNoObjectsAreRefused) {
  for (const std::string& content : {std::string(), std::string("not ELF at all"),
                                     std::string("\x7f"
                                                 "ELF"),
                                     std::string("\x7f"
                                                 "ELF\x02\x01\x01",
                                                 7) +
                                         std::string(200, '\xff')}) {
    write("obj/x.o", content);
    EXPECT_TRUE(audit_object(path("obj/x.o")).problem);
  }
}

TEST_F(CompileAudit, CutAndFlippedObjectsNeverCrashTheReader) {
  compile(good_candidate);
  const std::string object = read("obj/candidate.o");
  for (size_t length = 0; length < object.size(); length += 37) {
    write("obj/x.o", object.substr(0, length));
    EXPECT_TRUE(audit_object(path("obj/x.o")).problem) << length;
  }
  // Flipping any byte may be harmless or an error, but must not read out of bounds.
  for (size_t i = 0; i < object.size(); i += 11) {
    std::string flipped = object;
    flipped[i] = static_cast<char>(~flipped[i]);
    write("obj/x.o", flipped);
    (void)audit_object(path("obj/x.o"));
  }
}

}  // namespace
}  // namespace kb::test
