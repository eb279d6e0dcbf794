package import BluetoothCore
import Domain

/// What becomes of a link through a proxy.
package enum ProxyLinkEvent: Hashable, Sendable {
    /// The link is up, and this is what the device offers.
    case up(GATTDatabase, mtu: Int)
    /// A packet of the attribute protocol.
    case packet([UInt8])
    /// The link is gone, or could not be made. The last event.
    case down(ProxyLinkEnd)
}

/// Why a link through a proxy ended, or was not made.
package enum ProxyLinkEnd: Hashable, Sendable {
    /// The proxy has no slot for it.
    case noSlot
    /// The device did not answer.
    case timedOut
    /// The device or the proxy's stack gave a reason.
    case failed(Int)
    /// The device has no services, or their list was cut off.
    case noServices
    /// A link that was up was lost, with its reason.
    case lost(Int)
    /// The proxy itself is gone.
    case proxyGone
}

/// The links through one proxy: who has a slot, whose turn it is to connect, and each link's requests. A value without a
/// clock.
///
/// ```
///   ┌────────┐  its turn  ┌────────────┐  up   ┌─────────┐  all told  ┌────┐
///   │ QUEUED │───────────▶│ CONNECTING │──────▶│ LISTING │───────────▶│ UP │
///   └────────┘            └────────────┘       └─────────┘            └────┘
///                               └──────────────────┴───── given up ─────┴───▶ LEAVING ─▶ gone
/// ```
///
/// A proxy makes one link at a time and ignores a connect to a device whose slot it has not cleared yet: so a link waits for
/// its turn, and until its address has left the slots. It also tells of an end twice.
///
/// Towards its owner a link carries packets of the attribute protocol, so that `GATTSerialMachine` drives it as it drives
/// a socket of the kernel. The proxy's own requests stand behind them; a write to a descriptor that subscribes is two of
/// them, because the proxy does not write it by itself.
struct ProxyLinks: Sendable {
    enum Output: Hashable, Sendable {
        case send(APIFrame)
        case tell(MACAddress, ProxyLinkEvent)
    }

    private let timing: ProxyTiming
    private var links: [UInt64: ProxyLink] = [:]
    /// Addresses in the order in which they wait.
    private var queue: [UInt64] = []
    private(set) var slots: ConnectionsFree?

    init(timing: ProxyTiming) { self.timing = timing }

    /// Links of this host that are up or on their way.
    var count: Int { links.values.count { !$0.isLeaving } }

    /// How many links the proxy bears. Nil until it has said so.
    var limit: Int? { slots.map { Int(clamping: $0.limit) } }

    /// Slots that neither this host nor anything else has, or waits for.
    var free: Int { max(0, Int(clamping: slots?.free ?? 0) - queue.count) }

    func contains(_ address: MACAddress) -> Bool { links[address.bits].map { !$0.isLeaving } ?? false }

    // MARK: The owner

    /// Makes a link when its turn comes. An earlier link to the same device ends.
    mutating func connect(_ address: MACAddress, isRandom: Bool, at now: MonotonicTime) -> [Output] {
        var outputs = leave(address, at: now)
        // One that is ending keeps its place in the proxy until `allocated` lets go of it.
        links[address.bits] = ProxyLink(isRandom: isRandom, phase: .queued(since: now))
        queue.append(address.bits)
        outputs += step(at: now)
        return outputs
    }

    /// Takes a packet of the attribute protocol from the link's owner.
    mutating func send(_ packet: [UInt8], to address: MACAddress) -> [Output] {
        guard var link = links[address.bits], case .up = link.phase, let pdu = try? ATTPDU(packet) else { return [] }
        let frames = link.requests(for: pdu, at: address.bits)
        links[address.bits] = link
        return frames.map { .send($0) }
    }

    /// The owner wants the link no more, and hears nothing more of it.
    mutating func leave(_ address: MACAddress, at now: MonotonicTime) -> [Output] {
        guard let link = links[address.bits], !link.isLeaving else { return [] }
        guard !link.isQueued else {
            forget(address.bits)
            return []
        }
        return end(address.bits, at: now) + step(at: now)
    }

