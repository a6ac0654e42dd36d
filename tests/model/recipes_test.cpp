// The size of every recipe's model, to the last parameter. The numbers are published, or follow from closed
// formulas over the published shapes.
#include <gtest/gtest.h>

#include <set>

#include "heed/base/units.h"
#include "heed/model/model.h"
#include "heed/spec/recipe.h"

namespace heed {
namespace {

struct Size {
  const char* recipe;
  int64_t parameters;
};

constexpr Size kSizes[] = {
    // Mandava and others 2020, with NVIDIA's layout of Transformer-XL.
    // The model without attention has no position biases, 1024 parameters that a layout with shared biases
    // keeps.
    {"txl-base-wt103", 191'950'298},
    {"sandwich-base-wt103", 191'950'298},
    {"par-base-wt103", 199'840'218},
    {"par-base-wt103-s0", 204'574'170},
    {"par-base-wt103-s1x4", 203'785'178},
    {"par-base-wt103-s3x4", 202'207'194},
    {"par-base-wt103-s4x4", 201'418'202},
    {"par-base-wt103-s5x4", 200'629'210},
    {"par-base-wt103-s6x3", 199'840'218},
    {"par-base-wt103-s7x3", 199'051'226},
    {"par-base-wt103-s7x4", 199'051'226},
    {"txl-large-wt103", 285'167'482},
    {"sandwich-large-wt103", 285'167'482},
    {"par-large-wt103", 319'826'810},
    {"txl-24b-enwik8", 41'055'436},
    {"sandwich-24b-enwik8-v1", 41'055'436},
    {"sandwich-24b-enwik8", 41'055'436},
    {"par-24b-enwik8", 46'578'380},
    {"txl-24b-text8", 40'964'635},
    {"sandwich-24b-text8-v1", 40'964'635},
    {"sandwich-24b-text8", 40'964'635},
    {"par-24b-text8", 46'487'579},
    // Dai and others 2019: 151 M, 277 M; the last as their code prints it.
    {"txl-base-wt103-original", 151'107'538},
    {"txl-277m-enwik8", 277'231'820},
    {"txl-277m-text8", 277'050'395},
    {"txl-base-lm1b", 357'812'065},
    // Lei 2021, all to the published million.
    {"srupp-42m-enwik8", 42'345'815},
    {"srupp-98m-enwik8", 98'129'103},
    {"srupp-108m-enwik8", 107'566'295},
    {"srupp-108m-enwik8-ratio6", 108'237'015},
    {"srupp-109m-enwik8-ratio8", 108'651'415},
    {"srupp-109m-enwik8-ratio10", 108'965'015},
    {"srupp-102m-enwik8-last5", 101'668'050},
    {"srupp-102m-enwik8-every2", 101'668'050},
    {"srupp-103m-enwik8-last3", 103'459'984},
    {"srupp-103m-enwik8-every3", 103'459'984},
    {"srupp-98m-enwik8-heads2", 98'129'103},
    {"srupp-97m-enwik8", 96'949'454},
    {"srupp-97m-enwik8-heads2", 96'949'454},
    {"srupp-104m-enwik8-ratio8", 103'633'807},
    {"srupp-191m-enwik8", 190'607'575},
    {"srupp-195m-enwik8", 194'993'815},
    {"srupp-148m-wt103", 147'676'036},
    {"srupp-232m-wt103", 231'690'116},
    {"srupp-225m-wt103", 224'884'892},
    {"srupp-234m-wt103", 233'741'476},
    {"srupp-328m-lm1b", 328'313'803},
    {"srupp-465m-lm1b", 465'318'339},
    // Its sizes that are unpublished, chosen for 42 M.
    {"srupp-42m-enwik8-every2", 42'385'410},
    {"srupp-42m-enwik8-every5", 42'409'143},
    {"srupp-42m-enwik8-every10", 42'398'958},
    {"srupp-42m-enwik8-none", 42'379'545},
    // Radford and others 2019, as the released weights count.
    {"gpt2-124m", 124'439'808},
    {"gpt2-355m", 354'823'168},
    {"gpt2-774m", 774'030'080},
    {"gpt2-1558m", 1'557'611'200},
    // Devlin and others 2019; Mandava and others 2020, version 2, table 3, counted with 30 522 word pieces
    // and
    // both heads, DistilBERT without types and pooler.
    {"bert-base", 110'106'428},
    {"bert-large", 336'226'108},
    {"par-bert-base", 126'626'876},
    {"distilbert-base", 66'362'880},
    // Javaheripi and others 2022, as their released results count.
    {"lts-gpt2-m01-lm1b", 25'669'336},
    {"lts-gpt2-m02-lm1b", 22'551'768},
    {"lts-gpt2-m03-lm1b", 32'566'296},
    {"lts-gpt2-m04-lm1b", 29'363'224},
    {"lts-gpt2-m05-lm1b", 40'171'992},
    {"lts-gpt2-m06-lm1b", 35'911'384},
    {"lts-gpt2-m07-lm1b", 37'464'536},
    {"lts-gpt2-m08-lm1b", 55'805'144},
    {"lts-gpt2-m09-lm1b", 49'330'264},
    {"lts-gpt2-m10-lm1b", 71'216'408},
    {"lts-gpt2-m11-lm1b", 54'147'992},
    {"lts-gpt2-m12-lm1b", 76'386'776},
    {"lts-gpt2-m13-lm1b", 66'242'904},
    {"lts-gpt2-m14-lm1b", 66'931'480},
    {"lts-gpt2-m15-lm1b", 75'060'824},
    {"lts-gpt2-m16-lm1b", 82'165'144},
    {"lts-gpt2-m17-lm1b", 74'806'296},
    {"lts-gpt2-m18-lm1b", 86'966'680},
    {"lts-gpt2-m19-lm1b", 92'130'328},
    {"lts-gpt2-m20-lm1b", 82'779'480},
    {"lts-gpt2-m21-lm1b", 87'309'784},
    {"lts-gpt2-m22-lm1b", 97'792'472},
    {"lts-gpt2-m23-lm1b", 102'471'064},
    {"lts-gpt2-m24-lm1b", 102'594'008},
    {"lts-gpt2-m25-lm1b", 107'880'600},
    {"lts-gpt2-m26-lm1b", 111'083'864},
    {"lts-gpt2-m27-lm1b", 110'224'664},
    {"lts-gpt2-m28-lm1b", 114'280'408},
    {"lts-gpt2-m29-lm1b", 118'467'224},
    {"lts-gpt2-m30-lm1b", 118'706'392},
    {"lts-gpt2-m31-lm1b", 121'049'048},
    {"lts-gpt2-m32-lm1b", 124'860'312},
    {"lts-gpt2-m33-lm1b", 129'784'792},
    {"lts-gpt2-m34-lm1b", 127'915'288},
    {"lts-gpt2-m35-lm1b", 137'899'096},
    {"lts-gpt2-m36-lm1b", 145'036'568},
    {"lts-gpt2-m37-lm1b", 149'216'664},
    {"lts-gpt2-m38-lm1b", 149'961'048},
    {"lts-txl-m01-lm1b", 35'894'601},
    {"lts-txl-m02-lm1b", 56'135'489},
    {"lts-txl-m03-lm1b", 56'799'617},
    {"lts-txl-m04-lm1b", 81'414'817},
    {"lts-txl-m05-lm1b", 78'290'425},
    {"lts-txl-m06-lm1b", 78'290'425},
    {"lts-txl-m07-lm1b", 87'914'977},
    {"lts-txl-m08-lm1b", 88'554'337},
    {"lts-txl-m09-lm1b", 100'367'601},
    {"lts-txl-m10-lm1b", 103'687'089},
    {"lts-txl-m11-lm1b", 104'178'865},
    {"lts-txl-m12-lm1b", 104'679'433},
    {"lts-txl-m13-lm1b", 110'883'633},
    {"lts-txl-m14-lm1b", 114'080'177},
    {"lts-txl-m15-lm1b", 116'047'281},
    {"lts-txl-m16-lm1b", 116'170'225},
    {"lts-txl-m17-lm1b", 116'416'113},
    {"lts-txl-m18-lm1b", 124'596'209},
    {"lts-txl-m19-lm1b", 124'842'097},
    {"lts-txl-m20-lm1b", 126'440'369},
    {"lts-txl-m21-lm1b", 128'161'585},
    {"lts-txl-m22-lm1b", 135'726'961},
    {"lts-txl-m23-lm1b", 137'939'953},
    {"lts-txl-m24-lm1b", 140'275'889},
    {"lts-txl-m25-lm1b", 147'472'433},
    {"lts-txl-m26-lm1b", 147'472'433},
    {"lts-txl-m27-lm1b", 149'193'649},
    {"lts-txl-m28-lm1b", 150'546'033},
    {"lts-txl-m29-lm1b", 158'603'185},
    {"lts-txl-m30-lm1b", 160'881'969},
    {"lts-txl-m31-lm1b", 168'750'385},
    {"lts-txl-m32-lm1b", 171'578'097},
    {"lts-txl-m33-lm1b", 161'547'769},
    {"lts-txl-m34-lm1b", 178'897'585},
    {"lts-txl-m35-lm1b", 179'389'361},
    // The same, table 3: decoder and positions as printed, and the token table.
    {"opt-350m-pile", 355'887'104},
    {"lts-m01-pile", 312'888'832},
    {"lts-m20-pile", 493'085'376},
    // Small ones, by the same formulas.
    {"gpt2-3m-bytes", 3'290'624},
    {"txl-3m-bytes", 3'483'392},
    {"sandwich-3m-bytes", 3'483'392},
    {"par-3m-bytes", 3'353'088},
    {"srupp-3m-bytes", 2'914'050},
    {"mixed-3m-bytes", 2'994'177},
};

TEST(RecipeSizes, ToTheLastParameter) {
  for (const Size& size : kSizes) {
    EXPECT_EQ(model::count_parameters(spec::load_recipe(size.recipe).model).total, size.parameters)
        << size.recipe;
  }
}

// "about" begins with the size, which `heed recipes` lists.
TEST(RecipeSizes, AboutStatesThem) {
  for (const std::string& name : spec::recipe_names()) {
    const spec::Recipe recipe = spec::load_recipe(name);
    const auto parameters = static_cast<double>(model::count_parameters(recipe.model).total);
    EXPECT_EQ(recipe.about.rfind(format_count(parameters) + " parameters: ", 0), 0u)
        << name << ": " << recipe.about << ", counted " << format_count(parameters);
  }
}

TEST(RecipeSizes, NoRecipeIsForgotten) {
  std::set<std::string> known;
  for (const Size& size : kSizes) known.insert(size.recipe);
  for (const std::string& name : spec::recipe_names()) {
    EXPECT_TRUE(known.count(name)) << name << " has no size in this test";
  }
}

}  // namespace
}  // namespace heed
