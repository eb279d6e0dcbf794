#ifndef CBENCHMARKS_H
#define CBENCHMARKS_H

#include <stdint.h>
#include <sys/types.h>

/// How often this process has asked for heap memory so far, on all threads. Only in programs that link this.
uint64_t cb_allocations(void);

/// Processor time that a process has used so far, all its threads and those that ended included; nanoseconds, -1 when
/// there is no such process.
int64_t cb_process_cpu(pid_t process);

#endif
