#include "CBuildInfo.h"

#if __has_include("commit.h")
#include "commit.h"
#endif

#ifndef BUILD_COMMIT
#define BUILD_COMMIT "unknown"
#endif

const char *build_commit(void) { return BUILD_COMMIT; }
