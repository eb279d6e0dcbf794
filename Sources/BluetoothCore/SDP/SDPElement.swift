/// A value in a service record (Core Specification 5.4, vol 3 part B 3): numbers most significant byte first.
///
/// Read here and not by libbluetooth, whose reader runs for ever on some damaged records.
package enum SDPElement: Hashable, Sendable {
    case unsigned(UInt64)
    case uuid(BluetoothUUID)
    /// Also alternatives, of which a client takes any.
    case sequence([SDPElement])
    /// Of a type that nothing here looks at: text, truth, addresses, longer numbers.
    case other

    /// How deep sequences may lie in each other. A record with a serial port has four levels.
    private static let depthLimit = 8

    /// Reads one element from the start of `bytes` and takes it away.
    ///
    /// - Returns: nil for what is cut short, or of no known form.
    package init?(from bytes: inout ArraySlice<UInt8>) {
        self.init(from: &bytes, depth: 0)
    }

    private init?(from bytes: inout ArraySlice<UInt8>, depth: Int) {
        guard depth < Self.depthLimit, let head = bytes.popFirst() else { return nil }
        let type = head >> 3
        guard let length = Self.length(type: type, size: head & 7, from: &bytes), length <= bytes.count else {
            return nil
        }
        var content = bytes.prefix(length)
        bytes = bytes.dropFirst(length)
        switch type {
        case 1 where length <= 8: self = .unsigned(content.reduce(0) { $0 << 8 | UInt64($1) })
        case 3:
            guard let uuid = BluetoothUUID(littleEndian: content.reversed()) else { return nil }
            self = .uuid(uuid)
        case 6, 7:
            var elements: [SDPElement] = []
            while !content.isEmpty {
                guard let element = SDPElement(from: &content, depth: depth + 1) else { return nil }
                elements.append(element)
            }
            self = .sequence(elements)
        default: self = .other
        }
    }

    /// How long the content is (3.1 to 3.3): a power of two, or behind the head in 1, 2 or 4 bytes.
    private static func length(type: UInt8, size: UInt8, from bytes: inout ArraySlice<UInt8>) -> Int? {
        guard size >= 5 else { return type == 0 ? 0 : 1 << Int(size) }
        let count = 1 << Int(size - 5)
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return Int(bytes.prefix(count).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }
}

/// What a meter answers when it is asked for its serial port.
package enum SDPAnswer {
    // Assigned Numbers, 5.1 and 2.5.
    private static let protocolDescriptorList = SDPElement.unsigned(0x0004)
    private static let rfcomm = SDPElement.uuid(BluetoothUUID(short: 0x0003))

    /// The RFCOMM channel in a sequence of service records: of the first record that has one.
    ///
    /// - Returns: nil where none has, and for what is no such sequence. Channels are 1 to 30.
    package static func rfcommChannel(in bytes: [UInt8]) -> UInt8? {
        var rest = bytes[...]
        guard case .sequence(let records)? = SDPElement(from: &rest) else { return nil }
        return records.lazy.compactMap(channel).first
    }

    /// A record is attribute numbers and their values by turns; the protocols are a list from the lowest to the highest,
    /// each with its own name first.
    private static func channel(of record: SDPElement) -> UInt8? {
        guard case .sequence(let attributes) = record,
            let index = attributes.indices.first(where: {
                $0.isMultiple(of: 2) && attributes[$0] == protocolDescriptorList
            }), index + 1 < attributes.count
        else { return nil }
        return stacks(in: attributes[index + 1]).lazy.compactMap(channel(ofStack:)).first
    }

    /// One stack of protocols, or several as alternatives.
    private static func stacks(in value: SDPElement) -> [[SDPElement]] {
        guard case .sequence(let elements) = value else { return [] }
        let inner = elements.compactMap { element -> [SDPElement]? in
            guard case .sequence(let layer) = element, case .sequence? = layer.first else { return nil }
            return layer
        }
        return inner.isEmpty ? [elements] : inner
    }

    private static func channel(ofStack layers: [SDPElement]) -> UInt8? {
        for case .sequence(let layer) in layers where layer.first == rfcomm {
            guard layer.count > 1, case .unsigned(let channel) = layer[1], (1...30).contains(channel) else { continue }
            return UInt8(truncatingIfNeeded: channel)
        }
        return nil
    }
}
