# Says what stops a run, from the file ABOUT that the configure step wrote, and fails.
file(READ ${ABOUT} mistakes)
message(FATAL_ERROR "${mistakes}")
