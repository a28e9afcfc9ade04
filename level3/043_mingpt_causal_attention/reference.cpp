#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// The lower triangle of ones.
static Fill causal() {
  return [](Tensor& out, at::Generator&) { out.copy_(at::tril(at::ones_like(out))); };
}

struct Attention {
  Scope net;
  int64_t embed, heads, longest;
  Parameter bias = net.buffer("bias", {1, 1, longest, longest}, causal(), causal());
  Linear c_attn{net["c_attn"], embed, 3 * embed};
  Linear c_proj{net["c_proj"], embed, embed};
  Tensor operator()(const Tensor& x) const {
    const int64_t n = x.size(0), steps = x.size(1);
    const std::vector<Tensor> parts = c_attn(x).split(embed, 2);
    const auto by_heads = [&](const Tensor& t) {
      return t.view({n, steps, heads, embed / heads}).transpose(1, 2);
    };
    const Tensor k = by_heads(parts[1]), q = by_heads(parts[0]), v = by_heads(parts[2]);
    Tensor att =
        at::matmul(q, k.transpose(-2, -1)) * (1.0 / std::sqrt(static_cast<double>(embed / heads)));
    const Tensor mask = bias->slice(2, 0, steps).slice(3, 0, steps);
    att = att.masked_fill(mask == 0, -std::numeric_limits<double>::infinity());
    att = at::softmax(att, -1);
    const Tensor y = at::matmul(att, v).transpose(1, 2).contiguous().view({n, steps, embed});
    return c_proj(y);
  }
};

struct Network {
  Scope net;
  Sizes s;
  Attention attention{net, s.n_embd, s.n_head, s.max_seqlen};
  Tensor operator()(const Tensor& x) const { return attention(x); }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.n_embd % s.n_head == 0, "n_head must divide n_embd");
  TORCH_CHECK(s.seq_len <= s.max_seqlen, "seq_len must be at most max_seqlen");
  return std::tuple{input<real>("x", {s.batch_size, s.seq_len, s.n_embd}), weights<Network>(s),
                    output<real>("y", {s.batch_size, s.seq_len, s.n_embd})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>(
      "Attention", tensors, reference,
      {.smoke = {.batch_size = 2, .max_seqlen = 32, .seq_len = 16, .n_embd = 48, .n_head = 4},
       .odd = {.batch_size = 3, .max_seqlen = 29, .seq_len = 23, .n_embd = 45, .n_head = 5}});
}
