// From a kernel's files to its mutants, which of them are judged, and what becomes of them.
#include "lab/mutate/mutants.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "base/files.h"
#include "lab/mutate/equivalents.h"
#include "lab/mutate/judging.h"
#include "lab/mutate/probes.h"
#include "lab/mutate/reached.h"
#include "lab/mutate/report.h"
#include "lab/mutate/selection.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

class Project : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    const fs::path path = folder_.path() / file;
    fs::create_directories(path.parent_path());
    write_file_atomically(path, text);
  }
  FlatSource flat() const { return flatten(folder_.path(), "level1/001_x/candidate.cu"); }

  TemporaryDirectory folder_;
};

TEST_F(Project, PutsEachBlockWhereItIsIncludedFirst) {
  write("harness/blocks/include/kb/a.cuh", "#pragma once\n#include \"b.cuh\"\nint a;\n");
  write("harness/blocks/include/kb/b.cuh", "// b\n#pragma once\nint b;\n");
  write("level1/architectures/c.cuh", "#pragma once\nint c;\n");
  write("level1/001_x/candidate.cu",
        "#include \"task.h\"\n#include \"../architectures/c.cuh\"\n#include <cmath>\n"
        "#include <kb/a.cuh>\n#include <kb/b.cuh>\n#include <kb/contract.h>\nint k;\n");
  const FlatSource source = flat();
  EXPECT_EQ(source.text,
            "#line 2 \"kernel.cu\"\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include "
            "\"task.h\"\nint c;\n"
            "#include <cmath>\n// b\nint b;\nint a;\n#include <kb/contract.h>\nint k;\n");
  ASSERT_EQ(source.origins.size(), 11u);
  EXPECT_EQ(source.origins[0].file, "");
  EXPECT_EQ(source.origins[7].file, "harness/blocks/include/kb/b.cuh");
  EXPECT_EQ(source.origins[7].line, 3);
  EXPECT_EQ(source.origins[10].line, 7);
}

FlatSource source_of(const std::string& text) {
  FlatSource source{text, {}};
  for (int line = 1; line <= std::count(text.begin(), text.end(), '\n'); ++line) {
    source.origins.push_back({"level1/001_x/candidate.cu", line});
  }
  return source;
}

const std::string two = "void f(int a) {\n  if (a < n) g();\n  if (a < n) g();\n}\n";

TEST(Mutants, HaveIdsThatSurviveMovesOfLines) {
  const auto mutants = mutants_of("level1/001_x", source_of(two), {});
  const auto moved = mutants_of("level1/001_x", source_of("// new\n" + two), {});
  ASSERT_EQ(mutants.size(), 4u);
  ASSERT_EQ(moved.size(), 4u);
  for (size_t i = 0; i < mutants.size(); ++i) {
    EXPECT_EQ(mutants[i].id, moved[i].id);
    EXPECT_EQ(mutants[i].line + 1, moved[i].line);
  }
  EXPECT_NE(mutants[0].id, mutants[1].id) << "the same line, at two places";
  EXPECT_EQ(mutants[0].before, "if (a < n) g();");
  EXPECT_EQ(mutants[0].after, "if (a <= n) g();");
}

TEST(Mutants, AreOnlyOfLinesThatBecomeCode) {
  const auto mutants = mutants_of("level1/001_x", source_of(two), {3});
  ASSERT_EQ(mutants.size(), 2u);
  EXPECT_EQ(mutants[0].line, 3);
}

// The source with each probe of the change at `changed`; parted by lines.
std::string probed(const std::string& body, const std::string& changed) {
  const FlatSource source = source_of("void f() { " + body + " }\n");
  const size_t at = source.text.find(changed);
  std::string texts;
  for (const Edit& probe : probes_of(source, {"", "", "", "", 0, "", "", {at, 1, ""}})) {
    const std::string text = apply(source.text, probe);
    texts += (texts.empty() ? "" : "\n") + text.substr(11, text.size() - 14);
  }
  return texts;
}

