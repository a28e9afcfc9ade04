// Never compiled: the build system says how it would compile this file, and kb_judge_kernel
// compiles kernels that lie elsewhere in that way.
