// Tables of trained models: read, counted again, ranked. Figures of the published tables are checked where
// the tables are there (HEED_TEST_TABLES).
#include "heed/search/model_table.h"

#include <gtest/gtest.h>

#include "heed/base/files.h"
#include "heed/search/ranking.h"
#include "tests/support/messages.h"
#include "tests/support/test_data.h"

namespace heed::search {
namespace {

Ranking ranked(const std::vector<TableRow>& rows, const std::string& proxy) {
  return rank(rows, proxy, count_models(rows, proxies().find(proxy)));
}

using test::message_of;

constexpr const char* kHeader =
    "id,n_layer,d_model,d_embed,div_val,n_head,d_inner,cutoffs,n_token,total_params,nonembedding_params,attn_"
    "params,"
    "ffn_params,embedding_params,valid_ppl,latency,memory,tie_projs,tgt_len\n";
constexpr const char* kWikiText = "\"[false, true, true, true]\",192\n";
constexpr const char* kBillionWords = "\"[false, false, false, false]\",32\n";

class ModelTable : public testing::Test {
 protected:
  std::vector<TableRow> read(const std::string& content, const std::string& backbone = "") const {
    write_file(folder_ / "t.csv", content);
    return read_model_table(folder_ / "t.csv", backbone);
  }
  std::string refused(const std::string& content) const {
    const std::string message = message_of([&] { read(content); });
    return message.substr(message.find("t.csv"));
  }