TEST(Mutants, AreProbedBeforeTheStatement) {
  const std::string stop = "*static_cast<volatile int*>(nullptr) = 0; ";
  EXPECT_EQ(probed("a = 1; b = c < 2;", "<"), "a = 1; " + stop + "b = c < 2;");
  EXPECT_EQ(probed("for (int i = 0; i < n; ++i) g(i);", "<"),
            stop + "for (int i = 0; i < n; ++i) g(i);");
  EXPECT_EQ(probed("if (a) g(h(b));", "b"), "if (a) { " + stop + "g(h(b)); }");
  EXPECT_EQ(probed("if (a) g(); else h(b);", "b"), "if (a) g(); else { " + stop + "h(b); }");
  EXPECT_EQ(probed("switch (a) { case 1: return b; }", "b"),
            "switch (a) { case 1: " + stop + " return b; }");
  EXPECT_EQ(probed("switch (a) { case 1: return b; }", "1"), "");
}

TEST(Mutants, AreProbedInTheOperandOfACondition) {
  const std::string stop = "*static_cast<volatile int*>(nullptr) = 0";
  const auto second = [](const std::string& texts) { return texts.substr(texts.find('\n') + 1); };
  EXPECT_EQ(second(probed("a = g ? (b + 1) * 2 : c;", "b")),
            "a = g ? (" + stop + ", (b + 1) * 2) : c;");
  EXPECT_EQ(second(probed("a = g ? b : c;", "c")), "a = g ? b : (" + stop + ", c);");
  EXPECT_EQ(second(probed("if (a && h(b, c) && d) g();", "c")),
            "if (a && (" + stop + ", h(b, c)) && d) g();");
  EXPECT_EQ(second(probed("g(a, b || c);", "c")), "g(a, b || (" + stop + ", c));");
}

TEST(Mutants, ReadObjdumpsListing) {
  const std::string listing =
      "CU: /tmp/a/kernel.cu:\nFile name   Line number    Starting address    View    Stmt\n"
      "kernel.cu   12    0x10   x\nteam.cuh   3   0x14\nkernel.cu   13   0x20\nkernel.cu  -  "
      "0x30\n";
  EXPECT_EQ(lines_of_listing(listing, "kernel.cu"), (std::set<int>{12, 13}));
}

Mutant mutant(const std::string& id, const std::string& task, const std::string& mistake,
              const std::string& file, const std::string& before = "a * b", int line = 1) {
  return {id, task, mistake, file, line, before, "a", {}};
}

TEST(Equivalents, AreFoundByWhatTheyNameNotByLines) {
  const TemporaryDirectory folder;
  const fs::path file = folder.path() / "e.json";
  write_file_atomically(file, R"([{"operator": "tail", "file": "x.cuh", "before": "a * b",
      "reason": "r"}, {"task": "level2/…", "judged": false, "reason": "all of level 2"}])");
  const auto entries = read_equivalents(file);
  EXPECT_EQ(equivalent_for(entries, mutant("1", "level1/1", "tail", "x.cuh"))->reason, "r");
  EXPECT_FALSE(equivalent_for(entries, mutant("1", "level1/1", "tail", "y.cuh")));
  EXPECT_FALSE(equivalent_for(entries, mutant("1", "level1/1", "tail", "x.cuh", "a + b")));
  EXPECT_FALSE(equivalent_for(entries, mutant("1", "level2/1", "bias", "y.cuh"))->judged);
}

TEST(Equivalents, NeedAReasonAndKnownFields) {
  const TemporaryDirectory folder;
  const fs::path file = folder.path() / "e.json";
  write_file_atomically(file, R"([{"operator": "tail"}])");
  EXPECT_THROW(read_equivalents(file), std::runtime_error);
  write_file_atomically(file, R"([{"operators": "tail", "reason": "r"}])");
  EXPECT_THROW(read_equivalents(file), std::runtime_error);
}

// Who changes a line must look at its entry again.
TEST(Equivalents, OfTheProjectNameLinesThatAreThere) {
  const fs::path project = KB_SOURCE_DIR;
  for (const Equivalent& e : read_equivalents(project / "harness/lab/mutate/equivalents.json")) {
    if (e.before.empty()) continue;
    ASSERT_FALSE(e.file.empty()) << e.before;
    const std::string text = squeezed(read_text(project / e.file));
    std::string_view rest = text;
    for (size_t from = 0; from <= e.before.size();) {  // its parts, in their order
      const size_t end = std::min(e.before.find(any, from), e.before.size());
      const size_t at = rest.find(e.before.substr(from, end - from));
      ASSERT_NE(at, std::string_view::npos) << e.file << " has no line " << e.before;
      rest = rest.substr(at + end - from);
      from = end + any.size();
    }
  }
}

