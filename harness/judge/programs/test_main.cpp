// main() of every task's .test program.
#include "judge/programs/program.h"
#include "judge/programs/test_program.h"

int main(int argc, char** argv) { kb::leave(kb::test_main(argc, argv, kb::task())); }
