// main() of every task's .bench program.
#include "judge/bench_program.h"
#include "judge/program.h"

int main(int argc, char** argv) { kb::leave(kb::bench_main(argc, argv, kb::task())); }
