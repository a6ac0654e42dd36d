// What blocks, embedding and output are built with.
#pragma once

#include "heed/kernels/activation.h"
#include "heed/model/model.h"
#include "heed/ops/define.h"

namespace heed::model {

using graph::Graph;
using graph::kNone;
using graph::ValueId;

class Builder {
 public:
  Builder(Graph& graph, const spec::ModelSpec& spec, const Use& use);

  Graph& graph() { return graph_; }
  const spec::ModelSpec& spec() const { return spec_; }
  const Use& use() const { return use_; }
  Model& model() { return model_; }

  // A weight that stays as it is in every graph.
  ValueId parameter(const std::string& name, Shape shape, Part part, Initial initial);
  // Says what a file holds, for weights that the graph has in another form only.
  void declare(const std::string& name, Shape shape, Part part, Initial initial);
  // A weight of an inference graph made from declared ones.
  ValueId derived(const std::string& name, Shape shape, std::vector<std::string> from,
                  std::function<void(const std::vector<Tensor>&, const Tensor&)> make);

  // A matrix [in, out] that is multiplied from the right, packed where the use asks for it. `from` may name
  // several declared matrices with the same `in`, whose columns stand side by side.
  struct Matrix {
    ValueId value;
    int64_t out;
  };
  Matrix matrix(const std::string& name, int64_t in, int64_t out, Part part, Initial initial);
  Matrix joined(const std::string& name, const std::vector<std::string>& from, int64_t in, int64_t out);
  // activation(x W + bias) + residual.
  ValueId product(ValueId x, const Matrix& weight, ValueId bias = kNone, ValueId residual = kNone,
                  Activation activation = Activation::kNone);
  // residual + dropout(x W + bias), one op where nothing is dropped.
  ValueId product_into(ValueId residual, ValueId x, const Matrix& weight, ValueId bias);

  ValueId norm(ValueId x, const std::string& name, int64_t width);
  ValueId dropout(ValueId x, double rate);
  // A layer of a supernet: its branches, mixed by a Gumbel softmax of its logits (Mandava and others 2020,
  // equation 6): one draw per run while training, softmax itself otherwise.
  ValueId mixed(const std::vector<ValueId>& branches, int64_t layer);
  bool drops(double rate) const { return use_.training && rate > 0; }
  ValueId rng() const { return rng_; }
  int64_t next_stream() { return stream_++; }

  // Rows kept between runs, [chunks, B, rows, width]: what they were before this run, and what they become.
  ValueId recall(const std::string& name, int64_t rows, int64_t width, bool flat);
  void remember(const std::string& name, ValueId x);
  // A cache [B, rows, width] with the columns of x from `first_column` on written at the present row.
  ValueId append(const std::string& name, ValueId x, int64_t first_column, int64_t width);

  // Inputs that say where the text stands; made when first asked for.
  ValueId positions();  // i32 [2]: key index of query 0, first key that exists
  ValueId position();   // i32 [1]: row of the cache
  ValueId place();      // i32 [1]: place of the first token in the text
  ValueId places();     // i32 [B, T]: place of every token
  ValueId padding();    // i32 [B, T], 1 where a token of a prompt is none
  ValueId row();        // i32 [1]
  // Sines and cosines of the distances reach - 1 .. 0, shared by all blocks.
  ValueId distances();

  // First weights of an ordinary matrix, of one that writes to the residual stream, and of a norm's gain.
  Initial weight_initial() const;
  Initial residual_initial() const;
  Initial gain_initial() const;

 private:
  ValueId input(const char* name, Shape shape);
  ValueId state(State::Kind kind, const std::string& name, Shape shape);

  Graph& graph_;
  const spec::ModelSpec& spec_;
  const Use& use_;
  Model model_;
  ValueId rng_ = kNone, slot_ = kNone, distances_ = kNone;
  int64_t stream_ = 0;
};

}  // namespace heed::model
