// The language server, asked through streams as an editor asks it, and once as a program.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "contains.hpp"
#include "neslc/lsp/document.hpp"
#include "neslc/lsp/json.hpp"
#include "neslc/lsp/server.hpp"
#include "neslc/lsp/unicode.hpp"
#include "neslc/lsp/uri.hpp"
#include "process.hpp"

namespace neslc::testing {
namespace {

using lsp::Json;
using ::testing::contains;

std::string framed(const std::string& content) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", content.size(), content);
}

/// All messages of an output.
std::vector<Json> messages_of(const std::string& output) {
  std::vector<Json> messages;
  std::size_t at = 0;
  while (at < output.size()) {
    constexpr std::string_view kHead = "Content-Length: ", kGap = "\r\n\r\n";
    REQUIRE(output.compare(at, kHead.size(), kHead) == 0);
    const std::size_t length = std::stoul(output.substr(at + kHead.size()));
    const std::size_t begin = output.find(kGap, at) + kGap.size();
    const auto message = Json::parse(output.substr(begin, length));
    REQUIRE(message);
    messages.push_back(*message);
    at = begin + length;
  }
  return messages;
}

/// What an editor says to a server, and what it is told.
class Conversation {
 public:
  Conversation() { request("initialize", Json::Object{{"capabilities", Json::Object{}}}); }

  void send(const Json& message) { input_ += framed(message.text()); }
  void send_raw(const std::string& bytes) { input_ += bytes; }

  /// Returns the number of the request.
  int request(const std::string& method, Json parameters) {
    send(Json::Object{{"jsonrpc", "2.0"},
                      {"id", ++requests_},
                      {"method", method},
                      {"params", std::move(parameters)}});
    return requests_;
  }
  void notify(const std::string& method, Json parameters) {
    send(Json::Object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(parameters)}});
  }
  void open(const std::string& text, const std::string& uri = "file:///a.nesl") {
    const Json::Object document{
        {"uri", uri}, {"languageId", "nesl"}, {"version", 1}, {"text", text}};
    notify("textDocument/didOpen", Json::Object{{"textDocument", document}});
  }
  int ask(const std::string& question, int line, int character) {
    return request("textDocument/" + question,
                   Json::Object{{"textDocument", Json::Object{{"uri", "file:///a.nesl"}}},
                                {"position", place(line, character)}});
  }
  static Json place(int line, int character) {
    return Json::Object{{"line", line}, {"character", character}};
  }
  static Json range(int line, int begin, int end) {
    return Json::Object{{"start", place(line, begin)}, {"end", place(line, end)}};
  }

  /// Hears the server to the end. Returns its status.
  int listen() {
    std::istringstream in(input_);
    std::ostringstream out;
    const int status = lsp::Server(in, out).run();
    messages_ = messages_of(out.str());
    return status;
  }
  const std::vector<Json>& messages() const { return messages_; }
  const Json& reply(int id) const {
    static const Json none;
    for (const Json& message : messages_) {
      if (message["id"] == Json(id)) return message;
    }
    FAIL("no answer to " << id);
    return none;
  }
  const Json& result(int id) const { return reply(id)["result"]; }
  std::int64_t error(int id) const {
    const std::int64_t* const code = reply(id)["error"]["code"].integer();
    return code == nullptr ? 0 : *code;
  }
  /// The last diagnostics that were published.
  Json::Array diagnostics() const {
    const auto last = std::find_if(messages_.rbegin(), messages_.rend(), [](const Json& message) {
      return message["method"] == Json("textDocument/publishDiagnostics");
    });
    REQUIRE(last != messages_.rend());
    return *(*last)["params"]["diagnostics"].array();
  }

 private:
  std::string input_;
  int requests_ = 0;
  std::vector<Json> messages_;
};

std::string text_of(const Json& json) {
  return json.string() == nullptr ? json.text() : *json.string();
}

/// What is shown for a place of a text; "null" for nothing.
std::string hover(const std::string& text, int line, int character) {
  Conversation editor;
  editor.open(text);
  const int asked = editor.ask("hover", line, character);
  editor.listen();
  return text_of(editor.result(asked)["contents"]["value"]);
}

std::string definition(const std::string& text, int line, int character) {
  Conversation editor;
  editor.open(text);
  const int asked = editor.ask("definition", line, character);
  editor.listen();
  return editor.result(asked)["range"].text();
}

