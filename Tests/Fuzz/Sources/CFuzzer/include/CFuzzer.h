#ifndef CFUZZER_H
#define CFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own loop (compiler-rt, FuzzerInterface.h): reads its flags from the arguments and calls `callback` with
/// one input after another. Does not return unless it is done.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*callback)(const uint8_t *bytes, size_t length));

#endif
