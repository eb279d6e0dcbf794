import Domain
import Glibc
import LinuxIO

/// Byte channel to a meter over Bluetooth Classic: a serial port on an RFCOMM channel, whose number the meter lists.
///
/// ```
///   ┌───────────┐   ┌───────────┐   ┌─────────┐ refused, another channel   ┌──────┐            ┌────────┐
///   │ PREPARING │──▶│ SEARCHING │──▶│ OPENING │◀──────────────────────┐    │ OPEN │───────────▶│ CLOSED │
///   └───────────┘   └───────────┘   └─────────┘───────────────────────┘───▶└──────┘            └────────┘
/// ```
///
/// A meter that lists no serial port may still have one: some modules send an empty answer. Then the channels of known
/// meters are tried (Docs/Protocols/UM.md#links and Docs/Protocols/Atorch.md#links). A channel that was silent the last
/// time is tried last. A failure in any state leads to CLOSED.
final class RFCOMMChannel: ByteChannel, @unchecked Sendable {
    // `@unchecked Sendable`: used only on the event loop, as every entry point checks (see `ByteChannel`).

    static let usualChannels: [UInt8] = [1, 2]

    private let link: RadioLink
    private let loop: IOLoop
    private let sockets: any RadioSockets
    private let limits: RadioLimits
    private let silent: SilentChannels
    private var wasHeard = false
    private var slot: HeldSlot
    private var state: State
    /// Messages sent before a channel is open. Each tried channel queues them; the first that opens sends them.
    private var early: [[UInt8]] = []

    private enum State {
        case preparing(Handler)
        case searching(SerialPortSearch, Handler)
        case opening(DescriptorChannel, number: UInt8, rest: ArraySlice<UInt8>, Handler)
        case open(DescriptorChannel, number: UInt8, Handler)
        case closed
    }

    private typealias Handler = @Sendable (ChannelEvent) -> Void

    init(
        _ link: RadioLink, slot: HeldSlot, sockets: any RadioSockets, limits: RadioLimits, silent: SilentChannels,
        on loop: IOLoop
    ) {
        self.silent = silent
        self.link = link
        self.slot = slot
        self.sockets = sockets
        self.limits = limits
        self.loop = loop
        state = .closed
    }

    func begin(_ handle: @escaping @Sendable (ChannelEvent) -> Void) {
        state = .preparing(handle)
        slot.prepare { [self] in prepared() }
    }

    private func prepared() {
        guard case .preparing(let handle) = state else { return }
        let search = SerialPortSearch(link, sockets: sockets, limit: limits.search, on: loop) { [self] in
            found($0)
        }
        state = .searching(search, handle)
    }

    func send(_ bytes: [UInt8]) {
        loop.checkIsolated()
        switch state {
        case .preparing, .searching, .opening: early.append(bytes)
        case .open(let stream, _, _): stream.send(bytes)
        case .closed: break
        }
    }

    func close() {
        loop.checkIsolated()
        switch state {
        case .preparing: break
        case .searching(let search, _): search.cancel()
        case .opening(let stream, _, _, _), .open(let stream, _, _): stream.close()
        case .closed: return
        }
        end()
    }

    // MARK: The channel

    private func found(_ result: Result<UInt8?, Errno>) {
        guard case .searching(_, let handle) = state else { return }
        switch result {
        case .success(let channel?): open([channel], handle)
        case .success(nil): openUsual(handle)
        case .failure(let reason) where Self.mayStillHaveAPort(reason): openUsual(handle)
        case .failure(let reason):
            let failure = slot.explain(.connecting(link, over: .spp, reason))
            end()
            handle(.closed(failure))
        }
    }

    /// Returns whether a serial port is still possible after this search error. The listed errors come from a meter
    /// without a working SDP server. Any other error would recur on each channel, after the full connect timeout.
    private static func mayStillHaveAPort(_ reason: Errno) -> Bool {
        [ECONNREFUSED, ECONNRESET, ECONNABORTED, EPROTO].contains(reason.code)
    }

    private func openUsual(_ handle: @escaping Handler) {
        open(silent.order(Self.usualChannels, for: link.address)[...], handle)
    }

    private func open(_ channels: ArraySlice<UInt8>, _ handle: @escaping Handler) {
        guard let channel = channels.first else { return }
        let way = RFCOMMLink(link: link, channel: channel, sockets: sockets, connectLimit: limits.connect)
        let stream = DescriptorChannel.open(way, on: loop, stallLimit: limits.stall) { [self] in happened($0) }
        state = .opening(stream, number: channel, rest: channels.dropFirst(), handle)
    }

    private func happened(_ event: ChannelEvent) {
        switch (state, event) {
        case (.opening(let stream, let number, _, let handle), .opened):
            slot.linkUp()
            state = .open(stream, number: number, handle)
            handle(.opened)
            for bytes in early where isOpen { stream.send(bytes) }
            early = []
        case (.opening(_, _, let rest, let handle), .closed(let failure)):
            if failure.code == .unsuitable, !rest.isEmpty { return open(rest, handle) }
            let explained = slot.explain(failure)
            end()
            handle(.closed(explained))
        case (.open(_, _, let handle), .received):
            wasHeard = true
            handle(event)
        case (.open(_, _, let handle), .closed):
            end()
            handle(event)
        default: break
        }
    }

    private var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    private func end() {
        if case .open(_, let number, _) = state { silent.ended(number, of: link.address, wasHeard: wasHeard) }
        state = .closed
        early = []
        slot.giveBack()
    }
}
