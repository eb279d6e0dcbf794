package import BluetoothCore
import Domain

package enum ProxyLinkEvent: Hashable, Sendable {
    case up(GATTDatabase, mtu: Int)
    case packet([UInt8])
    /// The link ended or could not be made. Last event.
    case down(ProxyLinkEnd)
}

package enum ProxyLinkEnd: Hashable, Sendable {
    case noSlot
    case timedOut
    case failed(Int)
    /// The device has no services, or their list was truncated.
    case noServices
    case lost(Int)
    case proxyGone
}

/// All Bluetooth links through one proxy. Reads no clock.
///
/// ```
///   ┌────────┐  its turn  ┌────────────┐  up   ┌─────────┐  all told  ┌────┐
///   │ QUEUED │───────────▶│ CONNECTING │──────▶│ LISTING │───────────▶│ UP │
///   └────────┘            └────────────┘       └─────────┘            └────┘
///                               └──────────────────┴───── given up ─────┴───▶ LEAVING ─▶ gone
/// ```
///
/// A proxy makes one link at a time, and ignores a connect to a device that still has a slot. So a link waits in the
/// queue until the previous link is made and the proxy has no slot for the waiting link's address.
///
/// A link exchanges packets of the attribute protocol with its owner, so that `GATTSerialMachine` uses it like a kernel
/// socket. The link translates them into the proxy's requests. A subscribing write to a descriptor becomes two
/// requests, because the proxy does not write the descriptor itself.
struct ProxyLinks: Sendable {
    enum Output: Hashable, Sendable {
        case send(APIFrame)
        case tell(MACAddress, ProxyLinkEvent)
    }

    private let timing: NodeTiming
    private var links: [UInt64: ProxyLink] = [:]
    private var queue: [UInt64] = []
    private var slots: Slots?

    private struct Slots: Sendable {
        var free: Int
        var limit: Int
        var allocated: [UInt64]
    }

    init(timing: NodeTiming) { self.timing = timing }

    var count: Int { links.values.count { $0.phase != .leaving } }

    /// Nil until reported by the proxy.
    var limit: Int? { slots?.limit }

    /// Number of free slots that no queued link needs.
    var free: Int { max(0, (slots?.free ?? 0) - queue.count) }

    func contains(_ address: MACAddress) -> Bool { links[address.bits].map { $0.phase != .leaving } ?? false }

    // MARK: The owner

    mutating func connect(_ address: MACAddress, isRandom: Bool, at now: MonotonicTime) -> [Output] {
        let outputs = leave(address, at: now)
        // Queue the link: an earlier link to this address keeps its slot in the proxy until `allocated` omits it.
        links[address.bits] = ProxyLink(address.bits, isRandom: isRandom, .queued, at: now)
        queue.append(address.bits)
        return outputs + step(at: now)
    }

    mutating func send(_ packet: [UInt8], to address: MACAddress) -> [Output] {
        guard links[address.bits]?.phase == .up, let pdu = try? ATTPDU(packet),
            let frame = links[address.bits]?.request(for: pdu)
        else { return [] }
        return [.send(frame)]
    }

    /// Ends a link. Its owner receives no further event.
    mutating func leave(_ address: MACAddress, at now: MonotonicTime) -> [Output] {
        guard let link = links[address.bits], link.phase != .leaving else { return [] }
        guard link.phase != .queued else {
            forget(address.bits)
            return []
        }
        return end(address.bits, at: now) + step(at: now)
    }

    mutating func proxyLost() -> [Output] {
        defer { self = ProxyLinks(timing: timing) }
        return links.filter { $0.value.phase != .leaving }.keys.sorted().map {
            .tell(MACAddress(bits: $0), .down(.proxyGone))
        }
    }

    // MARK: Time

    mutating func woke(at now: MonotonicTime) -> [Output] {
        var outputs: [Output] = []
        for (address, link) in links.sorted(by: { $0.key < $1.key }) where deadline(of: link).map({ now >= $0 }) == true
        {
            switch link.phase {
            case .queued: outputs += down(address, .noSlot, at: now)
            case .connecting: outputs += giveUp(address, .timedOut, at: now)
            case .listing: outputs += giveUp(address, .noServices, at: now)
            case .leaving: forget(address)
            case .up: break
            }
        }
        return outputs + step(at: now)
    }

    var nextWake: MonotonicTime? { links.values.compactMap { deadline(of: $0) }.min() }

