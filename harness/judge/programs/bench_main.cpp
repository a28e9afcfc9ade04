// main() of every task's .bench program.
#include "judge/programs/bench_program.h"
#include "judge/programs/program.h"

int main(int argc, char** argv) { kb::leave(kb::bench_main(argc, argv, kb::task())); }