    /// The proxy is gone, and with it all its links.
    mutating func proxyLost() -> [Output] {
        defer {
            links = [:]
            queue = []
            slots = nil
        }
        return links.filter { !$0.value.isLeaving }.keys.sorted().map { .tell(MACAddress(bits: $0), .down(.proxyGone)) }
    }

    // MARK: Time

    mutating func woke(at now: MonotonicTime) -> [Output] {
        var outputs: [Output] = []
        for (address, link) in links.sorted(by: { $0.key < $1.key })
        where now >= deadline(of: link) ?? now + .seconds(1) {
            switch link.phase {
            case .queued: outputs += down(address, .noSlot, at: now)
            case .connecting: outputs += down(address, .timedOut, at: now) + end(address, at: now)
            case .listing: outputs += down(address, .noServices, at: now) + end(address, at: now)
            case .leaving: forget(address)
            case .up: break
            }
        }
        return outputs + step(at: now)
    }

    var nextWake: MonotonicTime? { links.values.compactMap { deadline(of: $0) }.min() }

    private func deadline(of link: ProxyLink) -> MonotonicTime? {
        switch link.phase {
        case .queued(let since): since + timing.turn
        case .connecting(let since): since + timing.connect
        case .listing(let since, _, _): since + timing.services
        case .leaving(let since): since + timing.disconnect
        case .up: nil
        }
    }

    // MARK: Steps

    /// Begins the next link, if its turn has come.
    private mutating func step(at now: MonotonicTime) -> [Output] {
        guard let slots, slots.free > 0, !links.values.contains(where: \.isBeingMade),
            let address = queue.first(where: { !slots.allocated.contains($0) }), var link = links[address]
        else { return [] }
        queue.removeAll { $0 == address }
        link.phase = .connecting(since: now)
        links[address] = link
        let request = DeviceRequest.made {
            $0.address = address
            $0.type = DeviceRequest.connect
            $0.hasAddressType = true
            $0.addressType = link.isRandom ? 1 : 0
        }
        return [.send(request.frame)]
    }

    private mutating func forget(_ address: UInt64) {
        links[address] = nil
        queue.removeAll { $0 == address }
    }

    /// Tells the owner that there is no link. It is known until its slot is free.
    private mutating func down(_ address: UInt64, _ end: ProxyLinkEnd, at now: MonotonicTime) -> [Output] {
        forget(address)
        if slots?.allocated.contains(address) == true {
            links[address] = ProxyLink(isRandom: false, phase: .leaving(since: now))
        }
        return [.tell(MACAddress(bits: address), .down(end))]
    }

    /// Has the proxy end a link, so that its slot comes back.
    private mutating func end(_ address: UInt64, at now: MonotonicTime) -> [Output] {
        links[address] = ProxyLink(isRandom: false, phase: .leaving(since: now))
        return [Self.disconnect(address)]
    }

    private static func disconnect(_ address: UInt64) -> Output {
        .send(
            DeviceRequest.made {
                $0.address = address
                $0.type = DeviceRequest.disconnect
            }.frame)
    }

    // MARK: The proxy

    /// Takes a message about links. Nil if it is about something else, or cannot be read.
    mutating func received(_ frame: APIFrame, at now: MonotonicTime) -> [Output]? {
        switch frame.id {
        case ConnectionsFree.id:
            guard let message = ConnectionsFree(frame) else { return nil }
            slots = message
            return reconcile(with: message, at: now) + step(at: now)
        case DeviceConnection.id: return DeviceConnection(frame).map { changed($0, at: now) + step(at: now) }
        case ServicesFound.id: return ServicesFound(frame).map { found($0, at: now) }
        case ServicesDone.id: return ServicesDone(frame).map { allFound(of: $0.address, at: now) }
        case NotifyData.id: return NotifyData(frame).map { notified($0) }
        case ReadResponse.id:
            return ReadResponse(frame).map { message in
                answer(message.target) { if case .read = $0 { .readResponse(message.data) } else { nil } }
            }
        case WriteResponse.id:
            return WriteResponse(frame).map { message in
                answer(message.target) {
                    switch $0 {
                    case .write, .descriptor: .writeResponse
                    case .read, .notify: nil
                    }
                }
            }
        case NotifyResponse.id: return NotifyResponse(frame).map { subscribed($0.target) }
        case GATTError.id: return GATTError(frame).map { failed($0, at: now) }
        default: return nil
        }
    }

