import CLinux

package enum FreedMemory {
    /// Returns freed memory to the system. Takes half a millisecond, and about 8 ms of processor time for 90 MB.
    ///
    /// Otherwise glibc keeps free memory below a used block and, after a block of 32 MiB was freed, blocks of up to
    /// that size (mallopt(3), M_MMAP_THRESHOLD).
    package static func giveBack() { cl_give_back_freed_memory() }
}
