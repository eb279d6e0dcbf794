package import Domain

/// A meter's serial line over GATT.
///
/// ```
///   ┌──────┐ link up ┌─────┐  ┌──────────┐  ┌─────────────────┐  ┌─────────────┐  ┌─────────────┐  ┌──────┐
///   │ DOWN │────────▶│ MTU │─▶│ SERVICES │─▶│ CHARACTERISTICS │─▶│ DESCRIPTORS │─▶│ SUBSCRIBING │─▶│ OPEN │
///   └──────┘         └─────┘  └──────────┘  └─────────────────┘  └─────────────┘  └─────────────┘  └──────┘
///       └──────────── link up, and everything known already ──────────────────────────▶
/// ```
///
/// Each state may lead to FAILED, after which nothing is sent or delivered. Only the two services of meters are
/// explored, because each request costs a connection interval of a slow radio.
///
/// The driver calls `nextPDU` whenever the link has room for a packet, passes in each incoming packet, and calls `woke`
/// at `nextWake`.
package struct GATTSerialMachine: Sendable {
    private var client: GATTClient
    private let setUpLimit: Duration
    private var phase = Phase.down
    private var outgoing = OutgoingMessages()
    private var upSince: MonotonicTime?
    /// Number of received values that were ignored: from before the link was open, or from characteristics without a
    /// subscription.
    package private(set) var strayValues = 0

    private enum Phase: Sendable {
        case down
        case agreeingOnMTU
        case findingServices
        case findingCharacteristics(rest: [UInt16])
        case findingDescriptors(GATTSerialProfile)
        case subscribing(GATTSerialProfile)
        /// - Parameter unanswered: bytes of a write with response, until its response.
        case open(GATTSerialProfile, unanswered: [UInt8]?)
        case failed
    }

    /// - Parameter setUpLimit: time limit for opening the link. A meter needs about a second. Without a limit, a meter
    ///   that answers a hundred requests just in time would hold its adapter's slot for an hour.
    package init(ownMTU: Int = ATTPDU.largestMTU, setUpLimit: Duration = .seconds(30)) {
        client = GATTClient(ownMTU: ownMTU)
        self.setUpLimit = setUpLimit
    }

    package var mtu: Int { client.mtu }
    package var counters: ATTBearer.Counters { client.counters }
    package var database: GATTDatabase { client.database }
    package var services: [BluetoothUUID] { client.database.services.map(\.uuid) }

    // MARK: Events

    package mutating func linkUp(at now: MonotonicTime) {
        guard case .down = phase else { return }
        upSince = now
        phase = .agreeingOnMTU
        _ = client.begin(.exchangeMTU)
    }

    /// Opens a link made by another host, which has already explored the device.
    package mutating func linkUp(knowing database: GATTDatabase, mtu: Int, at now: MonotonicTime) -> OnReceived {
        guard case .down = phase else { return .none }
        upSince = now
        client.know(database, mtu: mtu)
        guard let profile = GATTSerialProfile(database) else { return fail(.noProfile(services: services)) }
        return subscribe(profile)
    }

    package enum OnReceived: Equatable, Sendable {
        case opened(GATTSerialProfile, mtu: Int)
        /// Bytes from the meter. Never empty.
        case deliver([UInt8])
        case failed(GATTSerialFailure)
        case none
    }

    package mutating func received(_ packet: [UInt8]) -> OnReceived {
        switch phase {
        case .down, .failed: return .none
        default: break
        }
        switch client.received(packet) {
        case .none: return .none
        case .values(let values): return deliver(values)
        case .finished(let outcome): return finished(outcome)
        }
    }

    package enum OnSend: Equatable, Sendable {
        case queued
        case failed(GATTSerialFailure)
    }

    /// Sends bytes as one command. Queues them until the link is open.
    package mutating func send(_ bytes: [UInt8]) -> OnSend {
        if case .failed = phase { return .queued }
        guard outgoing.append(bytes) else {
            phase = .failed
            return .failed(.tooMuchToSend(limit: OutgoingMessages.capacity))
        }
        return .queued
    }

    /// Switches to the meter's other writable characteristic. Returns false if the meter has no other, or the link is not
    /// open.
    package mutating func switchOutput() -> Bool {
        guard case .open(var profile, let unanswered) = phase, profile.switchOutput() else { return false }
        phase = .open(profile, unanswered: unanswered)
        return true
    }

    package mutating func nextPDU(at now: MonotonicTime) -> [UInt8]? {
        if case .failed = phase { return nil }
        if let pdu = client.nextPDU(at: now) { return pdu.bytes }
        guard !outgoing.isEmpty, case .open(let profile, unanswered: nil) = phase,
            let part = outgoing.next(atMost: mtu - 3)
        else { return nil }
        return write(part, over: profile, at: now)
    }

    package enum OnWoke: Equatable, Sendable {
        case failed(GATTSerialFailure)
        case none
    }

    package mutating func woke(at now: MonotonicTime) -> OnWoke {
        guard let step else { return .none }
        if case .timedOut = client.woke(at: now) {
            phase = .failed
            return .failed(.operation(step, .timedOut))
        }
        if let deadline = setUpDeadline, now >= deadline {
            phase = .failed
            return .failed(.tooSlow(step, limit: setUpLimit))
        }
        return .none
    }

    package var nextWake: MonotonicTime? {
        if case .failed = phase { return nil }
        guard let answer = client.nextWake else { return setUpDeadline }
        return setUpDeadline.map { min(answer, $0) } ?? answer
    }

    private var setUpDeadline: MonotonicTime? {
        switch phase {
        case .down, .open, .failed: nil
        default: upSince.map { $0 + setUpLimit }
        }
    }

    private var step: GATTSerialStep? {
        switch phase {
        case .down, .failed: nil
        case .agreeingOnMTU: .agreeingOnMTU
        case .findingServices: .findingServices
        case .findingCharacteristics: .findingCharacteristics
        case .findingDescriptors: .findingDescriptors
        case .subscribing: .subscribing
        case .open: .sending
        }
    }
}

