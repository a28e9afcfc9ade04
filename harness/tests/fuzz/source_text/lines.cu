// # 1 "comment"
/* #line 2 */ int x; const char* s = R"x(
#line 3 "raw"
)x" "\
# 4 \"text\"";
#define A \
  1
  %:  /* */ line 5
??=line 6
#line 7 "other.cu"