    /// Compares the slots with the links that are known.
    private mutating func reconcile(with slots: ConnectionsFree, at now: MonotonicTime) -> [Output] {
        var outputs: [Output] = []
        // Old firmware tells no addresses.
        let isWhole = UInt64(slots.allocated.count) + UInt64(slots.free) == UInt64(slots.limit)
        for (address, link) in links.sorted(by: { $0.key < $1.key }) where !slots.allocated.contains(address) {
            switch link.phase {
            case .leaving: forget(address)
            // A proxy drops what its network has no room for, an end as well (bleak-esphome 4.1.0 compares in the same way:
            // `_async_reconcile_connections`).
            case .listing where isWhole, .up where isWhole: outputs += down(address, .lost(0), at: now)
            case .queued, .connecting, .listing, .up: break
            }
        }
        // Left over from an earlier connection: nobody else ends it, because a proxy has one client.
        for address in slots.allocated where links[address] == nil { outputs += end(address, at: now) }
        return outputs
    }

    private mutating func changed(_ message: DeviceConnection, at now: MonotonicTime) -> [Output] {
        let address = message.address
        guard var link = links[address] else {
            // Late, and nobody's: it would keep its slot for ever.
            return message.isConnected ? [Self.disconnect(address)] : []
        }
        switch (link.phase, message.isConnected) {
        case (.connecting, true):
            let mtu = message.mtu == 0 ? ATTPDU.defaultMTU : Int(clamping: message.mtu)
            link.phase = .listing(since: now, [], mtu: mtu)
            links[address] = link
            return [.send(GetServices.made { $0.address = address }.frame)]
        case (.connecting, false): return down(address, message.error == 0 ? .noSlot : .failed(message.error), at: now)
        case (.listing, false): return down(address, .failed(message.error), at: now)
        case (.up, false): return down(address, .lost(message.error), at: now)
        case (.leaving, false):
            // Its slot may be cleared later: `allocated` says when.
            if slots?.allocated.contains(address) != true { forget(address) }
            return []
        // Late: of an attempt that was given up.
        case (.leaving, true), (.queued, true): return [Self.disconnect(address)]
        // The second message about an earlier end, or about a link that is known.
        case (.queued, false), (.listing, true), (.up, true): return []
        }
    }

    private mutating func found(_ message: ServicesFound, at now: MonotonicTime) -> [Output] {
        guard var link = links[message.address], case .listing(let since, let known, let mtu) = link.phase else {
            return []
        }
        let all = known + message.services
        guard all.attributeCount <= GATTClient.attributeLimit else {
            return down(message.address, .noServices, at: now) + end(message.address, at: now) + step(at: now)
        }
        link.phase = .listing(since: since, all, mtu: mtu)
        links[message.address] = link
        return []
    }

    private mutating func allFound(of address: UInt64, at now: MonotonicTime) -> [Output] {
        guard var link = links[address], case .listing(_, let services, let mtu) = link.phase else { return [] }
        guard let database = GATTDatabase(services), !services.isEmpty else {
            return down(address, .noServices, at: now) + end(address, at: now) + step(at: now)
        }
        link.phase = .up
        link.database = database
        links[address] = link
        // A characteristic without the descriptor tells all the same, once the proxy listens to it.
        let silent = database.services.flatMap(\.characteristics).filter {
            !$0.properties.isDisjoint(with: [.notify, .indicate]) && $0.subscription == nil
        }
        return silent.map { .send(NotifyRequest(address, UInt32($0.value), isOn: true).frame) }
            + [.tell(MACAddress(bits: address), .up(database, mtu: mtu))] + step(at: now)
    }