std::vector<std::string> completion(const std::string& text, int line, int character) {
  Conversation editor;
  editor.open(text);
  const int asked = editor.ask("completion", line, character);
  editor.listen();
  std::vector<std::string> labels;
  for (const Json& item : *editor.result(asked).array()) labels.push_back(*item["label"].string());
  return labels;
}

// ---- JSON and characters

TEST_CASE("JSON: values are read and written") {
  for (const char* text :
       {"null", "true", "false", "0", "-12", "9223372036854775807", "1.5", "\"\"", "[]", "{}",
        R"([1,"two",[null,{}]])", R"({"a":{"b":[true]},"c":"\"\\\u0001"})", "\"\xc3\xa9\""}) {
    INFO(text);
    const auto value = Json::parse(text);
    REQUIRE(value);
    CHECK(value->text() == text);
  }
  CHECK(Json::parse(" { \"a\" : [ 1 , 2 ] }\r\n")->text() == R"({"a":[1,2]})");
  CHECK(Json::parse(R"("\u00e9\n\/\ud83d\ude00")")->text() ==
        "\"\xc3\xa9\\u000a/\xf0\x9f\x98\x80\"");
  CHECK(Json::parse(R"({"a":1,"a":2})")->text() == R"({"a":2})");
  CHECK(Json::parse("1e2") == Json(100.0));
  CHECK(Json::parse("9223372036854775808") == Json(9223372036854775808.0));
}

