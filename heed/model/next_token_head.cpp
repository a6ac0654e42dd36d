#include "heed/model/heads.h"
#include "heed/model/stacks.h"
#include "heed/model/vocabulary.h"
#include "heed/ops/adaptive_softmax.h"
#include "heed/ops/linear.h"
#include "heed/ops/memory.h"
#include "heed/ops/packed.h"
#include "heed/ops/softmax_loss.h"

namespace heed::model {
namespace {

class WordScores {
 public:
  WordScores(Builder& builder, const Embedded& embedded)
      : b_(builder), embedded_(embedded), vocabulary_(builder) {}

  void add(ValueId hidden) {
    const spec::ModelSpec& spec = b_.spec();
    Model& model = b_.model();
    const bool loss = b_.form().end() == GraphEnd::kLoss;
    if (b_.form().end() == GraphEnd::kNextToken && b_.form().length > 1)
      hidden = ops::take_row(b_.graph(), hidden, b_.scored_row());
    if (loss) b_.targets();
    const ValueId bias = spec.head.bias ? b_.parameter("output.bias", {spec.embedding.vocabulary},
                                                       WeightGroup::kOutput, constant(0), of_bias())
                                        : kNone;
    const std::vector<ValueId> words =
        spec.head.tie_weights ? embedded_.tables : vocabulary_.tables("output.table", WeightGroup::kOutput);
    vocabulary_.plain() ? plain(hidden, words[0], bias) : adaptive(hidden, words, bias);
    if (loss) model.loss = ops::mean_loss(b_.graph(), model.losses, b_.targets());
  }

 private:
  // The public code has one bias for each table.
  Layer of_bias() const {
    return vocabulary_.one_table() ? Layer{} : Layer{.ends = b_.spec().cluster_ends()};
  }

  void plain(ValueId hidden, ValueId words, ValueId bias) {
    Graph& g = b_.graph();
    Model& model = b_.model();
    model.output.clusters = {{0, b_.spec().embedding.vocabulary, words, 0}};
    if (b_.form().end() == GraphEnd::kLoss) {
      model.losses = ops::softmax_loss(g, hidden, words, bias, b_.targets());
    } else if (vocabulary_.packs()) {
      model.scores = ops::packed_linear(g, hidden, words, bias, kNone,
                                        {Activation::kNone, b_.spec().embedding.vocabulary});
    } else {
      model.scores = ops::linear(g, hidden, words, bias, kNone, {Activation::kNone, true, false});
    }
  }

  void adaptive(ValueId hidden, const std::vector<ValueId>& words, ValueId bias) {
    const spec::ModelSpec& spec = b_.spec();
    ops::AdaptiveSoftmaxInputs inputs{.x = hidden, .bias = bias, .tables = words};
    if (vocabulary_.clusters() > 1) {
      const auto others = static_cast<int64_t>(vocabulary_.clusters()) - 1;
      inputs.cluster_weight = b_.parameter("output.cluster.weight", {others, spec.table_width()},
                                           WeightGroup::kOutput, vocabulary_.table_initial());
      inputs.cluster_bias = b_.parameter("output.cluster.bias", {others}, WeightGroup::kOutput, constant(0));
    }
    const Vocabulary::OutputProjections projected = vocabulary_.output_projections(embedded_.projections);
    inputs.projections = projected.projections;
    state_output(inputs, projected.of_cluster);
    // The PyTorch implementations read the head's cluster entries from the end.
    ops::AdaptiveSoftmaxSettings settings{spec.cluster_ends(), ClusterOrder::kReverse,
                                          vocabulary_.one_table()};
    settings.projection_of = projected.of_cluster;
    if (b_.form().end() == GraphEnd::kLoss) {
      inputs.rng = vocabulary_.drop_inside(settings);
      b_.model().losses = ops::adaptive_softmax_loss(b_.graph(), inputs, b_.targets(), settings);
    } else {
      b_.model().scores = ops::adaptive_log_probabilities(b_.graph(), inputs, settings);
    }
  }

  void state_output(const ops::AdaptiveSoftmaxInputs& inputs, const std::vector<int64_t>& projection_of) {
    Output& output = b_.model().output;
    int64_t begin = 0;
    for (size_t i = 0; i < vocabulary_.clusters(); ++i) {
      const size_t table = vocabulary_.one_table() ? 0 : i;
      const int64_t end = b_.spec().cluster_ends()[i], first_row = vocabulary_.one_table() ? begin : 0;
      output.clusters.push_back({begin, end, inputs.tables[table], first_row});
      if (!projection_of.empty())
        output.clusters.back().projection = inputs.projections[static_cast<size_t>(projection_of[i])];
      begin = end;
    }
    output.entries = inputs.cluster_weight;
  }

  Builder& b_;
  const Embedded& embedded_;
  Vocabulary vocabulary_;
};

}  // namespace

void score_words(Builder& builder, ValueId hidden, const Embedded& embedded) {
  WordScores(builder, embedded).add(hidden);
}

void next_token_head(Builder& builder, ValueId hidden, const Embedded& embedded) {
  if (builder.sees_all())
    throw usage_error("model: the head next-token asks for the next token, which every token of an ",
                      builder.stack().name, " sees; take the head masked-token or hidden");
  score_words(builder, hidden, embedded);
}

}  // namespace heed::model