    private func deadline(of link: ProxyLink) -> MonotonicTime? {
        switch link.phase {
        case .queued: link.since + timing.turn
        case .connecting: link.since + timing.connect
        case .listing: link.since + timing.services
        case .leaving: link.since + timing.disconnect
        case .up: nil
        }
    }

    // MARK: Steps

    private mutating func step(at now: MonotonicTime) -> [Output] {
        guard let slots, slots.free > 0, !links.values.contains(where: \.isBeingMade),
            let address = queue.first(where: { !slots.allocated.contains($0) }), let link = links[address]
        else { return [] }
        queue.removeAll { $0 == address }
        links[address]?.enter(.connecting, at: now)
        let request = DeviceRequest.made {
            ($0.address, $0.kind) = (address, DeviceRequest.connect)
            ($0.hasAddressType, $0.addressType) = (true, link.isRandom ? 1 : 0)
        }
        return [.send(request.frame)]
    }

    private mutating func forget(_ address: UInt64) {
        links[address] = nil
        queue.removeAll { $0 == address }
    }

    /// Reports the end to the owner. Keeps the entry until the proxy frees the slot.
    private mutating func down(_ address: UInt64, _ end: ProxyLinkEnd, at now: MonotonicTime) -> [Output] {
        forget(address)
        if slots?.allocated.contains(address) == true {
            links[address] = ProxyLink(address, .leaving, at: now)
        }
        return [.tell(MACAddress(bits: address), .down(end))]
    }

    private mutating func end(_ address: UInt64, at now: MonotonicTime) -> [Output] {
        links[address] = ProxyLink(address, .leaving, at: now)
        return [Self.disconnect(address)]
    }

    private mutating func giveUp(_ address: UInt64, _ reason: ProxyLinkEnd, at now: MonotonicTime) -> [Output] {
        down(address, reason, at: now) + end(address, at: now)
    }

    private static func disconnect(_ address: UInt64) -> Output {
        .send(DeviceRequest.made { ($0.address, $0.kind) = (address, DeviceRequest.disconnect) }.frame)
    }

    // MARK: The proxy

    /// Handles messages about links; ignores others and invalid ones.
    mutating func received(_ frame: APIFrame, at now: MonotonicTime) -> [Output] {
        var outputs: [Output] = []
        if let message = ConnectionsFree.read(frame), let allocated = message.allocated {
            let slots = Slots(
                free: Int(clamping: message.free), limit: Int(clamping: message.limit), allocated: allocated)
            self.slots = slots
            outputs = reconcile(with: slots, at: now)
        } else if let message = DeviceConnection.read(frame) {
            outputs = changed(message, at: now)
        } else if let message = ServicesFound.read(frame) {
            outputs = found(message, at: now)
        } else if let message = ServicesDone.read(frame) {
            outputs = allFound(of: message.address, at: now)
        } else if let (kind, message) = AttributeMessage.read(frame) {
            outputs = told(kind, message, at: now)
        }
        return outputs + step(at: now)
    }

    private mutating func reconcile(with slots: Slots, at now: MonotonicTime) -> [Output] {
        var outputs: [Output] = []
        // Old firmware reports no addresses, so a link missing from the list has ended only if the list is complete.
        let isWhole = slots.allocated.count + slots.free == slots.limit
        for (address, link) in links.sorted(by: { $0.key < $1.key }) where !slots.allocated.contains(address) {
            switch link.phase {
            case .leaving: forget(address)
            // The list lacks the address, so the link has ended. A proxy drops even the report of an end if its network
            // has no room (bleak-esphome 4.1.0 does the same: `_async_reconcile_connections`).
            case .listing where isWhole, .up where isWhole: outputs += down(address, .lost(0), at: now)
            case .queued, .connecting, .listing, .up: break
            }
        }
        // End links from an earlier connection of this host. No other client will end them, because a proxy serves only
        // one.
        for address in slots.allocated where links[address] == nil { outputs += end(address, at: now) }
        return outputs
    }