TEST_CASE("JSON: what is no value is refused, what is no character replaced") {
  for (const char* text :
       {"",         " ",     "nul",        "tru",  "01",      "-",         "1.",
        ".5",       "1e",    "+1",         "[1,]", "[1",      "[1 2]",     "{\"a\"}",
        "{\"a\":}", "{a:1}", "{\"a\":1,}", "\"",   "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"",
        "\"\n\"",   "1 2",   "'a'",        "nan",  "1e999",   "\"\\",      "\"\\u"}) {
    INFO(text);
    CHECK_FALSE(Json::parse(text));
  }
  CHECK(Json::parse(std::string(200, '[') + std::string(200, ']')));
  CHECK_FALSE(Json::parse(std::string(100'000, '[')));
  const std::string replaced = "\"\xef\xbf\xbd\"";
  for (const char* text : {"\"\\ud800\"", "\"\\udc00\"", "\"\xff\"", "\"\xc3\"", "\"\xe2\x82\""}) {
    INFO(text);
    const std::string got = Json::parse(text)->text();
    CHECK(got.starts_with(replaced.substr(0, replaced.size() - 1)));
  }
  CHECK(Json::parse("\"\\ud800\\u0041\"")->text() ==
        "\"\xef\xbf\xbd"
        "A\"");
}

TEST_CASE("columns are units of UTF-16") {
  // One, two, three and four bytes; the last character has two units.
  const std::string line = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
  const std::size_t bytes[] = {0, 1, 3, 6, 10, 11};
  const std::size_t units[] = {0, 1, 2, 3, 5, 6};
  for (std::size_t i = 0; i < std::size(bytes); ++i) {
    INFO(i);
    CHECK(lsp::utf16_units(line, bytes[i]) == units[i]);
    CHECK(lsp::byte_at(line, units[i]) == bytes[i]);
  }
  CHECK(lsp::utf16_units(line, 99) == 6);
  CHECK(lsp::byte_at(line, 99) == line.size());
  CHECK(lsp::byte_at(line, 4) == 10);  // inside of a pair: behind it
  CHECK(lsp::utf16_units("\xff\xfe", 2) == 2);
}

// ---- The life of a server

TEST_CASE("a server begins and ends") {
  Conversation editor;
  editor.notify("initialized", Json::Object{});
  const int shutdown = editor.request("shutdown", {});
  const int late = editor.ask("hover", 0, 0);
  editor.notify("exit", {});
  editor.send_raw("never read");
  CHECK(editor.listen() == 0);
  const Json& capabilities = editor.result(1)["capabilities"];
  CHECK(capabilities["hoverProvider"] == Json(true));
  CHECK(capabilities["textDocumentSync"]["change"] == Json(1));
  CHECK(capabilities["positionEncoding"] == Json("utf-16"));
  CHECK(editor.reply(shutdown)["result"].is_null());
  CHECK(editor.error(shutdown) == 0);
  CHECK(editor.error(late) == -32600);
  Conversation rude;
  rude.notify("exit", {});
  CHECK(rude.listen() == 1);
  CHECK(Conversation().listen() == 1);  // the input ends
}

TEST_CASE("messages that are wrong are refused, and the next one is answered") {
  Conversation editor;
  editor.send_raw(framed("{\"jsonrpc\":"));
  editor.send_raw(framed("[]"));
  editor.send_raw(framed("{\"id\":\"text\",\"method\":7}"));
  editor.send_raw("Content-Type: x\r\n\r\n");                     // no length: skipped
  editor.send_raw("content-LENGTH:   2\r\nX-More: y\r\n\r\n{}");  // names of headers ignore case
  const int unknown = editor.request("textDocument/rename", {});
  const int again = editor.request("initialize", {});
  editor.notify("$/setTrace", {});  // an unknown notification is ignored
  editor.notify("textDocument/didOpen", Json::Object{{"textDocument", 5}});
  editor.notify("textDocument/didChange", Json::Object{{"contentChanges", "no list"}});
  editor.notify("textDocument/didClose", {});
  const int nowhere = editor.ask("hover", 0, 0);
  editor.send(Json::Object{{"id", "words"}, {"method", "textDocument/hover"}});
  editor.listen();
  const std::vector<Json>& messages = editor.messages();
  REQUIRE(messages.size() == 9);
  CHECK(messages[1]["error"]["code"] == Json(-32700));
  for (const std::size_t k : {2, 3, 4}) CHECK(messages[k]["error"]["code"] == Json(-32600));
  CHECK(messages[3]["id"] == Json("text"));
  CHECK(editor.error(unknown) == -32601);
  CHECK(editor.error(again) == -32600);
  CHECK(editor.error(nowhere) == -32602);
  CHECK(messages[8]["id"] == Json("words"));
  CHECK(messages[8]["error"]["code"] == Json(-32602));
}

TEST_CASE("requests before `initialize` are refused") {
  std::istringstream in(framed(R"({"id":1,"method":"textDocument/hover"})"));
  std::ostringstream out;
  CHECK(lsp::Server(in, out).run() == 1);
  CHECK(messages_of(out.str()).at(0)["error"]["code"] == Json(-32002));
}

TEST_CASE("lengths that are wrong end the conversation") {
  for (const char* input :
       {"Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length: 999999999999\r\n\r\n{}",
        "Content-Length: 10\r\n\r\n{}", "Content-Length: -1\r\n\r\n{}", "Content-Length: 5"}) {
    INFO(input);
    std::istringstream in(input);
    std::ostringstream out;
    CHECK(lsp::Server(in, out).run() == 1);
    CHECK(out.str().empty());
  }
  std::istringstream in(std::string(1'000'000, 'x'));
  std::ostringstream out;
  CHECK(lsp::Server(in, out).run() == 1);
}

// ---- Errors

TEST_CASE("errors are published with their place, notes and hint") {
  Conversation editor;
  editor.open("function sq(x) = x * x;\nsq(3);\nsqq(4);\n1 + 2.0;\n");
  editor.listen();
  const Json::Array errors = editor.diagnostics();
  REQUIRE(errors.size() == 2);
  CHECK(errors[0]["range"] == Conversation::range(2, 0, 3));
  CHECK(errors[0]["severity"] == Json(1));
  CHECK(errors[0]["source"] == Json("nesl"));
  CHECK(errors[0]["code"] == Json("E0103"));
  CHECK(contains(text_of(errors[0]["message"]), "`sqq` is not defined"));
  CHECK(contains(text_of(errors[0]["message"]), "help: did you mean `sq`?"));
  CHECK(errors[1]["range"]["start"]["line"] == Json(3));
}

TEST_CASE("errors go when the text is mended or closed") {
  const Json uri = Json::Object{{"uri", "file:///a.nesl"}};
  Conversation editor;
  editor.open("1 +;");
  editor.notify("textDocument/didChange",
                Json::Object{{"textDocument", uri},
                             {"contentChanges", Json::Array{Json::Object{{"text", "1 +"}},
                                                            Json::Object{{"text", "1 + 1;"}}}}});
  editor.open("2 +;");
  editor.notify("textDocument/didClose", Json::Object{{"textDocument", uri}});
  const int closed = editor.ask("hover", 0, 0);
  editor.listen();
  std::vector<std::size_t> counts;
  for (const Json& message : editor.messages()) {
    if (!message["method"].is_null()) {
      counts.push_back(message["params"]["diagnostics"].array()->size());
    }
  }
  CHECK(counts == std::vector<std::size_t>{1, 0, 1, 0});
  CHECK(editor.error(closed) == -32602);
}

TEST_CASE("places count in UTF-16, and at the end of the text one character is marked") {
  Conversation editor;
  editor.open("\"\xc3\xa9\xf0\x9f\x98\x80\" ++ abc;");
  editor.listen();
  REQUIRE(editor.diagnostics().size() == 1);
  CHECK(editor.diagnostics()[0]["range"] == Conversation::range(0, 9, 12));
  Conversation open;
  open.open("function f2(x) =\n  x +");
  open.listen();
  REQUIRE(open.diagnostics().size() == 1);
  CHECK(open.diagnostics()[0]["range"]["start"]["line"] == Json(1));
}

TEST_CASE("texts of all kinds are checked") {
  std::string big, deep(100'000, '('), wrong;
  for (int i = 0; i < 2'000; ++i) big += fmt::format("function g{0}(x) = x + {0};\n", i);
  for (int i = 0; i < 1'000; ++i) wrong += "x +;\n";
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  for (const std::string& text :
       {std::string(), std::string("%"), std::string("\"abc"), big, deep, bytes,
        std::string("load \"other\";"), std::string("\r\n\r\n;;")}) {
    Conversation editor;
    editor.open(text);
    const int asked = editor.ask("completion", 1'000'000, 1'000'000);
    const int negative = editor.ask("hover", -1, -1);
    editor.listen();
    CHECK(editor.error(asked) == 0);
    CHECK(editor.error(negative) == 0);
  }
  Conversation editor;
  editor.open(wrong);
  editor.listen();
  CHECK(editor.diagnostics().size() == 200);
}

TEST_CASE("nothing of a program is run") {
  const Folder folder;
  const std::string file = (folder.path() / "made").string();
  Conversation editor;
  editor.open("x = write_string_to_file(\"abc\", \"" + file + "\");\n1 / 0;\nshell \"touch " +
              file + "\";\nfunction h(n) = h(n + 1);\nh(0);\n");
  editor.listen();
  CHECK_FALSE(std::filesystem::exists(file));
}

// ---- Names

const std::string kProgram =
    "function mean(v) = sum(v) / #v;\n"
    "datatype point(float, float);\n"
    "function far(p) =\n"
    "  let point(x, y) = p in sqrt(x * x + y * y);\n"
    "a, b = 3, [2.0];\n"
    "mean([1, a]) + #b;\n"
    "{x + a : x in [1, 2]};\n";

TEST_CASE("the type of a name is shown") {
  CHECK(hover(kProgram, 0, 9) == "```nesl\nmean : [int] -> int\n```");
  CHECK(hover(kProgram, 0, 24) == "```nesl\nv : [int]\n```");
  CHECK(hover(kProgram, 3, 31) == "```nesl\nx : float\n```");
  CHECK(hover(kProgram, 3, 12) == "```nesl\nx : float\n```");
  CHECK(hover(kProgram, 4, 0) == "```nesl\na : int\n```");
  CHECK(hover(kProgram, 5, 9) == "```nesl\na : int\n```");
  CHECK(hover(kProgram, 6, 9) == "```nesl\nx : int\n```");
  // Directly behind a name, and at a use with one type of the many.
  CHECK(hover(kProgram, 5, 4) == "```nesl\nmean : [int] -> int\n```");
  CHECK(contains(hover("w_gray;", 0, 2), "w_gray : int"));  // a name that programs may define
  CHECK(hover("function twice(s) = {x + x : x in s};", 0, 21) ==
        "```nesl\nx : a :: (a in number)\n```");
  // Names ignore case.
  CHECK(hover("Abc = 1; aBC;", 0, 10) == "```nesl\nabc : int\n```");
  for (const auto& [line, column] : {std::pair{0, 17}, {0, 2}, {5, 7}, {99, 0}, {1, 18}}) {
    INFO(line << " " << column);
    CHECK(hover(kProgram, line, column) == "null");
  }
}

TEST_CASE("functions of the library are described, those of the program have their comment") {
  const std::string sum = hover(kProgram, 0, 20);
  CHECK(sum.starts_with("```nesl\nsum : [int] -> int\n```"));
  CHECK(contains(sum, "INTERFACE:"));
  CHECK(contains(sum, "DOCUMENTATION:"));
  CHECK(contains(hover("function one(x) \"Always one.\" = 1;\none(2);", 1, 1), "Always one."));
}

TEST_CASE("where a name is defined") {
  CHECK(definition(kProgram, 5, 1) == Conversation::range(0, 9, 13).text());
  CHECK(definition(kProgram, 5, 9) == Conversation::range(4, 0, 1).text());
  CHECK(definition(kProgram, 3, 30) == Conversation::range(3, 12, 13).text());
  CHECK(definition(kProgram, 0, 23) == Conversation::range(0, 14, 15).text());
  CHECK(definition(kProgram, 0, 20) == "null");  // of the library
  // A use means the definition before it, and a function itself.
  const std::string redefined = "function h(n) = n;\nh(1);\nfunction h(n) = h(n);\nh(1);\n";
  CHECK(definition(redefined, 1, 0) == Conversation::range(0, 9, 10).text());
  CHECK(definition(redefined, 2, 16) == Conversation::range(2, 9, 10).text());
  CHECK(definition(redefined, 3, 0) == Conversation::range(2, 9, 10).text());
}

TEST_CASE("addresses of files") {
  CHECK(lsp::path_of("file:///a/b%20c.nesl") == "/a/b c.nesl");
  CHECK(lsp::uri_of("/a/b c%\xc3\xa9.nesl") == "file:///a/b%20c%25%C3%A9.nesl");
  CHECK(lsp::path_of(lsp::uri_of("/a/b c%\xc3\xa9.nesl")) == "/a/b c%\xc3\xa9.nesl");
  for (const char* uri : {"", "a.nesl", "untitled:1", "file://host/a", "file:///a%", "file:///a%2",
                          "file:///a%zz", "file:///a%00b"}) {
    INFO(uri);
    CHECK_FALSE(lsp::path_of(uri));
  }
}

TEST_CASE("definitions of loaded files are known") {
  const Folder folder;
  const std::string program = (folder.path() / "a b.nesl").string();
  // They load each other; one form is wrong, and what it defines unknown.
  const std::string shapes = folder
                                 .write("shapes.nesl",
                                        "load \"more\";\nload \"a b.nesl\";\n"
                                        "function area(w, h) = w * h;\nunit = 1;\n"
                                        "function wrong(x) = x + \"\";\n1 / 0;\n")
                                 .string();
  folder.write("more.nesl", "load \"shapes\";\nfunction twice(x) = x + x;\n");
  Conversation editor;
  const std::string uri = lsp::uri_of(program);
  editor.open("load \"shapes\";\narea(unit, twice(3));\nwrong(1);\nload \"none\";\n", uri);
  const Json document = Json::Object{{"uri", uri}};
  const int asked = editor.request(
      "textDocument/definition",
      Json::Object{{"textDocument", document}, {"position", Conversation::place(1, 6)}});
  editor.listen();
  const Json::Array errors = editor.diagnostics();
  REQUIRE(errors.size() == 2);
  CHECK(contains(text_of(errors[0]["message"]), "`wrong` is not defined"));
  CHECK(contains(text_of(errors[1]["message"]), "there is no file"));
  CHECK(errors[1]["severity"] == Json(2));
  CHECK(errors[1]["range"]["start"]["line"] == Json(3));
  CHECK(editor.result(asked)["uri"] == Json(lsp::uri_of(shapes)));
  CHECK(editor.result(asked)["range"] == Conversation::range(3, 0, 4));
}

TEST_CASE("definitions of modules are known") {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "lib");
  folder.write("lib/shapes.nesl", "import \"more\";\nfunction area(w, h) = twice(w * h);\n");
  folder.write("lib/more.nesl", "import \"shapes\";\nfunction twice(x) = x + x;\n");
  Conversation editor;
  editor.open(
      "import \"lib/shapes\";\narea(1, twice(2));\nimport \"none\";\nimport \"/dev/zero\";\n",
      lsp::uri_of((folder.path() / "main.nesl").string()));
  editor.listen();
  const Json::Array errors = editor.diagnostics();
  REQUIRE(errors.size() == 2);
  CHECK(contains(text_of(errors[0]["message"]), "there is no file"));
  CHECK(errors[0]["range"]["start"]["line"] == Json(2));
  CHECK(errors[1]["range"]["start"]["line"] == Json(3));
}

TEST_CASE("what is no file is not read") {
  Conversation editor;
  editor.open("load \"/dev/zero\";\nload \"/\";\nload \"a\" ++ \"b\";\nload;\n");
  editor.listen();
  CHECK(editor.diagnostics().size() == 2);
  Conversation nowhere;
  nowhere.open("load \"a\";", "untitled:1");
  nowhere.listen();
  CHECK(nowhere.diagnostics().empty());
}

TEST_CASE("the outline of a text") {
  Conversation editor;
  editor.open(kProgram);
  const int asked =
      editor.request("textDocument/documentSymbol",
                     Json::Object{{"textDocument", Json::Object{{"uri", "file:///a.nesl"}}}});
  editor.listen();
  std::string outline;
  for (const Json& symbol : *editor.result(asked).array()) {
    outline += text_of(symbol["name"]) + " : " + text_of(symbol["detail"]) + "\n";
  }
  CHECK(outline ==
        "mean : [int] -> int\n"
        "point : (float, float) -> point\n"
        "far : point -> float\n"
        "a : int\n"
        "b : [float]\n");
  const Json& far = (*editor.result(asked).array())[2];
  CHECK(far["kind"] == Json(12));
  CHECK(far["range"]["start"] == Conversation::place(2, 0));
  CHECK(far["range"]["end"] == Conversation::place(3, 44));
  CHECK(far["selectionRange"] == Conversation::range(2, 9, 12));
}

TEST_CASE("names that may stand at a place") {
  using Labels = std::vector<std::string>;
  CHECK(completion("function meander(v) = v;\nmean", 1, 4) == Labels{"meander"});
  CHECK(completion("apple = 1; apricot = 2; APR", 0, 27) == Labels{"apricot"});
  // `val` is an error: the names of the form are all that is known.
  CHECK(completion("function g(value) = let valued = 1 in val + 1;", 0, 41) ==
        Labels{"value", "valued"});
  CHECK(completion("function g(value) = let valued = 1 in val", 0, 41) ==
        Labels{"value", "valued"});
  CHECK(completion("function g(value) = value;\nval +", 1, 3).empty());
  CHECK(completion("function g(value) = let valued = 1 in value + 1;", 0, 41) ==
        Labels{"value", "valued"});
  const Labels words = completion("th", 0, 2);
  CHECK(std::find(words.begin(), words.end(), "then") != words.end());
  const Labels all = completion("", 0, 0);
  CHECK(all.size() > 200);
  CHECK(std::is_sorted(all.begin(), all.end()));
  CHECK(completion("\"su\"", 0, 3).empty());
  const Labels library = completion("quick", 0, 3);
  CHECK(std::all_of(library.begin(), library.end(),
                    [](const std::string& name) { return name.starts_with("qui"); }));
}

TEST_CASE("a chain of operators has any length") {
  std::string text = "function long(x) = x";
  for (int i = 0; i < 100'000; ++i) text += " + x";
  lsp::Document document("file:///long.nesl", text + ";");
  CHECK(document.errors().empty());
  const auto last = static_cast<std::uint32_t>(text.size());
  const auto meaning = document.meaning(1, last);
  REQUIRE(meaning);
  CHECK(meaning->type.starts_with("x : "));
}

TEST_CASE("nesl lsp is the server") {
  const Folder folder;
  folder.write("input", framed(R"({"id":1,"method":"initialize"})") +
                            framed(R"({"id":2,"method":"shutdown"})") +
                            framed(R"({"method":"exit"})"));
  const Output output = run(std::string("'") + NESL_PROGRAM + "' lsp < input", folder);
  CHECK(output.status == 0);
  CHECK(output.err.empty());
  const std::vector<Json> messages = messages_of(output.out);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0]["result"]["serverInfo"]["name"] == Json("nesl"));
  CHECK(run(std::string("'") + NESL_PROGRAM + "' lsp file.nesl").status == 2);
}

}  // namespace
}  // namespace neslc::testing
