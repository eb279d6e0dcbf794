#pragma once

/// The commit this program was built from, "unknown" where `make` did not say (it writes commit.h).
const char *build_commit(void);