    private mutating func changed(_ message: ProtoMessage<DeviceConnection>, at now: MonotonicTime) -> [Output] {
        let (address, reason) = (message.address, message.error)
        guard let link = links[address] else {
            // The link, if up, was established after its attempt was given up. It would keep its slot forever.
            return message.isConnected ? [Self.disconnect(address)] : []
        }
        switch (link.phase, message.isConnected) {
        case (.connecting, true):
            links[address]?.enter(.listing, at: now)
            if message.mtu != 0 { links[address]?.mtu = Int(clamping: message.mtu) }
            return [.send(GetServices.made { $0.address = address }.frame)]
        case (.connecting, false): return down(address, reason == 0 ? .noSlot : .failed(reason), at: now)
        case (.listing, false): return down(address, .failed(reason), at: now)
        case (.up, false): return down(address, .lost(reason), at: now)
        case (.leaving, false):
            // The proxy may free the slot later. Keep the entry until the proxy's list lacks the address.
            if slots?.allocated.contains(address) != true { forget(address) }
            return []
        case (.leaving, true), (.queued, true): return [Self.disconnect(address)]
        // Second report of an end, or of a link that already exists.
        case (.queued, false), (.listing, true), (.up, true): return []
        }
    }

    private mutating func found(_ message: ProtoMessage<ServicesFound>, at now: MonotonicTime) -> [Output] {
        guard links[message.address]?.phase == .listing else { return [] }
        let isTaken = links[message.address]?.database.append(message.services) == true
        return isTaken ? [] : giveUp(message.address, .noServices, at: now)
    }

    private mutating func allFound(of address: UInt64, at now: MonotonicTime) -> [Output] {
        guard let link = links[address], link.phase == .listing else { return [] }
        guard !link.database.services.isEmpty else { return giveUp(address, .noServices, at: now) }
        links[address]?.enter(.up, at: now)
        // Also register characteristics without a client characteristic configuration descriptor: they may notify too.
        let silent = link.database.services.flatMap(\.characteristics).filter {
            !$0.properties.isDisjoint(with: [.notify, .indicate]) && $0.subscription == nil
        }
        return silent.map { .send(link.notify($0.value, isOn: true)) }
            + [.tell(MACAddress(bits: address), .up(link.database, mtu: link.mtu))]
    }

    private mutating func told(
        _ kind: AttributeMessage.Kind, _ message: ProtoMessage<AttributeMessage>, at now: MonotonicTime
    ) -> [Output] {
        let address = message.address
        switch (links[address]?.phase, kind) {
        case (.listing, .failed): return giveUp(address, .noServices, at: now)
        case (.up, .failed) where message.error == AttributeMessage.notConnected:
            return down(address, .lost(0), at: now)
        case (.up, .notified):
            guard let handle = UInt16(exactly: message.handle) else { return [] }
            let pdu = ATTPDU.notification(ATTHandleValue(handle: handle, value: message.data))
            return [.tell(MACAddress(bits: address), .packet(pdu.bytes))]
        case (.up, _):
            guard let (packet, next) = links[address]?.answered(kind, message) else { return [] }
            return (packet.map { [.tell(MACAddress(bits: address), .packet($0.bytes))] } ?? [])
                + (next.map { [.send($0)] } ?? [])
        default: return []
        }
    }
}

extension GATTDatabase {
    /// - Returns: false if the list is unusable: impossible or decreasing handles, or more attributes than a server may
    ///   have.
    fileprivate mutating func append(_ found: [ProtoMessage<FoundGATTService>]?) -> Bool {
        for found in found ?? [] {
            guard let first = UInt16(exactly: found.handle), first > (services.last?.range.last ?? 0),
                let characteristics = found.characteristics
            else { return false }
            var service = GATTService(uuid: found.uuid, range: ATTHandleRange(first, first))
            for one in characteristics {
                // The declaration is the attribute before the value, so its handle is one less (Core Specification 5.4,
                // vol 3 part G 3.3).
                guard let value = UInt16(exactly: one.handle), value > service.range.last,
                    let descriptors = one.descriptors
                else { return false }
                var characteristic = GATTCharacteristic(
                    uuid: one.uuid, properties: GATTProperties(rawValue: UInt8(truncatingIfNeeded: one.properties)),
                    declaration: value - 1, value: value, end: value)
                for descriptor in descriptors {
                    guard let handle = UInt16(exactly: descriptor.handle), handle > characteristic.end else {
                        return false
                    }
                    characteristic.end = handle
                    characteristic.descriptors.append(ATTInformation(handle: handle, type: descriptor.uuid))
                }
                service.range.last = characteristic.end
                service.characteristics.append(characteristic)
            }
            services.append(service)
        }
        let characteristics = services.flatMap(\.characteristics)
        let count = characteristics.reduce(services.count + characteristics.count) { $0 + $1.descriptors.count }
        return found != nil && count <= GATTClient.attributeLimit
    }
}