    private mutating func subscribed(_ target: AttributeTarget) -> [Output] {
        guard case .notify(target.handle, let descriptor, let value) = links[target.address]?.pending else { return [] }
        links[target.address]?.pending = .descriptor(descriptor)
        let write = WriteDescriptorRequest.made {
            $0.target = AttributeTarget(target.address, descriptor)
            $0.data = value
        }
        return [.send(write.frame)]
    }

    private mutating func failed(_ message: GATTError, at now: MonotonicTime) -> [Output] {
        let address = message.target.address
        guard let link = links[address] else { return [] }
        switch link.phase {
        case .listing: return down(address, .noServices, at: now) + end(address, at: now) + step(at: now)
        case .up where message.error == GATTError.notConnected: return down(address, .lost(0), at: now) + step(at: now)
        case .up:
            return answer(message.target) { pending in
                // Not worth the link: the session asks again after any request that got no answer.
                if case .write = pending, message.error == GATTError.congested { return .writeResponse }
                let opcode: ATTOpcode = if case .read = pending { .readRequest } else { .writeRequest }
                return .errorResponse(
                    to: opcode.rawValue, handle: UInt16(clamping: message.target.handle),
                    error: ATTErrorCode(rawValue: UInt8(clamping: message.error)))
            }
        case .queued, .connecting, .leaving: return []
        }
    }

    /// Answers the request that waits for this attribute. Others are answers to writes that wanted none.
    private mutating func answer(_ target: AttributeTarget, _ make: (ProxyLink.Pending) -> ATTPDU?) -> [Output] {
        guard let pending = links[target.address]?.pending, pending.handle == target.handle, let pdu = make(pending)
        else { return [] }
        links[target.address]?.pending = nil
        return [.tell(MACAddress(bits: target.address), .packet(pdu.bytes))]
    }

    /// The device sent a value by itself.
    private func notified(_ message: NotifyData) -> [Output] {
        guard let link = links[message.target.address], case .up = link.phase,
            let handle = UInt16(exactly: message.target.handle)
        else { return [] }
        let pdu = ATTPDU.notification(ATTHandleValue(handle: handle, value: message.data))
        return [.tell(MACAddress(bits: message.target.address), .packet(pdu.bytes))]
    }
}

extension [ServicesFound.Service] {
    fileprivate var attributeCount: Int {
        reduce(count) { sum, service in
            service.characteristics.reduce(sum + service.characteristics.count) { $0 + $1.descriptors.count }
        }
    }
}

extension GATTDatabase {
    /// - Returns: nil for handles that no server has, or that go back.
    fileprivate init?(_ services: [ServicesFound.Service]) {
        self.init()
        for found in services {
            guard let first = UInt16(exactly: found.handle), first > (self.services.last?.range.last ?? 0) else {
                return nil
            }
            var service = GATTService(uuid: found.name.uuid, range: ATTHandleRange(first, first))
            for one in found.characteristics {
                // The declaration is the attribute before the value (Core Specification 5.4, vol 3 part G 3.3).
                guard let value = UInt16(exactly: one.handle), value > service.range.last else { return nil }
                var characteristic = GATTCharacteristic(
                    uuid: one.name.uuid,
                    properties: GATTProperties(rawValue: UInt8(truncatingIfNeeded: one.properties)),
                    declaration: value - 1, value: value, end: value)
                for descriptor in one.descriptors {
                    guard let handle = UInt16(exactly: descriptor.handle), handle > characteristic.end else {
                        return nil
                    }
                    characteristic.end = handle
                    characteristic.descriptors.append(ATTInformation(handle: handle, type: descriptor.name.uuid))
                }
                service.range.last = characteristic.end
                service.characteristics.append(characteristic)
            }
            self.services.append(service)
        }
    }
}
