package struct ChannelOpeners: ChannelOpener {
    private let openers: [LinkAddress.Transport: any ChannelOpener]
    private let loop: any SessionLoop

    /// - Parameter openers: by transport. A link whose transport has no opener fails.
    package init(_ openers: [LinkAddress.Transport: any ChannelOpener], loop: any SessionLoop) {
        self.openers = openers
        self.loop = loop
    }

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        if let opener = openers[link.transport] { return opener.open(link, as: line, handle: handle) }
        let failure = ChannelFailure(
            .adapter, "This meterd has no \(link.transport.rawValue) links: radios are off in its configuration.")
        return RefusedChannel(failure, loop: loop, handle)
    }
}

/// Channel that only reports a failure, in a later iteration of the loop unless it is closed first.
package struct RefusedChannel: ByteChannel {
    private let loop: any SessionLoop
    private let timer: LoopTimer

    package init(
        _ failure: ChannelFailure, loop: any SessionLoop, _ handle: @escaping @Sendable (ChannelEvent) -> Void
    ) {
        self.loop = loop
        timer = loop.schedule(at: loop.now) { handle(.closed(failure)) }
    }

    package func send(_ bytes: [UInt8]) {}
    package func close() { loop.cancel(timer) }
}
