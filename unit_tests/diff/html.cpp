// The HTML page of a comparison: what stands in it, and what a browser makes of it (skipped where there is none).
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <halfbridge/diff/compare.h>
#include <halfbridge/diff/html.h>

namespace {

namespace fs = std::filesystem;
using namespace hb::layer_diff;
using Json = nlohmann::json;

constexpr const char* kHostile =
    "</script><img src=x onerror=\"document.documentElement.dataset.error='hostile'\">&amp;";

/// A trace in one file: a root and `paths` below it, each with an output and a gradient of its input, values of a ramp
/// plus `error` from the layer `from` on.
void write_trace(const fs::path& folder, const std::vector<std::string>& paths, size_t from, float error) {
  fs::create_directories(folder);
  Json header, metadata = {{"halfbridge.trace", "1"}, {"producer", "test"}, {"file", "0"}, {"end", "complete"}};
  std::string bytes;
  int order = 0;
  const auto record = [&](const std::string& kind, size_t call, const std::string& path, const std::string& type,
                          float extra) {
    const std::string name = std::to_string(order) + "/" + kind;
    std::vector<float> values(48);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 0.1f * static_cast<float>(i) + extra * static_cast<float>(i % 5);
    header[name] = {
        {"dtype", "F32"}, {"shape", {2, 4, 6}}, {"data_offsets", {bytes.size(), bytes.size() + 4 * values.size()}}};
    bytes.append(reinterpret_cast<const char*>(values.data()), 4 * values.size());
    Json entry = {{"order", order++}, {"step", 0},        {"kind", kind},   {"index", 0},
                  {"call", call},     {"path", path},     {"root", "Net"},  {"type", type},
                  {"config", "4, 6"}, {"training", true}, {"dtype", "F32"}, {"shape", {2, 4, 6}}};
    if (call > 0) entry["parent"] = 0;
    metadata[name] = entry.dump();
  };
  for (size_t i = 0; i < paths.size(); ++i) record("output", i + 1, paths[i], "Linear", i >= from ? error : 0);
  record("output", 0, "", "Net", error);
  for (size_t i = paths.size(); i-- > 0;) record("grad_input", i + 1, paths[i], "Linear", 0);
  header["__metadata__"] = metadata;
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t size = text.size();
  std::ofstream file(folder / "trace-00000.safetensors", std::ios::binary);
  file.write(reinterpret_cast<const char*>(&size), 8);
  file << text << bytes;
}

class HtmlPage : public testing::Test {
 protected:
  HtmlPage() : folder_(fs::temp_directory_path() / ("halfbridge_html_" + std::to_string(getpid()))) {}
  ~HtmlPage() override { fs::remove_all(folder_); }

  Report report(float error, const std::vector<std::string>& paths = {"first", "block.second", kHostile, "last"}) {
    write_trace(folder_ / "ref", paths, 0, 0);
    write_trace(folder_ / "test", paths, 1, error);
    return compare(Trace::open(folder_ / "ref"), Trace::open(folder_ / "test"), CompareOptions());
  }

  /// The document after its scripts ran.
  std::string in_browser(const std::string& page) {
#ifdef HALFBRIDGE_BROWSER
    std::ofstream(folder_ / "page.html") << page;
    const std::string command =
        std::string(HALFBRIDGE_BROWSER) + " --headless --no-sandbox --disable-gpu --user-data-dir='" +
        (folder_ / "profile").string() + "' --dump-dom 'file://" + (folder_ / "page.html").string() + "' 2>/dev/null";
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, n);
    EXPECT_EQ(pclose(pipe), 0) << command;
    return text;
#else
    return "";
#endif
  }
  static bool has_browser() {
#ifdef HALFBRIDGE_BROWSER
    return true;
#else
    return false;
#endif
  }

  fs::path folder_;
};

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The JSON that the page carries.
Json data_of(const std::string& page) {
  const std::string open = "id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST_F(HtmlPage, CarriesTheReportOnce) {
  const std::string page = html_page(report(0.5f));
  const Json data = data_of(page);
  EXPECT_EQ(data["layers"].size(), 5u);
  EXPECT_FALSE(data["agree"].get<bool>());
  EXPECT_FALSE(data["first_forward"].is_null());
  EXPECT_EQ(count(page, "block.second"), count(page, "\"path\":\"block.second\""));
}

TEST_F(HtmlPage, AsksTheNetworkForNothing) {
  std::string page = html_page(report(0.5f));
  EXPECT_NE(page.find("default-src 'none'"), page.npos);
  EXPECT_EQ(count(page, "http"), 2u);  // http-equiv, and the name of SVG's namespace
  EXPECT_EQ(count(page, "http://www.w3.org/2000/svg"), 1u);
}