  const TemporaryFolder folder_;
};

// Rows of the published tables, layer widths replaced by others of the same sum: sizes depend on it alone.
TEST_F(ModelTable, SizesAreCountedAsPublished) {
  const std::string rows = std::string(kHeader) +
                           "x0,5,64,512,2,8,1243,\"[19997, 39997, 199997, "
                           "267736]\",267736,41443618,906375,103040,802055,40235200,90,,," +
                           kWikiText +
                           "g0,5,128,256,4,\"[2, 4, 4, 8, 8]\",\"[1071, 640, 1286, 800, 1871]\",\"[19997, "
                           "39997, 199997, 50264]\",50264,"
                           "8505006,1790372,330240,1457316,6631088,45.02,,," +
                           kWikiText +
                           "gp1,2,384,-1,4,2,\"[3840, 2432]\",\"[59997, 99997, 639997, "
                           "50264]\",50264,25669336,6010496,1182720,4823936,"
                           "19461120,75.2,129.7,100," +
                           kBillionWords +
                           "xp1,2,384,384,4,2,\"[896, 2816]\",\"[59997, 99997, 639997, "
                           "267735]\",267735,35894601,4334464,1476096,2855296,"
                           "31098096,67.4,118.5,100," +
                           kBillionWords;
  const auto table = read(rows);
  ASSERT_EQ(table.size(), 4u);
  EXPECT_EQ(table[0].recipe.model.backbone, "transformer-xl");
  EXPECT_EQ(table[1].recipe.model.backbone, "gpt2");
  EXPECT_EQ(table[2].length, 32);
  EXPECT_EQ(table[3].latency, 118.5);
  for (const Mismatch& m : mismatches(table))
    ADD_FAILURE() << m.id << ": " << m.column << " is " << m.stated << ", counted " << m.counted;
}

TEST_F(ModelTable, DifferencesAreFound) {
  const std::string row =
      "gp1,2,384,384,4,2,3136,[50264],50264,25669336,6010497,1182720,4823937,19461120,,,," +
      std::string(kBillionWords);
  const auto wrong = mismatches(read(kHeader + row));
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_EQ(wrong[0].column, "ffn_params");
  EXPECT_EQ(wrong[0].stated, 4823937);
  EXPECT_EQ(wrong[0].counted, 4823936);
  EXPECT_EQ(wrong[1].column, "nonembedding_params");
}

TEST_F(ModelTable, FiveColumnsAreEnough) {
  const auto table = read("n_layer,d_model,n_head,d_inner,n_token,note\n2,64,4,128,1000,mine\n", "gpt2");
  ASSERT_EQ(table.size(), 1u);
  EXPECT_EQ(table[0].id, "row 1");
  EXPECT_EQ(table[0].length, 192);
  EXPECT_FALSE(table[0].perplexity);
  EXPECT_TRUE(mismatches(table).empty());
}

TEST_F(ModelTable, RefusesWhatItCannotRead) {
  const std::string columns = "n_layer,d_model,n_head,d_inner,n_token,attn_params,valid_ppl\n";
  EXPECT_EQ(
      refused("n_layer,d_model,n_heads,d_inner,n_token\n"),
      "t.csv has no column n_head (is 'n_heads' meant?); a table of models needs n_layer, d_model, n_head, "
      "d_inner and n_token, or spec");
  EXPECT_EQ(refused(columns), "t.csv has no rows below its first line");
  EXPECT_EQ(refused(columns + "two,64,4,128,1000,,\n"),
            "t.csv: line 2: n_layer is 'two'; it must be a whole number");
  EXPECT_EQ(refused(columns + "0,64,4,128,1000,,\n"),
            "t.csv: line 2: n_layer is 0; it must be from 1 to 2048");
  EXPECT_EQ(
      refused(columns + "2,64,4,128,1000,7,\n"),
      "t.csv: line 2: attn_params is 7, which fits neither gpt2 nor transformer-xl; add a column backbone, "
      "or --backbone");
  EXPECT_EQ(refused(columns + "2,64,\"[4, 4, 4]\",128,1000,33280,\n"),
            "t.csv: line 2: n_head has 3 entries for 2 layers; give one number or one per layer");
  EXPECT_EQ(refused(columns + "2,64,4,[128,1000,33280,\n"),
            "t.csv: line 2: d_inner is '[128'; it must be a list such as [8, 8, 4]");
  EXPECT_EQ(refused(columns + "2,64,5,128,1000,33280,\n"),
            "t.csv: line 2: model: block 0: width 64 is not a multiple of heads 5; try 60 or 65, or give "
            "head_width");
  EXPECT_EQ(refused(columns + "2,4294967296,4,128,1000,33280,\n"),
            "t.csv: line 2: d_model is 4294967296; it must be from 1 to 16777216");
  for (const char* heads : {"1e300", "2.5", "[1e300]", "true", "\"\"\"4\"\"\""})
    EXPECT_NE(refused(columns + "2,64," + heads + ",128,1000,33280,\n").find("it must be a list"),
              std::string::npos)
        << heads;
  EXPECT_EQ(refused("spec,tgt_len\n{},-5\n"), "t.csv: line 2: tgt_len is -5; it must be from 1 to 16777216");
  EXPECT_EQ(refused(columns + "2,64,4,128,1000,33280,low\n"),
            "t.csv: line 2: valid_ppl is 'low'; it must be a number");
}

TEST_F(ModelTable, RanksRowsWithAPerplexity) {
  const auto table = read(
      "n_layer,d_model,n_head,d_inner,n_token,d_embed,valid_ppl,latency\n"
      "2,64,4,128,1000,64,50,1\n2,64,4,256,1000,64,40,2\n2,64,4,512,1000,64,,3\n2,64,4,512,1000,4,45,4\n",
      "gpt2");
  const Ranking decoder = ranked(table, "decoder_params"), effective = ranked(table, "effective_params");
  EXPECT_EQ(decoder.spearman, 0.5);  // the fourth has the largest decoder
  EXPECT_EQ(effective.spearman, 1);  // but an embedding of a sixteenth of its width
  EXPECT_EQ(effective.spearman_top.back().value, 1);
  EXPECT_EQ(effective.common_ratio.back().value, 1);
  EXPECT_TRUE(effective.distance.has_value());
}

struct Published {
  const char* table;
  size_t rows;
  double decoder, total;                     // Spearman over all
  std::vector<double> common, common_total;  // by percent
};

// As recomputed from the published results of Javaheripi and others 2022.
TEST_F(ModelTable, PublishedResultsAreReproduced) {
  const std::vector<Published> all = {{"random_GPT2_wt103",
                                       200,
                                       0.967019,
                                       0.737408,
                                       {.7000, .8250, .9333, .9375, .9200, .9500, .9429, .9375, .9778, 1},
                                       {.8000, .8250, .7833, .8000, .8100, .7583, .8071, .8562, .9278, 1}},
                                      {"random_TransXL_wt103",
                                       200,
                                       0.973601,
                                       0.261116,
                                       {.6000, .8250, .8500, .9125, .9900, .9500, .9643, .9812, .9722, 1},
                                       {.1000, .1500, .3667, .5125, .5900, .6750, .7643, .8000, .9167, 1}},
                                      {"pareto_GPT2_lm1b_corei7",
                                       38,
                                       0.994091,
                                       0.976584,
                                       {1, 1, .9091, .9333, 1, 1, 1, .9667, .9706, 1},
                                       {1, 1, .9091, .9333, .9474, .9545, .9231, .9333, .9706, 1}},
                                      {"pareto_TransXL_lm1b_corei7",
                                       35,
                                       0.993276,
                                       0.990195,
                                       {1, 1, .9000, 1, .9412, 1, 1, .9643, 1, 1},
                                       {.6667, 1, .9000, 1, .9412, 1, 1, .9643, .9677, 1}}};
  for (const Published& expected : all) {
    const auto content = test::published_table(expected.table);
    if (!content) GTEST_SKIP() << "HEED_TEST_TABLES names no folder with the published tables";
    const auto table = read(*content);
    EXPECT_EQ(table.size(), expected.rows);
    for (const Mismatch& m : mismatches(table))
      ADD_FAILURE() << expected.table << " " << m.id << ": " << m.column << " is " << m.stated << ", counted "
                    << m.counted;
    const Ranking decoder = ranked(table, "decoder_params"), total = ranked(table, "total_params");
    EXPECT_NEAR(decoder.spearman, expected.decoder, 5e-7) << expected.table;
    EXPECT_NEAR(total.spearman, expected.total, 5e-7) << expected.table;
    for (size_t i = 0; i < expected.common.size(); ++i) {
      EXPECT_NEAR(decoder.common_ratio[i].value, expected.common[i], 5.1e-5)
          << expected.table << " " << kPercents[i];
      EXPECT_NEAR(total.common_ratio[i].value, expected.common_total[i], 5.1e-5)
          << expected.table << " " << kPercents[i];
    }
  }
}

// heed's proxy ranks the best fifth better, and nothing worse.
TEST_F(ModelTable, EffectiveParametersRankBetter) {
  for (const char* name : {"random_GPT2_wt103", "random_TransXL_wt103", "pareto_GPT2_lm1b_corei7",
                           "pareto_TransXL_lm1b_corei7"}) {
    const auto content = test::published_table(name);
    if (!content) GTEST_SKIP() << "HEED_TEST_TABLES names no folder with the published tables";
    const auto table = read(*content);
    const Ranking decoder = ranked(table, "decoder_params"), effective = ranked(table, "effective_params");
    for (size_t i = 0; i < std::size(kPercents); ++i)
      EXPECT_GE(effective.spearman_top[i].value, decoder.spearman_top[i].value)
          << name << " " << kPercents[i];
    if (std::string(name).starts_with("random")) {
      EXPECT_GT(effective.spearman_top[1].value, decoder.spearman_top[1].value) << name;
    }
  }
}

}  // namespace
}  // namespace heed::search
