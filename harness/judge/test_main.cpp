// main() of every task's .test program.
#include "judge/test_program.h"

int main(int argc, char** argv) { return kb::test_main(argc, argv, kb::task()); }
