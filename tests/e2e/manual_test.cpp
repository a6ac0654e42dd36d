// The manual page, and the pages of the docs that are made from the same words.
#include "heed/cli/verb.h"
#include "tests/e2e/support.h"

namespace heed::test {
namespace {

TEST_F(Verbs, TheManualPageHasEveryVerbAndIsRoff) {
  const Outcome page = heed("manual");
  EXPECT_EQ(page.code, 0);
  EXPECT_TRUE(page.out.starts_with(".TH HEED 1")) << page.out;
  for (const auto& verb : cli::verbs())
    EXPECT_NE(page.out.find(".SH HEED " + verb.name + "\n"), std::string::npos) << verb.name;
  EXPECT_NE(page.out.find(".SH EXIT STATUS\n"), std::string::npos);
  const bool groff = shell("command -v groff").code == 0;
  EXPECT_EQ(groff ? shell("groff -man -Tascii -ww -z " + file("heed.1", page.out)).output : "", "");
  refuses("manual train", 2, "`heed train --help` describes one verb");
  refuses("manual --markdown trian", 2, "did you mean 'train'?");
}

// scripts/verb-pages writes them anew.
TEST_F(Verbs, ThePagesOfTheDocsAreWhatHelpSays) {
  std::set<std::string> known = {"README.md"};
  EXPECT_EQ(content(HEED_SOURCE_DIR "/docs/verbs/README.md"), heed("manual --markdown").out);
  for (const auto& verb : cli::verbs()) {
    known.insert(verb.name + ".md");
    const Outcome page = heed("manual --markdown " + verb.name);
    EXPECT_EQ(page.code, 0);
    EXPECT_EQ(content(HEED_SOURCE_DIR "/docs/verbs/" + verb.name + ".md"), page.out)
        << "scripts/verb-pages writes docs/verbs anew";
  }
  for (const auto& entry : std::filesystem::directory_iterator(HEED_SOURCE_DIR "/docs/verbs"))
    EXPECT_TRUE(known.contains(entry.path().filename())) << entry.path() << " is of no verb";
}

}  // namespace
}  // namespace heed::test
