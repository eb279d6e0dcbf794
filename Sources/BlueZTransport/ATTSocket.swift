import LinuxIO

/// Socket of an attribute protocol link, closed on a spare thread.
///
/// Some kernels (Debian 12's 6.1.192) free a part of a link twice when its socket is closed after the link was lost.
/// The socket holds the last reference, and `l2cap_chan_put` then calls `hci_chan_del` for freed memory ("list_del
/// corruption"). The closing thread then crashes in the kernel, so the loop's thread must not close the socket.
struct ATTSocket: LinkEndpoint {
    let descriptor: FileDescriptor

    func close(discardingOutput: Bool) { descriptor.closeElsewhere() }
}
