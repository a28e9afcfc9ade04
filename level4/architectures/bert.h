// What ELECTRA and BigBird share: embeddings and layers of BERT.
#pragma once

#include "transformer.h"

namespace kb {

/// Of words, token types and positions; all tokens are of type 0.
struct BertEmbeddings {
  Scope net;
  int64_t words, positions, types, width;
  Table word_embeddings{net["word_embeddings"], words, width};
  Table position_embeddings{net["position_embeddings"], positions, width};
  Table token_type_embeddings{net["token_type_embeddings"], types, width};
  LayerNorm norm{net["LayerNorm"], {width}, 1e-12};
  Tensor operator()(const Tensor& ids) const {
    Tensor x = word_embeddings(ids) + token_type_embeddings(at::zeros(ids.sizes(), ids.options()));
    x = x + position_embeddings.at_positions(ids);
    return norm(x);
  }
};

/// Norms follow attention and perceptron.
struct BertLayer {
  Scope net;
  int64_t width, heads, intermediate;
  Scope self = net["attention"]["self"], out = net["attention"]["output"];
  Dense query{self["query"], width, width};
  Dense key{self["key"], width, width};
  Dense value{self["value"], width, width};
  Dense attention_output{out["dense"], width, width};
  LayerNorm attention_norm{out["LayerNorm"], {width}, 1e-12};
  Dense up{net["intermediate"]["dense"], width, intermediate};
  Dense down{net["output"]["dense"], intermediate, width};
  LayerNorm output_norm{net["output"]["LayerNorm"], {width}, 1e-12};
  /// @param attention  q, k, v [batch, heads, tokens, size] -> [batch, tokens, width]
  template <class Attention, class Activation>
  Tensor operator()(Tensor x, const Attention& attention, const Activation& activation) const {
    const Tensor t = attention(split_heads(query(x), heads), split_heads(key(x), heads),
                               split_heads(value(x), heads));
    x = attention_norm(attention_output(t) + x);
    return output_norm(down(activation(up(x))) + x);
  }
};

}  // namespace kb
