import LinuxIO

/// The socket of an attribute protocol link.
///
/// Some kernels (Debian 12's 6.1.192) free a part of a link twice when its socket is closed after the link was lost:
/// the last reference is the socket's, and `l2cap_chan_put` then ends in `hci_chan_del` of what is gone ("list_del
/// corruption"). The closing thread dies in the kernel, so this is left to a spare thread rather than the loop.
struct ATTSocket: LinkEndpoint {
    let descriptor: FileDescriptor

    func close(discardingOutput: Bool) { descriptor.closeElsewhere() }
}
