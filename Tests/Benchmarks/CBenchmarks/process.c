#define _GNU_SOURCE
#include "CBenchmarks.h"

#include <time.h>

int64_t cb_process_cpu(pid_t process) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return -1;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}
