package import Domain
package import LinuxIO

package struct RadioLimits: Hashable, Sendable {
    /// Time limit from the first packet until the radios are connected. A weakly received meter that advertises once a
    /// second needs several seconds. The kernel itself would try for 20 s or more.
    package var connect: Duration
    /// Time limit from the connection until the serial line's characteristics are found.
    package var setUp: Duration
    /// Time limit for the search for the RFCOMM channel of the meter's serial port, including the connection.
    package var search: Duration
    /// Time without progress while bytes wait to be sent, after which the link counts as failed.
    package var stall: Duration

    package init(
        connect: Duration = .seconds(20), setUp: Duration = .seconds(30), search: Duration = .seconds(15),
        stall: Duration = .seconds(5)
    ) {
        self.connect = connect
        self.setUp = setUp
        self.search = search
        self.stall = stall
    }
}

package struct RadioChannelOpener: ChannelOpener {
    private let loop: IOLoop
    private let slots: any RadioSlots
    private let sockets: any RadioSockets
    private let limits: RadioLimits
    private let silent = SilentChannels()

    package init(
        loop: IOLoop, slots: any RadioSlots, sockets: any RadioSockets = KernelRadioSockets(),
        limits: RadioLimits = RadioLimits()
    ) {
        self.loop = loop
        self.slots = slots
        self.sockets = sockets
        self.limits = limits
    }

    package func open(
        _ link: LinkAddress, as line: LineSettings, handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        loop.checkIsolated()
        switch link {
        case .ble(let radio): return openLE(radio, handle)
        case .spp(let radio): return openClassic(radio, handle)
        case .serial, .hid, .bulk, .network, .computed: preconditionFailure("\(link) is not a link over radio")
        }
    }

    private func openLE(_ link: RadioLink, _ handle: @escaping @Sendable (ChannelEvent) -> Void) -> any ByteChannel {
        let way = L2CAPLink(link: link, sockets: sockets, connectLimit: limits.connect)
        return GATTSerialChannel.open(
            link, slots: slots, on: loop, setUpLimit: limits.setUp,
            packets: { DescriptorChannel.open(way, on: loop, stallLimit: limits.stall, handle: $0) }, handle: handle)
    }

    private func openClassic(
        _ link: RadioLink, _ handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        do {
            let slot = try HeldSlot(of: link, over: .spp, from: slots)
            let channel = RFCOMMChannel(link, slot: slot, sockets: sockets, limits: limits, silent: silent, on: loop)
            channel.begin(handle)
            return channel
        } catch {
            return RefusedChannel(error, loop: loop, handle)
        }
    }
}
