// Builds the values that blocks, embeddings and heads share.
#pragma once

#include "heed/kernels/activation.h"
#include "heed/model/model.h"
#include "heed/ops/define.h"

namespace heed::model {

using graph::Graph;
using graph::kNone;
using graph::ValueId;

struct StackEntry;

class Builder {
 public:
  Builder(Graph& graph, const spec::ModelSpec& spec, const GraphForm& form);

  Graph& graph() { return graph_; }
  const spec::ModelSpec& spec() const { return spec_; }
  const StackEntry& stack() const { return stack_; }  // stacks.h
  // Whether a token sees those after it: then a text is read at once, and what is not text is padding.
  bool sees_all() const;
  int64_t block_count() const { return static_cast<int64_t>(blocks_.size()); }
  const spec::Block& block(int64_t index) const { return blocks_.at(static_cast<size_t>(index)); }
  const GraphForm& form() const { return form_; }
  Model& model() { return model_; }

  // A weight that is the same in every form of the graph.
  ValueId parameter(const std::string& name, Shape shape, WeightGroup group, Initial initial,
                    const Layer& layer = {});
  // Declares a weight of the file that the graph has only in another form.
  void declare(const std::string& name, Shape shape, WeightGroup group, Initial initial,
               const Layer& layer = {});
  // A weight of an inference graph made from declared ones.
  ValueId derived(const std::string& name, Shape shape, std::vector<std::string> from,
                  std::function<void(const std::vector<Tensor>&, const Tensor&)> make, int64_t scratch = 0);
  // A declared matrix [in, out], packed; [out, in] if transposed.
  ValueId packed(const std::string& name, int64_t in, int64_t out, bool transposed = false);

  // A matrix [in, out] that is multiplied from the right, packed where the form asks for it. `from` may name
  // several declared matrices with the same `in`, whose columns are concatenated.
  struct Matrix {
    ValueId value;
    int64_t out;
  };
  Matrix matrix(const std::string& name, int64_t in, int64_t out, WeightGroup group, Initial initial,
                const Layer& layer = {});
  Matrix joined(const std::string& name, const std::vector<std::string>& from, int64_t in, int64_t out);
  // activation(x W + bias) + residual.
  ValueId product(ValueId x, const Matrix& weight, ValueId bias = kNone, ValueId residual = kNone,
                  Activation activation = Activation::kNone);
  // residual + dropout(x W + bias), one op without dropout.
  ValueId product_into(ValueId residual, ValueId x, const Matrix& weight, ValueId bias);

  ValueId norm(ValueId x, const std::string& name, int64_t width);
  Activation inner_activation() const;  // of feed-forward blocks
  ValueId dropout(ValueId x, double rate);
  // A layer of a supernet: its branches, mixed by a Gumbel softmax of its logits (Mandava and others 2020,
  // equation 6): one draw per run while training, softmax itself otherwise.
  ValueId mixed(const std::vector<ValueId>& branches, int64_t layer);
  bool drops(double rate) const { return form_.trains() && rate > 0; }
  ValueId rng() const { return model_.inputs.rng; }
  int64_t next_stream() { return stream_++; }

  // Rows kept between runs, [chunks, B, rows, width]: their values before this run and after it.
  ValueId recall(const std::string& name, int64_t rows, int64_t width, bool flat);
  void remember(const std::string& name, ValueId x);
  // A cache [B, rows, width] with the columns of x from `first_column` on written at the current row.
  ValueId append(const std::string& name, ValueId x, int64_t first_column, int64_t width);

  // What the model reads, i32; made on first use. Tokens, types and padding (1 where a token is padding) are
  // [B, T], targets [B * T], -1 to ignore.
  ValueId read(const std::string& name, Shape shape);
  ValueId tokens() { return read("tokens", {form_.sequences, form_.length}); }
  ValueId targets() { return read("targets", {form_.sequences * form_.length}); }
  ValueId padding() { return read("padding", {form_.sequences, form_.length}); }
  ValueId types() { return read("types", {form_.sequences, form_.length}); }
  // Inputs (inputs.h), made on first use.
  ValueId key_range();
  ValueId cache_row();
  ValueId first_position();
  ValueId token_positions();
  ValueId scored_row();
  // Sines and cosines of the distances reach - 1 .. 0, shared by all blocks.
  ValueId distances();

  // Initial weights of an ordinary matrix, of one that writes to the residual stream, and of a norm's gain.
  Initial weight_initial() const;
  Initial residual_initial() const;
  Initial gain_initial() const;

 private:
  ValueId input(ValueId Inputs::*id, const char* name, Shape shape, DType dtype = DType::kI32);
  ValueId state(State::Kind kind, const std::string& name, Shape shape);

  Graph& graph_;
  const spec::ModelSpec& spec_;
  const StackEntry& stack_;
  const std::vector<spec::Block> blocks_;
  const GraphForm& form_;
  Model model_;
  ValueId distances_ = kNone;
  int64_t additions_ = 0;  // to the residual stream
  int64_t stream_ = 0;
};

}  // namespace heed::model
