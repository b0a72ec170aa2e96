#include "data/doctor.h"

#include <cstdlib>
#include <iostream>

#include "config/spec.h"
#include "data/files.h"
#include "data/task_spec.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

struct Room : ScratchFolder {
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    write_file(path() / name, bytes);
    return path() / name;
  }
};

// "line sort" of every finding.
std::vector<std::string> short_findings(const DoctorReport& report) {
  std::vector<std::string> out;
  for (const Finding& finding : report.findings) {
    out.push_back(std::to_string(finding.line) + (finding.error ? " error " : " ") + finding.sort);
  }
  return out;
}

}  // namespace

TEST_CASE("the doctor finds nothing in clean text") {
  const Room room;
  const DoctorReport report =
      examine_texts({{"train", {room.write("a.en", "a b\nc d\n"), room.write("a.de", "A B\nC D\n")}},
                     {"test", {room.write("b.en", "a b\n"), room.write("b.de", "X Y\n")}}},
                    {});
  CHECK(report.findings.empty());
  CHECK(report.errors == 0);
  CHECK(report.warnings == 0);
  CHECK(report.text() == "4 files, 6 lines: 0 errors, 0 warnings\n");
}

TEST_CASE("the doctor names every fault of a line") {
  const Room room;
  std::string bytes =
      "\xef\xbb\xbf"
      "start\n";           // 1
  bytes += "windows\r\n";  // 2
  bytes += "in\rside\n";   // 3
  bytes +=
      "a\xe2\x80\xa8"
      "b\n";  // 4
  bytes +=
      "a\xe2\x80\xa9"
      "b\n";  // 5
  bytes +=
      "a\xc2\x85"
      "b\n";                                               // 6
  bytes += std::string("a\0b\n", 4);                       // 7
  bytes += "bad \xc3(\n";                                  // 8
  bytes += "\n \t\n";                                      // 9, 10
  bytes += "w w w w w w\n" + std::string(51, 'x') + "\n";  // 11, 12
  bytes +=
      "mid\xef\xbb\xbf"
      "dle";  // 13
  const DoctorReport report = examine_texts({{"train", {room.write("bad", bytes)}}}, {.max_words = 5});
  CHECK(short_findings(report) ==
        std::vector<std::string>{"1 byte order mark at the start of the file",
                                 "2 carriage return at the end of the line",
                                 "3 carriage return within the line", "4 U+2028 (line separator)",
                                 "5 U+2029 (paragraph separator)", "6 U+0085 (next line)", "7 error NUL byte",
                                 "8 error invalid UTF-8", "9 empty line", "10 empty line", "11 overlong line",
                                 "12 overlong line", "13 U+FEFF (byte order mark) within the text"});
  CHECK(report.errors == 2);
  CHECK(report.warnings == 11);
  CHECK(report.text().find((room.path() / "bad").string() + ":8: error: invalid UTF-8: byte 5\n") !=
        std::string::npos);
}

TEST_CASE("the doctor compares sides and splits") {
  const Room room;
  const TextSplit train{"train", {room.write("t.en", "a\nb\nc\n"), room.write("t.de", "A\nB\n")}};
  const TextSplit valid{"valid", {room.write("v.en", "b\nb\n"), room.write("v.de", "B\nX\n")}};
  const TextSplit test{"test", {room.write("e.en", ""), room.path() / "absent"}};
  const DoctorReport report = examine_texts({train, valid, test}, {});
  CHECK(short_findings(report) == std::vector<std::string>{"3 error unequal line counts",
                                                           "1 duplicate across splits", "0 error empty file",
                                                           "0 error unreadable file"});
  CHECK(report.findings[0].message ==
        "unequal line counts: 2 lines, but " + (room.path() / "t.en").string() + " has 3");
  CHECK(report.findings[1].message == "duplicate across splits: also line 2 of train");
}

TEST_CASE("the doctor lists only the first of many") {
  const Room room;
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += "\n";
  const DoctorReport report = examine_texts({{"train", {room.write("empty", bytes)}}}, {.listed = 3});
  CHECK(report.findings.size() == 3);
  CHECK(report.counts.at("empty line") == 1000);
  CHECK(report.text().find("… and 997 more: empty line\n") != std::string::npos);
}

TEST_CASE("tasks tell the doctor what they read") {
  const Room room;
  for (const char* const name : {"set/train.en", "set/train.de", "set/val.en", "set/val.de", "set/test.en"})
    room.write(name, "x\n");
  DataSpec data;
  read_spec(Tree::parse("root: '" + room.path().string() + "'\ntask: {kind: parallel_text, folder: set}"),
            data);
  const DoctorReport report = data.examine();
  CHECK(report.files == 5);
  CHECK(report.errors == 1);  // test.de is missing
  CHECK(report.counts.at("unreadable file") == 1);
  CHECK(report.counts.at("duplicate across splits") == 1);
  read_spec(Tree::parse("task: copy"), data);
  CHECK(data.examine().files == 0);
}

TEST_CASE("the doctor goes through Multi30k") {
  const char* const shared = std::getenv("ATTNLAB_SHARED_DATA");
  if (shared == nullptr) {
    std::cerr << "skipped: ATTNLAB_SHARED_DATA is not set, Multi30k was not examined\n";
    return;
  }
  DataSpec data;
  read_spec(
      Tree::parse(
          "root: '" + std::string(shared) +
          "'\ntask: {kind: parallel_text, folder: multi30k, test: [test_2016_flickr, test_2017_flickr]}"),
      data);
  const DoctorReport report = data.examine();
  CHECK(report.files == 8);
  CHECK(report.lines == 2 * (29000 + 1014 + 1000 + 1000));
  CHECK(report.errors == 0);
  std::cerr << report.text();
}
