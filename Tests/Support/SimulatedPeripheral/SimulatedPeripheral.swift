package import BluetoothCore

/// A GATT server as a value, with the attributes of one kind of meter: packets from a client go in, answers come out.
///
/// It supports only what a client of meters asks: MTU, services, characteristics, descriptors, reads, and writes of the
/// output and of the subscription. It is as strict as the strictest real server.
package struct SimulatedPeripheral: Sendable {
    private var attributes: [Attribute] = []
    private let input: UInt16
    private let output: UInt16
    private let outputProperties: GATTProperties
    private let ownMTU: Int
    private var mtu = ATTPDU.defaultMTU
    /// Whether its input has a descriptor to subscribe with. Without one it notifies all the same, as HM-10 clones do.
    private let hasSubscription: Bool
    /// Set when the client writes the subscription's value.
    package private(set) var isSubscribed = false
    /// What the client has written to the meter's line and nobody has taken yet.
    package private(set) var written: [[UInt8]] = []
    /// Number of requests so far.
    package private(set) var requests = 0

    private struct Attribute: Sendable {
        var handle: UInt16
        var type: BluetoothUUID
        var value: [UInt8]
        /// For a service, its last handle.
        var groupEnd: UInt16 = 0
    }

    /// The meter whose attributes it has.
    package enum Layout: String, CaseIterable, Sendable {
        /// UM24C, UM25C, UM34C: module DX-BT18, with a second characteristic `FFE2`.
        case um
        /// TC66C up to 1.14 and FNIRSI: RF-star module.
        case twoServices
        /// TC66C from 1.15: module DX-BT24.
        case dxBT24
        case atorch
        /// Not a meter: a heart rate belt.
        case stranger
    }

    /// - Parameters:
    ///   - ownMTU: the longest packet that it accepts; nil if it does not know the request.
    ///   - outputProperties: replaces the layout's own.
    ///   - hasSubscription: if false, there are no descriptors to subscribe with.
    package init(
        _ layout: Layout, ownMTU: Int? = 23, outputProperties: GATTProperties? = nil, hasSubscription: Bool = true
    ) {
        self.hasSubscription = hasSubscription
        let plan = Self.plan(layout, outputProperties)
        var end: UInt16 = 0
        var handles: [String: UInt16] = [:]
        for service in plan {
            let start = end + 1
            let declaration = attributes.count
            let name = BluetoothUUID(short: service.uuid)
            attributes.append(Attribute(handle: start, type: .primaryService, value: name.littleEndianBytes))
            end = start
            for characteristic in service.characteristics {
                let uuid = BluetoothUUID(short: characteristic.uuid)
                let value = end + 2
                attributes.append(
                    Attribute(
                        handle: end + 1, type: .characteristic,
                        value: [characteristic.properties.rawValue, UInt8(truncatingIfNeeded: value), 0]
                            + uuid.littleEndianBytes))
                attributes.append(Attribute(handle: value, type: uuid, value: Array("value".utf8)))
                handles["\(name)/\(uuid)"] = value
                end = value
                let tells = !characteristic.properties.isDisjoint(with: [.notify, .indicate])
                guard hasSubscription, tells else { continue }
                end += 1
                attributes.append(Attribute(handle: end, type: .clientCharacteristicConfiguration, value: [0, 0]))
            }
            attributes[declaration].groupEnd = end
            // Real servers leave gaps.
            end += 3
        }
        let (input, output) = Self.line(layout)
        self.input = handles[input] ?? 0
        self.output = handles[output] ?? 0
        self.outputProperties =
            plan.flatMap { service in
                service.characteristics.filter {
                    "\(BluetoothUUID(short: service.uuid))/\(BluetoothUUID(short: $0.uuid))" == output
                }
            }.first?.properties ?? []
        self.ownMTU = ownMTU ?? 0
    }

    // MARK: The meter's side

    /// Takes what the client has written since the last call.
    package mutating func takeWritten() -> [[UInt8]] {
        defer { written = [] }
        return written
    }

    /// The packets with what the meter sends; empty before the subscription.
    ///
    /// - Parameter pieces: the lengths to split it into, used in turn; nil for packets of full length.
    package func tell(_ bytes: [UInt8], pieces: [Int]? = nil) -> [[UInt8]] {
        guard isSubscribed || !hasSubscription else { return [] }
        var packets: [[UInt8]] = []
        var rest = bytes[...]
        var index = 0
        while !rest.isEmpty {
            let wanted = pieces.map { $0[index % $0.count] } ?? (mtu - 3)
            let piece = Array(rest.prefix(max(1, min(wanted, mtu - 3))))
            rest = rest.dropFirst(piece.count)
            packets.append(ATTPDU.notification(ATTHandleValue(handle: input, value: piece)).bytes)
            index += 1
        }
        return packets
    }

    // MARK: The client's side

    /// Handles a packet from the client.
    package mutating func receive(_ packet: [UInt8]) -> [[UInt8]] {
        // A test's own client sends this: a packet that cannot be read is what the test is about, and gets no answer.
        guard let pdu = try? ATTPDU(packet), packet.count <= max(mtu, ATTPDU.defaultMTU) else { return [] }
        if pdu.opcode.kind == .request { requests += 1 }
        guard let answer = answer(to: pdu) else { return [] }
        return [answer.bytes]
    }

    private mutating func answer(to pdu: ATTPDU) -> ATTPDU? {
        let opcode = pdu.opcode.rawValue
        switch pdu {
        case .exchangeMTURequest(let theirs):
            guard ownMTU > 0 else { return .errorResponse(to: opcode, handle: 0, error: .requestNotSupported) }
            mtu = max(ATTPDU.defaultMTU, min(ownMTU, Int(theirs)))
            return .exchangeMTUResponse(mtu: UInt16(clamping: ownMTU))
        case .readByGroupTypeRequest(let range, let type):
            let found = select(range, type) { 4 + $0.value.count }
            guard let first = found.first else { return notFound(opcode, range) }
            let entries = found.filter { $0.value.count == first.value.count }.map {
                ATTGroupValue(range: ATTHandleRange($0.handle, $0.groupEnd), value: $0.value)
            }
            return .readByGroupTypeResponse(entries)
        case .readByTypeRequest(let range, let type):
            let found = select(range, type) { 2 + $0.value.count }
            guard !found.isEmpty else { return notFound(opcode, range) }
            return .readByTypeResponse(found.map { ATTHandleValue(handle: $0.handle, value: $0.value) })
        case .findInformationRequest(let range):
            let found = select(range, nil) { _ in 4 }
            guard !found.isEmpty else { return notFound(opcode, range) }
            return .findInformationResponse(found.map { ATTInformation(handle: $0.handle, type: $0.type) })
        case .readRequest(let handle):
            guard let found = attributes.first(where: { $0.handle == handle }) else {
                return .errorResponse(to: opcode, handle: handle, error: .invalidHandle)
            }
            return .readResponse(Array(found.value.prefix(mtu - 1)))
        case .writeRequest(let handle, let value): return write(value, to: handle)
        case .writeCommand(let handle, let value):
            if handle == output, outputProperties.contains(.writeWithoutResponse) { written.append(value) }
            return nil
        default:
            guard pdu.opcode.kind == .request else { return nil }
            return .errorResponse(to: opcode, handle: 0, error: .requestNotSupported)
        }
    }

    private mutating func write(_ value: [UInt8], to handle: UInt16) -> ATTPDU {
        let opcode = ATTOpcode.writeRequest.rawValue
        if handle == output {
            guard outputProperties.contains(.write) else {
                return .errorResponse(to: opcode, handle: handle, error: .writeNotPermitted)
            }
            written.append(value)
            return .writeResponse
        }
        guard handle == input + 1, hasSubscription else {
            return .errorResponse(to: opcode, handle: handle, error: .writeNotPermitted)
        }
        isSubscribed = value.first.map { $0 & 3 != 0 } ?? false
        return .writeResponse
    }

    /// The matching attributes, as many as fit into one answer.
    private func select(
        _ range: ATTHandleRange, _ type: BluetoothUUID?, length: (Attribute) -> Int
    ) -> [Attribute] {
        let matching = attributes.filter { attribute in
            attribute.handle >= range.first && attribute.handle <= range.last
                && (type ?? attribute.type) == attribute.type
        }
        guard let first = matching.first else { return [] }
        return Array(matching.prefix(max(1, (mtu - 2) / length(first))))
    }

    private func notFound(_ opcode: UInt8, _ range: ATTHandleRange) -> ATTPDU {
        .errorResponse(to: opcode, handle: range.first, error: .attributeNotFound)
    }
}

