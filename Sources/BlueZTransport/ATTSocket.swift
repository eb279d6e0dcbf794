import LinuxIO

/// Socket of an attribute protocol link, closed on a spare thread.
///
/// Some kernels (Debian 12's 6.1.192) crash the closing thread if the link was lost before: `l2cap_chan_put` then calls
/// `hci_chan_del` for freed memory ("list_del corruption").
struct ATTSocket: LinkEndpoint {
    let descriptor: FileDescriptor

    func close(discardingOutput: Bool) { descriptor.closeElsewhere() }
}
