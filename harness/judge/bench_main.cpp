// main() of every task's .bench program.
#include "judge/bench_program.h"

int main(int argc, char** argv) { return kb::bench_main(argc, argv, kb::task()); }
