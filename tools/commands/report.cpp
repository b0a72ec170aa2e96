// attnlab report RUN|STUDY…: one self-contained page with figures, tables, verdicts and a view of attention.
#include <fmt/format.h>

#include <cstdlib>
#include <thread>

#include "command.h"
#include "config/error.h"
#include "data/files.h"
#include "option_ranges.h"
#include "study/child.h"
#include "study/report_data.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> inputs, assignments;
  std::string root = "runs";
  std::string out = "report.html", text;
  std::int64_t views = 4, sentences = 6;
  bool every_checkpoint = false;
};

// A folder that is gone when the command ends.
class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "attnlab-report-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw IoError("cannot make a folder in " + fs::temp_directory_path().string());
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Where the drawing program lies: beside an installed attnlab, else in the source tree that it was built
// from.
fs::path drawing_program() {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  for (const fs::path& path : {self.parent_path().parent_path() / "share/attnlab/report/report.py",
                               fs::path(ATTNLAB_REPORT_SOURCE) / "report.py"})
    if (fs::exists(path)) return path;
  throw Error("the program that draws reports is not there: share/attnlab/report/report.py");
}

// What Python prints goes to `log`; the exit code.
int run_python(const std::string& python, std::vector<std::string> arguments, const fs::path& log) {
  std::vector<std::string> command{"/usr/bin/env", python};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Child child({command, {{"PYTHONDONTWRITEBYTECODE", "1"}}, log});
  while (!child.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return *child.ended();
}

// The first interpreter that can draw.
std::string find_python(const fs::path& log) {
  std::vector<std::string> candidates;
  if (const char* named = std::getenv("ATTNLAB_PYTHON"))
    candidates = {named};
  else
    candidates = {ATTNLAB_REPORT_PYTHON, "python3", "/usr/bin/python3"};
  for (const std::string& python : candidates)
    if (!python.empty() && run_python(python, {"-c", "import matplotlib, numpy"}, log) == 0) return python;
  throw Error(
      fmt::format("reports are drawn by Python with matplotlib, which none of these has: {}. Install it "
                  "(Debian: python3-matplotlib) "
                  "or name an interpreter in ATTNLAB_PYTHON",
                  fmt::join(candidates, ", ")));
}

// Where Python says what went wrong.
std::string last_line(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  return lines.empty() ? "" : lines.back();
}

int report(const Options& options) {
  const WorkFolder work;
  const std::string python = find_python(work.path() / "probe.log");
  ReportRequest request;
  for (const std::string& input : options.inputs) {
    const fs::path below = fs::path(options.root) / input;
    request.inputs.push_back(!fs::exists(input) && fs::exists(below) ? below : fs::path(input));
  }
  request.views = options.views;
  request.sentences = options.sentences;
  request.text = options.text;
  request.every_checkpoint = options.every_checkpoint;
  request.assignments = options.assignments;
  gather_report(request, work.path() / "data");
  const fs::path out = fs::absolute(options.out), log = work.path() / "draw.log";
  if (out.has_parent_path()) fs::create_directories(out.parent_path());
  const int code = run_python(
      python, {drawing_program().string(), (work.path() / "data").string(), "--out", out.string()}, log);
  const std::string said = read_bytes(log);
  if (code != 0) throw Error("the report could not be drawn: " + last_line(said) + "\n" + said);
  fmt::print("{}", said);
  return 0;
}

const Command command{
    "report", "one page about runs and studies", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      app.add_option("inputs", options->inputs,
                     "run folders, checkpoints, study folders or their results.json; two runs are compared")
          ->required();
      app.add_option("--runs", options->root, "where names are looked for")->capture_default_str();
      app.add_option("--out", options->out, "the HTML file; figures go to a folder beside it")
          ->capture_default_str();
      app.add_option("--text", options->text,
                     "sentences for the view of attention, one a line; a tab separates "
                     "source and target. Otherwise: from the validation split");
      app.add_option("--sentences", options->sentences, "in the view of attention")
          ->check(positive_whole())
          ->capture_default_str();
      app.add_option("--views", options->views, "runs whose attention is shown, at most; 0: none")
          ->check(not_negative_whole())
          ->capture_default_str();
      app.add_flag("--every-checkpoint", options->every_checkpoint,
                   "show the attention of all checkpoints kept");
      app.add_option("--set", options->assignments,
                     "a.b=value on top of the runs' configurations, such as data.root=DIR")
          ->allow_extra_args(false)
          ->take_all();
      return [options] { return report(*options); };
    }};

}  // namespace
}  // namespace attnlab