extension GATTSerialMachine {
    private mutating func finished(_ outcome: GATTClient.Outcome) -> OnReceived {
        if case .failed(let failure) = outcome { return stepFailed(failure) }
        switch phase {
        case .down, .failed: return .none
        case .agreeingOnMTU: return findServices()
        case .findingServices:
            let wanted = client.database.services.filter { GATTSerialProfile.services.contains($0.uuid) }
            return findCharacteristics(of: wanted.map(\.range.first))
        case .findingCharacteristics(let rest): return findCharacteristics(of: rest)
        case .findingDescriptors(let profile): return subscribe(profile)
        case .subscribing(let profile):
            phase = .open(profile, unanswered: nil)
            return .opened(profile, mtu: mtu)
        case .open(let profile, _):
            phase = .open(profile, unanswered: nil)
            return .none
        }
    }

    private mutating func stepFailed(_ failure: GATTFailure) -> OnReceived {
        switch (phase, failure) {
        case (.agreeingOnMTU, .refused):
            // Old modules do not support the MTU exchange, so the MTU remains 23.
            return findServices()
        case (.open(var profile, let unanswered?), .refused(.writeNotPermitted)),
            (.open(var profile, let unanswered?), .refused(.requestNotSupported)):
            // A meter may list both kinds of write, but accept only one (Docs/Protocols/TC66.md#links).
            guard profile.switchWriteKind() else { return fail(.operation(.sending, failure)) }
            client.writeWithoutResponse(unanswered, to: profile.output)
            phase = .open(profile, unanswered: nil)
            return .none
        default:
            return fail(step.map { .operation($0, failure) } ?? .noProfile(services: services))
        }
    }

    private mutating func findServices() -> OnReceived {
        phase = .findingServices
        return go(on: client.begin(.discoverServices))
    }

    private mutating func findCharacteristics(of handles: [UInt16]) -> OnReceived {
        guard let first = handles.first else { return choose() }
        phase = .findingCharacteristics(rest: Array(handles.dropFirst()))
        return go(on: client.begin(.discoverCharacteristics(service: first)))
    }

    private mutating func choose() -> OnReceived {
        guard let profile = GATTSerialProfile(client.database) else { return fail(.noProfile(services: services)) }
        phase = .findingDescriptors(profile)
        return go(on: client.begin(.discoverDescriptors(characteristic: profile.input.declaration)))
    }

    private mutating func subscribe(_ profile: GATTSerialProfile) -> OnReceived {
        // A clone of the HM-10 may notify without a descriptor that enables notifications. They then count as enabled,
        // as in BlueZ (src/shared/gatt-client.c, register_notify).
        guard let handle = GATTSerialProfile(client.database)?.input.subscription else {
            phase = .open(profile, unanswered: nil)
            return .opened(profile, mtu: mtu)
        }
        phase = .subscribing(profile)
        return go(on: client.begin(.subscribe(handle, profile.subscription)))
    }

    /// Handles a begun operation, which is finished already if it needs no request. There is at most one such operation
    /// for each service, so the recursion ends.
    private mutating func go(on begun: GATTClient.OnBegin) -> OnReceived {
        switch begun {
        case .started, .busy: .none
        case .finished(let outcome): finished(outcome)
        }
    }

    private mutating func fail(_ failure: GATTSerialFailure) -> OnReceived {
        phase = .failed
        return .failed(failure)
    }

    // MARK: Bytes

    private mutating func write(_ part: [UInt8], over profile: GATTSerialProfile, at now: MonotonicTime) -> [UInt8]? {
        switch profile.writeKind {
        case .withoutResponse: client.writeWithoutResponse(part, to: profile.output)
        case .withResponse:
            phase = .open(profile, unanswered: part)
            _ = client.begin(.write(profile.output, part))
        }
        return client.nextPDU(at: now)?.bytes
    }

    private mutating func deliver(_ values: [ATTHandleValue]) -> OnReceived {
        guard case .open(let profile, _) = phase else {
            strayValues += values.count
            return .none
        }
        var bytes: [UInt8] = []
        for value in values {
            if value.handle != profile.input.value {
                strayValues += 1
            } else if bytes.isEmpty {
                bytes = value.value
            } else {
                bytes += value.value
            }
        }
        return bytes.isEmpty ? .none : .deliver(bytes)
    }
}
