#include "lab/mutate/report.h"

#include <cstdio>
#include <map>

#include "base/result/files.h"
#include "lab/mutate/operators.h"

namespace kb {
namespace {

using Scores = std::vector<std::pair<std::string, Score>>;

// Of each name, in the order in which they come first.
template <class Name>
Scores scores_by(const std::vector<Trial>& trials, Name name) {
  Scores scores;
  std::map<std::string, size_t> places;
  for (const Trial& trial : trials) {
    const auto [at, fresh] = places.try_emplace(name(trial), scores.size());
    if (fresh) scores.emplace_back(at->first, Score{});
    scores[at->second].second.add(trial.fate);
  }
  return scores;
}

std::string one_decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string row(const std::string& name, const Score& s) {
  const std::string bar = " | ";
  return "| " + name + bar + one_decimal(s.percent()) + bar + std::to_string(s.killed) + bar +
         std::to_string(s.survived) + bar + std::to_string(s.equivalent) + bar +
         std::to_string(s.unreached) + bar + std::to_string(s.invalid) + " |\n";
}

std::string table(const std::string& of, const Scores& scores) {
  std::string text = "| " + of +
                     " | score, % | killed | survived | equivalent | unreached | invalid |\n" +
                     "|:--|--:|--:|--:|--:|--:|--:|\n";
  Score all;
  for (const auto& [name, score] : scores) {
    text += row(name, score);
    all.killed += score.killed;
    all.survived += score.survived;
    all.equivalent += score.equivalent;
    all.unreached += score.unreached;
    all.invalid += score.invalid;
  }
  return text + row("all", all) + "\n";
}

std::string survivors(const std::vector<Trial>& trials) {
  std::string text;
  for (const Trial& t : trials) {
    if (t.fate != Fate::survived) continue;
    text += "- " + t.mutant.id + ", " + t.mutant.task + ", " + t.mutant.mistake + ", " +
            t.mutant.file + ":" + std::to_string(t.mutant.line) + "\n  - `" + t.mutant.before +
            "`\n  - `" + t.mutant.after + "`\n";
  }
  return text.empty() ? "None.\n" : text;
}

Json to_json(const Trial& t) {
  return {{"id", t.mutant.id},       {"task", t.mutant.task},     {"operator", t.mutant.mistake},
          {"file", t.mutant.file},   {"line", t.mutant.line},     {"before", t.mutant.before},
          {"after", t.mutant.after}, {"fate", to_string(t.fate)}, {"verdict", t.verdict},
          {"evidence", t.evidence},  {"reason", t.reason}};
}

}  // namespace

void Score::add(Fate fate) {
  ++(fate == Fate::killed       ? killed
     : fate == Fate::survived   ? survived
     : fate == Fate::equivalent ? equivalent
     : fate == Fate::unreached  ? unreached
                                : invalid);
}

double Score::percent() const {
  return killed + survived == 0 ? 100 : 100. * static_cast<double>(killed) / (killed + survived);
}

void write_report(const std::filesystem::path& folder, const std::vector<Trial>& trials) {
  const auto mistake = [](const Trial& t) { return t.mutant.mistake; };
  const auto task = [](const Trial& t) { return t.mutant.task; };
  Json all = Json::array();
  for (const Trial& t : trials) all.push_back(to_json(t));
  replace_json(folder / "mutants.json", all);

  std::string csv = "task,operator,score_percent,killed,survived,equivalent,unreached,invalid\n";
  for (const auto& [name, s] :
       scores_by(trials, [&](const Trial& t) { return task(t) + "," + mistake(t); })) {
    csv += name + "," + one_decimal(s.percent()) + "," + std::to_string(s.killed) + "," +
           std::to_string(s.survived) + "," + std::to_string(s.equivalent) + "," +
           std::to_string(s.unreached) + "," + std::to_string(s.invalid) + "\n";
  }
  replace_text(folder / "score.csv", csv);
  replace_text(folder / "score.md", "# Mutants of the shipped kernels\n\n" +
                                        table("operator", scores_by(trials, mistake)) +
                                        table("task", scores_by(trials, task)) +
                                        "## Survivors\n\n" + survivors(trials));
}

}  // namespace kb
