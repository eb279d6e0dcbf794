package import BluetoothCore
package import Domain
import Gateway
package import GatewayAPI
package import LinuxIO

/// Byte channel to a meter over Bluetooth LE. Carries packets between a `GATTSerialMachine` and a kernel socket or a
/// proxy.
///
/// ```
///   ┌─────────┐  the machine opened   ┌──────┐  lost, failed   ┌────────┐ handler called ┌────────┐
///   │ OPENING │──────────────────────▶│ OPEN │────────────────▶│ FAILED │───────────────▶│ CLOSED │
///   └─────────┘                       └──────┘                 └────────┘                └────────┘
/// ```
///
/// `close` leads from each state to CLOSED.
package final class GATTSerialChannel: GATTChannel, @unchecked Sendable {
    // `@unchecked Sendable`: used only on the event loop, as every entry point checks (see `ByteChannel`).

    private let link: RadioLink
    private let loop: IOLoop
    private var slot: HeldSlot
    private var machine: GATTSerialMachine
    private var packets: (any ByteChannel)?
    private let known: @Sendable () -> Known?
    private var state: State
    /// Kind of Bluetooth module in the meter, set once the link is open. Two services mean an RF-star module (TC66C and
    /// FNIRSI meters). Nil for any other module (Docs/Protocols/TC66.md#links and
    /// Docs/Protocols/FNIRSI.md#bluetooth-le).
    package private(set) var radioModule: RadioModule?
    private var alarm: Alarm

    private enum State {
        case opening(Handler)
        case open(Handler)
        case failed(Handler)
        case closed
    }

    private typealias Handler = @Sendable (ChannelEvent) -> Void

    /// GATT database and MTU, received from the host that made the link.
    package struct Known: Sendable {
        package var database: GATTDatabase
        package var mtu: Int

        package init(database: GATTDatabase, mtu: Int) {
            self.database = database
            self.mtu = mtu
        }
    }

    /// Opens a link if an adapter's slot is available.
    ///
    /// - Parameters:
    ///   - known: called once the link is up. Returns earlier GATT discovery results, or nil to discover everything.
    ///   - packets: opens the packets' channel. It must not call its handler before it returns.
    package static func open(
        _ link: RadioLink, slots: any RadioSlots, on loop: IOLoop, setUpLimit: Duration,
        knowing known: @escaping @Sendable () -> Known? = { nil },
        packets: (@escaping @Sendable (ChannelEvent) -> Void) -> any ByteChannel,
        handle: @escaping @Sendable (ChannelEvent) -> Void
    ) -> any ByteChannel {
        do {
            let slot = try HeldSlot(of: link, over: .ble, from: slots)
            let channel = GATTSerialChannel(
                link, slot: slot, on: loop, setUpLimit: setUpLimit, knowing: known, handle)
            channel.packets = packets { channel.happened($0) }
            return channel
        } catch {
            return RefusedChannel(error, loop: loop, handle)
        }
    }

    private init(
        _ link: RadioLink, slot: HeldSlot, on loop: IOLoop, setUpLimit: Duration,
        knowing known: @escaping @Sendable () -> Known?, _ handle: @escaping @Sendable (ChannelEvent) -> Void
    ) {
        self.known = known
        self.link = link
        self.slot = slot
        self.loop = loop
        alarm = Alarm(on: loop)
        machine = GATTSerialMachine(setUpLimit: setUpLimit)
        state = .opening(handle)
    }

    package func send(_ bytes: [UInt8]) {
        loop.checkIsolated()
        switch state {
        case .opening, .open: break
        case .failed, .closed: return
        }
        switch machine.send(bytes) {
        case .queued: transmit()
        case .failed(let reason): fail(reason)
        }
    }

    package func switchOutput() -> Bool {
        loop.checkIsolated()
        return machine.switchOutput()
    }

    package func close() {
        loop.checkIsolated()
        shut()
    }

    package var offered: [SupportService]? {
        let found = machine.database.support
        return found.isEmpty ? nil : found
    }

    // MARK: The packets

    private func happened(_ event: ChannelEvent) {
        switch event {
        case .opened:
            slot.linkUp()
            guard let known = known() else {
                machine.linkUp(at: loop.now)
                return transmit()
            }
            perform(machine.linkUp(knowing: known.database, mtu: known.mtu, at: loop.now))
        case .received(let packet): received(packet)
        case .closed(let failure):
            guard let handle else { return }
            shut()
            handle(.closed(failure))
        }
    }

    private func received(_ packet: [UInt8]) { perform(machine.received(packet)) }

    private func perform(_ event: GATTSerialMachine.OnReceived) {
        switch event {
        case .none: break
        case .opened(let profile, _):
            guard case .opening(let handle) = state else { break }
            if profile.shape == .twoServices { radioModule = .twoServices }
            state = .open(handle)
            handle(.opened)
        case .deliver(let bytes):
            guard case .open(let handle) = state else { break }
            handle(.received(bytes))
            // Set the alarm again only if packets were sent. Otherwise no deadline changed, and getting `nextWake`
            // would copy the machine for nothing.
            if sendWaiting() { arm() }
            return
        case .failed(let reason): fail(reason)
        }
        transmit()
    }

    private func transmit() {
        sendWaiting()
        arm()
    }

    @discardableResult
    private func sendWaiting() -> Bool {
        var hasSent = false
        while let packets, let packet = machine.nextPDU(at: loop.now) {
            packets.send(packet)
            hasSent = true
        }
        return hasSent
    }

    private var handle: Handler? {
        switch state {
        case .opening(let handle), .open(let handle): handle
        case .failed, .closed: nil
        }
    }

    // MARK: Time

    private func arm() {
        alarm.set(to: handle == nil ? nil : machine.nextWake) { [self] in rang() }
    }

    private func rang() {
        alarm.rang()
        if case .failed(let reason) = machine.woke(at: loop.now) { fail(reason) }
        arm()
    }

    // MARK: Closing

    /// Closes immediately, but calls the handler in the next loop iteration: `send` may detect the fault and must not
    /// call the handler.
    private func fail(_ reason: GATTSerialFailure) {
        guard let handle else { return }
        shut()
        state = .failed(handle)
        let failure = ChannelFailure.serial(link, reason)
        loop.execute { [self] in
            guard case .failed = state else { return }
            state = .closed
            handle(.closed(failure))
        }
    }

    private func shut() {
        alarm.cancel()
        packets?.close()
        packets = nil
        slot.giveBack()
        state = .closed
    }
}

extension ChannelFailure {
    static func serial(_ link: RadioLink, _ reason: GATTSerialFailure) -> ChannelFailure {
        let meter = "\(link.address)"
        switch reason {
        case .operation(_, .refused(let error)) where error.wantsSecurity:
            return ChannelFailure(
                .unsuitable, "\(meter) requires pairing, unlike the meters known here: \(reason).")
        case .noProfile, .operation(_, .refused), .operation(_, .malformed), .operation(_, .misbehaved):
            return ChannelFailure(.unsuitable, "\(meter) is not a meter known here: \(reason).")
        case .operation(.sending, .timedOut), .tooMuchToSend:
            return ChannelFailure(.stalled, "\(meter) takes no bytes: \(reason). Switch it off and on.")
        case .operation(_, .timedOut), .tooSlow:
            return ChannelFailure(
                .unreachable, "\(meter) is there and does not answer: \(reason). Switch it off and on.")
        }
    }
}
