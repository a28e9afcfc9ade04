// Linked modules: exports, imports, needed libraries, size, and files edited behind the linker's
// back.
#include "sandbox/build/module_audit.h"

#include <elf.h>

#include <cstring>
#include <fstream>

#include "sandbox/build/module_code.h"
#include "workspace.h"

namespace kb::test {
namespace {

class AuditModule : public Workspace {
 protected:
  // Links `source` as a candidate's module with the real version script.
  void link(const std::string& source, const Words& more = {}) const {
    write("src/module.cpp", source);
    const Ending linked = run(Words{KB_TEST_CXX, "-shared", "-fPIC", "-fvisibility=hidden", "-o",
                                    "obj/module.so", path("src/module.cpp"),
                                    std::string("-Wl,--version-script=") + KB_TEST_MODULE_MAP} +
                              more);
    ASSERT_EQ(linked.exit_code, 0) << linked.output;
  }

  // A library with this soname that defines `symbol`, to be linked against.
  std::string library(const std::string& soname, const std::string& symbol) const {
    write("src/library.cpp", "extern \"C\" int " + symbol + "() { return 0; }\n");
    const std::string file = path("obj/" + soname);
    const Ending linked = run({KB_TEST_CXX, "-shared", "-fPIC", "-Wl,-soname," + soname, "-o", file,
                               path("src/library.cpp")});
    EXPECT_EQ(linked.exit_code, 0) << linked.output;
    return file;
  }

  ModuleAudit audit(LibraryPolicy library = LibraryPolicy::none) const {
    ModulePolicy policy;
    policy.library = library;
    return audit_module(path("obj/module.so"), policy);
  }