TEST(Selection, TriesAChangeOfABlockInFewKernels) {
  std::vector<Mutant> all;
  for (const char* task : {"level1/1", "level1/2", "level1/3"}) {
    all.push_back(mutant(std::string(task) + "b", task, "tail", "block.cuh"));
    all.push_back(mutant(std::string(task) + "o", task, "tail", std::string(task) + "/k.cu"));
  }
  const auto kernels = [&](size_t most, uint64_t rng_seed) {
    std::vector<std::string> of_block;
    const auto changes = by_change(all, most, rng_seed);
    EXPECT_EQ(changes.size(), 4u);
    for (const Change& change : changes) {
      if (change.front().file != "block.cuh") {
        EXPECT_EQ(change.size(), 1u);
        continue;
      }
      for (const Mutant& m : change) of_block.push_back(m.id);
    }
    return of_block;
  };
  EXPECT_EQ(kernels(1, 7).size(), 1u);
  EXPECT_EQ(kernels(2, 7).size(), 2u);
  EXPECT_EQ(kernels(0, 7).size(), 3u);
  EXPECT_EQ(kernels(2, 7), kernels(2, 7));
  EXPECT_EQ(kernels(2, 7).front(), kernels(1, 7).front());
}

TEST(Selection, SpreadsASampleOverTasksAndOperators) {
  std::vector<Change> all;
  for (const char* task : {"level1/1", "level1/2"}) {
    for (int i = 0; i < 50; ++i) {
      all.push_back({mutant(task + std::to_string(i), task, i < 45 ? "tail" : "bias", "f")});
    }
  }
  std::map<std::string, int> counts;
  for (const Change& c : sample(all, 8, 1)) ++counts[c.front().task + c.front().mistake];
  EXPECT_EQ(
      counts,
      (std::map<std::string, int>{
          {"level1/1tail", 2}, {"level1/1bias", 2}, {"level1/2tail", 2}, {"level1/2bias", 2}}));
  EXPECT_EQ(sample(all, 1000, 1).size(), 100u);
}

TEST(Judging, TellsFatesFromVerdicts) {
  EXPECT_EQ(fate_of("incorrect", false), Fate::killed);
  EXPECT_EQ(fate_of("timeout", true), Fate::killed);
  EXPECT_EQ(fate_of("pass", false), Fate::survived);
  EXPECT_EQ(fate_of("pass", true), Fate::equivalent);
  EXPECT_EQ(fate_of("same_code", false), Fate::equivalent);
  EXPECT_EQ(fate_of("compile_error", false), Fate::invalid);
}

TEST(Judging, KeepsVerdictsAtOnce) {
  const TemporaryDirectory folder;
  const fs::path file = folder.path() / "verdicts.jsonl";
  Verdicts verdicts(file);
  EXPECT_FALSE(verdicts.find("key"));
  verdicts.keep("key", {"incorrect", "y[0] is 1 but must be 2", "abc"});
  std::ofstream(file, std::ios::app) << R"({"key": "cut o)";  // a run that was stopped
  EXPECT_EQ(Verdicts(file).find("key")->evidence, "y[0] is 1 but must be 2");
}

TEST(Judging, CallsEveryIndexOnceAndPassesExceptionsOn) {
  std::atomic<int> calls = 0;
  in_parallel(100, 4, [&](size_t) { ++calls; });
  EXPECT_EQ(calls, 100);
  EXPECT_THROW(in_parallel(3, 2, [](size_t) { throw std::runtime_error("x"); }),
               std::runtime_error);
}

TEST(Report, CountsKilledOfThoseThatAreNotEquivalent) {
  const TemporaryDirectory folder;
  std::vector<Trial> trials;
  for (const Fate fate : {Fate::killed, Fate::killed, Fate::killed, Fate::survived,
                          Fate::equivalent, Fate::unreached, Fate::unreached, Fate::invalid}) {
    trials.push_back({mutant("id", "level1/1", "tail", "f"), fate, "", "", ""});
  }
  write_report(folder.path(), trials);
  EXPECT_EQ(read_text(folder.path() / "score.csv"),
            "task,operator,score_percent,killed,survived,equivalent,unreached,invalid\n"
            "level1/1,tail,75.0,3,1,1,2,1\n");
  const std::string page = read_text(folder.path() / "score.md");
  EXPECT_NE(page.find("| tail | 75.0 | 3 | 1 | 1 | 2 | 1 |"), std::string::npos) << page;
  EXPECT_NE(page.find("`a * b`"), std::string::npos) << page;
}

}  // namespace
}  // namespace kb
