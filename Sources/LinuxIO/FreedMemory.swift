import CLinux

package enum FreedMemory {
    /// Returns freed memory to the system. Takes half a millisecond, and some 8 ms of the processor for 90 MB.
    ///
    /// By itself glibc keeps memory below a block in use, and blocks of up to 32 MiB once one of that size was freed
    /// (mallopt(3), M_MMAP_THRESHOLD).
    package static func giveBack() { cl_give_back_freed_memory() }
}