  void expect_violation(const std::string& symbol,
                        LibraryPolicy library = LibraryPolicy::none) const {
    const ModuleAudit result = audit(library);
    EXPECT_EQ(result.verdict, AuditVerdict::policy_violation) << symbol;
    EXPECT_NE(result.sentence.find(symbol), std::string::npos) << result.sentence;
  }
};

const std::string entry =
    "extern \"C\" __attribute__((visibility(\"default\"))) int kb_launch(void* const*) { return 1; "
    "}\n";

// An import that the compiler cannot drop.
std::string import(const std::string& symbol) {
  return entry + "extern \"C\" int " + symbol + "();\nextern \"C\" int use() { return " + symbol +
         "(); }\n";
}

TEST_F(AuditModule, OrdinaryModulePasses) {
  link("#include <iostream>\n#include <cmath>\n#include <cstring>\n" + entry +
       "int helper(double x) { std::cout << std::sin(x); return 0; }\n"
       "__attribute__((visibility(\"default\"))) int hidden_by_the_script;\n");
  const ModuleAudit result = audit();
  EXPECT_EQ(result.verdict, AuditVerdict::ok) << result.sentence;
  EXPECT_EQ(result.sentence, "");
}

TEST_F(AuditModule, CodeIsHashedWithoutWhatIsNotLoaded) {
  const auto code_of = [&](const std::string& source, const Words& more = {}) {
    link(source, more);
    return module_code_sha256(path("obj/module.so"));
  };
  const std::string code = code_of(entry);
  EXPECT_EQ(code_of("// a comment\n" + entry, {"-g"}), code);
  EXPECT_NE(code_of(entry + "int unused;\nint more() { return 2; }\n", {"-fvisibility=default"}),
            code);
}

TEST_F(AuditModule, CudaRuntimeIsAnOrdinaryImport) {
  link(import("cudaMalloc"), {library("libcudart.so.13", "cudaMalloc")});
  EXPECT_EQ(audit().verdict, AuditVerdict::ok) << audit().sentence;
  link(import("cudaMalloc"), {library("libkb_cudacpu.so", "cudaMalloc")});
  EXPECT_EQ(audit().verdict, AuditVerdict::ok) << audit().sentence;
}

TEST_F(AuditModule, StubIsACompileError) {
  const Ending linked = run({KB_TEST_CXX, "-shared", "-o", "obj/module.so", KB_TEST_STUB,
                             std::string("-Wl,--version-script=") + KB_TEST_MODULE_MAP});
  ASSERT_EQ(linked.exit_code, 0) << linked.output;
  EXPECT_EQ(audit().verdict, AuditVerdict::compile_error);
  EXPECT_NE(audit().sentence.find("kb_launch"), std::string::npos) << audit().sentence;
}

TEST_F(AuditModule, FurtherExportsAreRefused) {
  write("src/module.cpp", entry +
                              "extern \"C\" __attribute__((visibility(\"default\"))) int extra() { "
                              "return 0; }\n");
  const Ending linked =
      run({KB_TEST_CXX, "-shared", "-fPIC", "-o", "obj/module.so", path("src/module.cpp")});
  ASSERT_EQ(linked.exit_code, 0) << linked.output;
  expect_violation("extra");
}

TEST_F(AuditModule, ForbiddenImportsAreNamed) {
  for (const char* symbol :
       {"dlopen", "dlsym", "fork", "execve", "system", "popen", "ptrace", "process_vm_readv"}) {
    link(import(symbol));
    expect_violation(symbol);
  }
  link(import("dlopen"));
  EXPECT_NE(audit().sentence.find("loads a library at run time"), std::string::npos);
}

TEST_F(AuditModule, CodeThatTheLoaderRunsForAnAddressIsRefused) {
  link(entry +
       "static int one() { return 1; }\n"
       "extern \"C\" { static int (*choose())() { return one; } }\n"
       "static int chosen() __attribute__((ifunc(\"choose\")));\n"
       "int use() { return chosen(); }\n");
  expect_violation("indirect function");
}

TEST_F(AuditModule, TorchIsRefused) {
  link(entry + "namespace at { int f(); } int use() { return at::f(); }\nint (*p)() = use;\n");
  expect_violation("at::f()");
}

TEST_F(AuditModule, VendorLibrariesFollowThePolicy) {
  link(import("cublasCreate_v2"), {library("libcublas.so.13", "cublasCreate_v2")});
  EXPECT_EQ(audit(LibraryPolicy::none).verdict, AuditVerdict::policy_violation);
  EXPECT_EQ(audit(LibraryPolicy::cublas).verdict, AuditVerdict::ok);
  link(import("cudnnCreate"), {library("libcudnn.so.9", "cudnnCreate")});
  EXPECT_EQ(audit(LibraryPolicy::none).verdict, AuditVerdict::policy_violation);
  EXPECT_EQ(audit(LibraryPolicy::cublas).verdict, AuditVerdict::policy_violation);
  EXPECT_EQ(audit(LibraryPolicy::cudnn).verdict, AuditVerdict::ok);
  // Without NEEDED, in the hope that another part of the process has loaded it.
  link(import("cublasCreate_v2"));
  expect_violation("cublasCreate_v2");
}

TEST_F(AuditModule, NamesDoNotReachTheTerminalAsTheyAre) {
  link(import("other_function"), {library("x\x1b[2J<CTestLabel>.so", "other_function")});
  expect_violation("needs x\\x1b[2J\\x3cCTestLabel>.so,");
  link(entry + "asm(\".data\\n.quad \\\"cufft\\033[2J" + std::string(1000, 'x') +
       "\\\"\\n.text\");\n");
  expect_violation("uses cufft (cufft\\x1b[2Jxxx");
  EXPECT_LT(audit().sentence.size(), 400u);
}

TEST_F(AuditModule, OtherLibrariesAreRefusedUnlessAllowed) {
  for (const char* soname :
       {"libother.so.1", "libcudart.evil.so", "libmine.so", "libcublas_evil.so"}) {
    link(import("other_function"), {library(soname, "other_function")});
    expect_violation(soname);
  }
  link(import("other_function"), {library("libother.so.1", "other_function")});
  ModulePolicy policy;
  policy.extra_needed = {"libother.so"};
  EXPECT_EQ(audit_module(path("obj/module.so"), policy).verdict, AuditVerdict::ok);
}

TEST_F(AuditModule, FilterLibrariesAreRefused) {
  link(entry, {"-Wl,--auxiliary=libother.so"});
  EXPECT_EQ(audit().verdict, AuditVerdict::policy_violation);
  EXPECT_NE(audit().sentence.find("load another library"), std::string::npos);
}

TEST_F(AuditModule, SizeIsCapped) {
  link(entry);
  ModulePolicy policy;
  policy.max_bytes = 1000;
  const ModuleAudit result = audit_module(path("obj/module.so"), policy);
  EXPECT_EQ(result.verdict, AuditVerdict::policy_violation);
  EXPECT_NE(result.sentence.find("more than the 1000"), std::string::npos);
}

TEST_F(AuditModule, WhatIsNoModuleIsACompileError) {
  EXPECT_EQ(audit().verdict, AuditVerdict::compile_error);  // no file
  write("obj/module.so", "text");
  EXPECT_EQ(audit().verdict, AuditVerdict::compile_error);
  std::filesystem::copy_file(KB_TEST_STUB, path("obj/module.so"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(audit().verdict, AuditVerdict::compile_error);  // an object
}

TEST_F(AuditModule, SectionTableThatHidesImportsIsRefused) {
  link(import("system"));
  // Point the section table's symbol table somewhere else; the loader does not look at it.
  std::string bytes = read("obj/module.so");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    char* at = bytes.data() + header.e_shoff + i * sizeof section;
    std::memcpy(&section, at, sizeof section);
    if (section.sh_type != SHT_DYNSYM) continue;
    section.sh_addr += sizeof(Elf64_Sym);
    section.sh_offset += sizeof(Elf64_Sym);
    section.sh_size -= sizeof(Elf64_Sym);
    std::memcpy(at, &section, sizeof section);
  }
  write("obj/module.so", bytes);
  EXPECT_EQ(audit().verdict, AuditVerdict::compile_error);
  EXPECT_NE(audit().sentence.find("contradicts"), std::string::npos) << audit().sentence;
}

TEST_F(AuditModule, CutAndFlippedModulesNeverCrashTheReader) {
  link(entry);
  const std::string module = read("obj/module.so");
  for (size_t length = 0; length < module.size(); length += 151) {
    write("obj/module.so", module.substr(0, length));
    EXPECT_NE(audit().verdict, AuditVerdict::ok) << length;
  }
  for (size_t i = 0; i < module.size(); i += 29) {
    std::string flipped = module;
    flipped[i] = static_cast<char>(~flipped[i]);
    write("obj/module.so", flipped);
    (void)audit();
  }
}

}  // namespace
}  // namespace kb::test
