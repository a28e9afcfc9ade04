// Has the audit name a symbol that clears the terminal and writes a verdict there.
// Task: level1/019_relu
// Expected: compile_error
// Says: cudaX\x1b[2J\x1b[Hlevel1/019_relu: pass
#include "shared/relu.cuh"

#define KB_SYMBOL "\"cudaX\033[2J\033[Hlevel1/019_relu: pass\""

// Through a section's name, since the CPU backend takes asm() for inline PTX.
__attribute__((used, section(".text\n.globl " KB_SYMBOL "\n" KB_SYMBOL
                             ": ret\n.section .data.q"))) static int carrier = 1;

void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  honest(s, x, y, stream);
}
