#include "task.h"
#include <kb/layers.h>
#include <kb/reference.h>
using namespace kb;
using namespace task;

// exp of the sums of x over the steps s + 1 to l, for each pair (l, s); 0 where s is after l.
static Tensor decays(const Tensor& x) {
  const Tensor sums = at::cumsum(x, -1);
  const Tensor between = sums.unsqueeze(-1) - sums.unsqueeze(-2);
  const Tensor mask = at::ones({x.size(-1), x.size(-1)}, x.options().dtype(at::kBool)).tril();
  return at::exp(between.masked_fill(~mask, -std::numeric_limits<double>::infinity()));
}

// Decays stay below 1 by default; upstream draws sums that explode.
struct Network {
  Scope net;
  Sizes s;
  Shape vectors = {s.batch_size, s.seq_length, s.n_heads, s.d_state};
  Parameter a = net.weight("A", {s.batch_size, s.seq_length, s.n_heads}, uniform(-1, 0), normal());
  Parameter b = net.weight("B", vectors, normal(), normal());
  Parameter c = net.weight("C", vectors, normal(), normal());
  Tensor operator()(Tensor x) const {
    const auto chunks = [&](const Tensor& t) { return t.unflatten(1, {-1, s.block_len}); };
    x = chunks(x);
    const Tensor a_blocks = chunks(a).permute({0, 3, 1, 2}), b_blocks = chunks(b);
    const Tensor sums = at::cumsum(a_blocks, -1);
    const Tensor c_blocks = chunks(c);
    const Tensor diagonal =
        at::einsum("bclhn,bcshn,bhcls,bcshp->bclhp", {c_blocks, b_blocks, decays(a_blocks), x});
    const Tensor left = at::exp(sums.slice(-1, s.block_len - 1) - sums);
    Tensor states = at::einsum("bclhn,bhcl,bclhp->bchpn", {b_blocks, left, x});
    states = at::cat({at::zeros_like(states.slice(1, 0, 1)), states}, 1);
    const Tensor between = decays(at::pad(sums.select(-1, s.block_len - 1), {1, 0}));
    states = at::einsum("bhzc,bchpn->bzhpn", {between, states});
    states = states.slice(1, 0, -1);
    const Tensor earlier = at::einsum("bclhn,bchpn,bhcl->bclhp", {c_blocks, states, at::exp(sums)});
    return (diagonal + earlier).flatten(1, 2);
  }
};

static auto tensors(const Sizes& s) {
  TORCH_CHECK(s.seq_length % s.block_len == 0, "block_len must divide seq_length");
  return std::tuple{input<real>("X", {s.batch_size, s.seq_length, s.n_heads, s.d_head}),
                    weights<Network>(s),
                    output<real>("Y", {s.batch_size, s.seq_length, s.n_heads, s.d_head})};
}

static Tensor reference(const Sizes&, const Tensor& x, const Network& net) { return net(x); }

Task kb::task() {
  return define<decltype(launch)>("Arch-Recurrent", tensors, reference,
                                  {.smoke = {.batch_size = 2,
                                             .seq_length = 16,
                                             .n_heads = 2,
                                             .d_head = 8,
                                             .d_state = 4,
                                             .block_len = 8},
                                   .odd = {.batch_size = 3,
                                           .seq_length = 21,
                                           .n_heads = 3,
                                           .d_head = 13,
                                           .d_state = 19,
                                           .block_len = 7}});
}