TEST_F(HtmlPage, HostileNamesStayText) {
  const std::string page = html_page(report(0.5f));
  EXPECT_EQ(page.find("<img"), page.npos);
  EXPECT_EQ(count(page, "</script>"), 3u);  // the data and the two scripts of the page
}

TEST_F(HtmlPage, PacksHeatMaps) {
  Report r = report(0.5f);
  HeatMap map{{0}, 1, 4, {0, 1e-3, 1, std::numeric_limits<double>::infinity()}};
  for (LayerDiff& layer : r.layers)
    if (r.first_forward == layer.id) layer.forward.at(0).heat_map = map;
  const Json data = data_of(html_page(r));
  for (const Json& layer : data["layers"])
    if (layer["id"] == data["first_forward"]) {
      EXPECT_EQ(layer["forward"][0]["heat_map"]["cells"], ".0_!");
    }
}

TEST_F(HtmlPage, ShowsTheFirstDivergenceInABrowser) {
  if (!has_browser()) GTEST_SKIP() << "no Chromium was found when the tests were configured";
  Report r = report(0.5f);
  ASSERT_TRUE(r.first_forward);
  for (LayerDiff& layer : r.layers)
    if (layer.id == *r.first_forward) layer.hints = {{"eps", "agrees with eps=0.001", 1e-7}};
  const std::string dom = in_browser(html_page(r));
  EXPECT_NE(dom.find("data-ready=\"1\""), dom.npos) << dom.substr(0, 2000);
  EXPECT_EQ(dom.find("data-error"), dom.npos) << dom.substr(0, 2000);
  EXPECT_NE(dom.find("First divergence: block.second (Linear), forward. Cause found: agrees with eps=0.001."),
            dom.npos);
  EXPECT_EQ(count(dom, "<tr tabindex="), r.layers.size());
  EXPECT_EQ(count(dom, "class=\"first selected\""), 1u);  // it opens there
  EXPECT_NE(dom.find("class=\"histogram\""), dom.npos);
  EXPECT_NE(dom.find("<canvas"), dom.npos);
  EXPECT_NE(dom.find("&lt;img src=x"), dom.npos);
}

TEST_F(HtmlPage, SortsFiltersAndFollowsKeysInABrowser) {
  if (!has_browser()) GTEST_SKIP() << "no Chromium was found when the tests were configured";
  std::string page = html_page(report(0.5f));
  // What a user does, and what is seen then, left in attributes of the document.
  const std::string script = R"js(<script>
const seen = document.documentElement.dataset, $all = (s) => [...document.querySelectorAll(s)];
const title = () => document.querySelector("#detail h2").textContent;
$all("#layers th button").find((b) => b.textContent === "max abs").click();
seen.sorted = $all("#layers tbody tr").map((r) => r.children[3].textContent).join("|");
const filter = document.querySelector("#layers input");
filter.value = "BLOCK";
filter.dispatchEvent(new Event("input"));
seen.filtered = $all("#layers tbody tr").length;
filter.value = "";
filter.dispatchEvent(new Event("input"));
$all("#layers th button")[0].click();
const rows = $all("#layers tbody tr");
rows[0].focus();
rows[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
seen.followed = title().includes(rows[1].children[1].textContent.slice(2)) && document.activeElement === rows[1];
$all("#tree button").find((b) => b.textContent.includes("first")).click();
seen.tree = title().includes("first");
</script>)js";
  page.insert(page.find("</body>"), script);
  const std::string dom = in_browser(page);
  EXPECT_EQ(dom.find("data-error"), dom.npos) << dom.substr(0, 2000);
  const std::string html = dom.substr(dom.find("<html"), 1000);
  EXPECT_NE(html.find("data-sorted=\"2|2|2|2|0\""), html.npos) << html;
  EXPECT_NE(html.find("data-filtered=\"1\""), html.npos) << html;
  EXPECT_NE(html.find("data-followed=\"true\""), html.npos) << html;
  EXPECT_NE(html.find("data-tree=\"true\""), html.npos) << html;
}

TEST_F(HtmlPage, SaysThatAllAgreeInABrowser) {
  if (!has_browser()) GTEST_SKIP() << "no Chromium was found when the tests were configured";
  const Report r = report(0);
  const std::string dom = in_browser(html_page(r));
  EXPECT_EQ(dom.find("data-error"), dom.npos) << dom.substr(0, 2000);
  EXPECT_NE(dom.find("All " + std::to_string(r.compared) + " pairs of tensors agree."), dom.npos);
}

}  // namespace
