/// A value in a service record (Core Specification 5.4, vol 3 part B 3). Numbers are big-endian.
///
/// libbluetooth's reader loops endlessly on some damaged records, so this program has its own reader.
package enum SDPElement: Hashable, Sendable {
    case unsigned(UInt64)
    case uuid(BluetoothUUID)
    /// A sequence, or a list of alternatives.
    case sequence([SDPElement])
    /// An unused type: text, Booleans, addresses, longer numbers.
    case other

    /// Deepest nesting of sequences. A record with a serial port has four levels.
    private static let depthLimit = 8

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

    /// Length of the content in bytes (vol 3 part B 3.1 to 3.3): a power of two, or read from the next 1, 2 or 4 bytes.
    private static func length(type: UInt8, size: UInt8, from bytes: inout ArraySlice<UInt8>) -> Int? {
        guard size >= 5 else { return type == 0 ? 0 : 1 << Int(size) }
        let count = 1 << Int(size - 5)
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return Int(bytes.prefix(count).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }
}

package enum SDPAnswer {
    // Assigned Numbers, 5.1 and 2.5.
    private static let protocolDescriptorList = SDPElement.unsigned(0x0004)
    private static let rfcomm = SDPElement.uuid(BluetoothUUID(short: 0x0003))

    /// Returns the RFCOMM channel, 1 to 30, from the first service record that has one. Nil if none has, or the bytes
    /// are no sequence of records.
    package static func rfcommChannel(in bytes: [UInt8]) -> UInt8? {
        var rest = bytes[...]
        guard case .sequence(let records)? = SDPElement(from: &rest) else { return nil }
        return records.lazy.compactMap(channel).first
    }

    /// Returns the RFCOMM channel of a record, in which attribute numbers and values alternate. Its protocols are
    /// listed from lowest to highest, each beginning with its UUID.
    private static func channel(of record: SDPElement) -> UInt8? {
        guard case .sequence(let attributes) = record,
            let index = attributes.indices.first(where: {
                $0.isMultiple(of: 2) && attributes[$0] == protocolDescriptorList
            }), index + 1 < attributes.count
        else { return nil }
        return stacks(in: attributes[index + 1]).lazy.compactMap(channel(ofStack:)).first
    }

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