/// The attributes of each kind of meter (Docs/Protocols/UM.md#links, Docs/Protocols/TC66.md#links,
/// Docs/Protocols/FNIRSI.md#bluetooth-le and Docs/Protocols/Atorch.md#links).
extension SimulatedPeripheral {
    private struct PlannedService {
        var uuid: UInt32
        var characteristics: [(uuid: UInt32, properties: GATTProperties)]
    }

    private static func plan(_ layout: Layout, _ output: GATTProperties?) -> [PlannedService] {
        let access = PlannedService(uuid: 0x1800, characteristics: [(0x2A00, [.read]), (0x2A01, [.read])])
        switch layout {
        case .um:
            return [
                access,
                PlannedService(
                    uuid: 0xFFE0,
                    characteristics: [
                        (0xFFE1, (output ?? [.write, .writeWithoutResponse]).union([.read, .notify])),
                        (0xFFE2, [.writeWithoutResponse]),
                    ]),
            ]
        case .twoServices:
            return [
                access, PlannedService(uuid: 0x1801, characteristics: [(0x2A05, [.indicate])]),
                PlannedService(uuid: 0xFFE0, characteristics: [(0xFFE4, [.notify])]),
                PlannedService(uuid: 0xFFE5, characteristics: [(0xFFE9, output ?? [.write, .writeWithoutResponse])]),
                PlannedService(
                    uuid: 0xFFC0, characteristics: [(0xFFC1, [.writeWithoutResponse]), (0xFFC2, [.notify])]),
            ]
        case .dxBT24:
            return [
                PlannedService(
                    uuid: 0xFFE0,
                    characteristics: [
                        (0xFFE1, [.read, .notify]), (0xFFE2, output ?? [.write, .writeWithoutResponse]),
                    ]), access, PlannedService(uuid: 0x180A, characteristics: [(0x2A29, [.read])]),
            ]
        case .atorch:
            return [
                access,
                PlannedService(uuid: 0xFFE0, characteristics: [(0xFFE1, (output ?? [.write]).union(.notify))]),
            ]
        case .stranger:
            return [access, PlannedService(uuid: 0x180D, characteristics: [(0x2A37, [.notify])])]
        }
    }

    private static func line(_ layout: Layout) -> (input: String, output: String) {
        switch layout {
        case .um, .atorch: ("FFE0/FFE1", "FFE0/FFE1")
        case .twoServices: ("FFE0/FFE4", "FFE5/FFE9")
        case .dxBT24: ("FFE0/FFE1", "FFE0/FFE2")
        case .stranger: ("", "")
        }
    }
}
