/// A message of Protocol Buffers, version 3, as far as ESPHome's native API uses them: it lists its fields once, for
/// reading and for writing (https://protobuf.dev/programming-guides/encoding/).
package protocol ProtoMessage: Hashable, Sendable {
    init()
    /// Presents each field to `fields`, with its number.
    mutating func visit(_ fields: inout some ProtoFields)
}

/// Reads fields into variables, or writes them. A field that is absent has its type's zero.
package protocol ProtoFields {
    mutating func number(_ field: Int, _ value: inout UInt64)
    /// Four bytes, the least significant first.
    mutating func fixed(_ field: Int, _ value: inout UInt32)
    mutating func bytes(_ field: Int, _ value: inout [UInt8])
    /// Numbers, packed or one by one.
    mutating func numbers(_ field: Int, _ values: inout [UInt64])
    mutating func messages<Message: ProtoMessage>(_ field: Int, _ values: inout [Message])
}

extension ProtoFields {
    /// An `int32`, which is written as 64 bits. A wider one is cut off.
    mutating func number(_ field: Int, _ value: inout Int) {
        var bits = UInt64(bitPattern: Int64(value))
        number(field, &bits)
        value = Int(Int32(truncatingIfNeeded: bits))
    }

    /// A `uint32`. A wider one is cut off.
    mutating func number(_ field: Int, _ value: inout UInt32) {
        var bits = UInt64(value)
        number(field, &bits)
        value = UInt32(truncatingIfNeeded: bits)
    }

    /// A `sint32`: the sign is in the lowest bit.
    mutating func zigzag(_ field: Int, _ value: inout Int) {
        let wide = Int64(value)
        var bits = UInt64(bitPattern: wide << 1 ^ wide >> 63)
        number(field, &bits)
        value = Int(Int32(truncatingIfNeeded: Int64(bitPattern: bits >> 1) ^ -Int64(bits & 1)))
    }

    mutating func float(_ field: Int, _ value: inout Float) {
        var bits = value.bitPattern
        fixed(field, &bits)
        value = Float(bitPattern: bits)
    }

    mutating func flag(_ field: Int, _ value: inout Bool) {
        var bits: UInt64 = value ? 1 : 0
        number(field, &bits)
        value = bits != 0
    }

    mutating func text(_ field: Int, _ value: inout String) {
        var utf8 = Array(value.utf8)
        bytes(field, &utf8)
        value = String(decoding: utf8, as: UTF8.self)
    }
}

extension ProtoMessage {
    package var encoded: [UInt8] {
        var (message, writer) = (self, ProtoWriter())
        message.visit(&writer)
        return writer.output
    }

    /// Reads a message. Unknown fields are skipped; of a field that comes twice, the last one is taken.
    ///
    /// - Returns: nil for bytes that end within a field, or with a field of a type that there is not.
    package init?(encoded: [UInt8]) { self.init(encoded: encoded[...]) }

    fileprivate init?(encoded: ArraySlice<UInt8>) {
        guard var reader = ProtoReader(encoded) else { return nil }
        self.init()
        visit(&reader)
        if reader.isMalformed { return nil }
    }
}

struct ProtoWriter: ProtoFields {
    private(set) var output: [UInt8] = []

    mutating func number(_ field: Int, _ value: inout UInt64) {
        guard value != 0 else { return }
        output += Self.varint(UInt64(field) << 3) + Self.varint(value)
    }

    mutating func fixed(_ field: Int, _ value: inout UInt32) {
        guard value != 0 else { return }
        output += Self.varint(UInt64(field) << 3 | 5) + (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    mutating func bytes(_ field: Int, _ value: inout [UInt8]) {
        if !value.isEmpty { append(field, value) }
    }

    mutating func numbers(_ field: Int, _ values: inout [UInt64]) {
        if !values.isEmpty { append(field, values.flatMap { Self.varint($0) }) }
    }

    mutating func messages<Message: ProtoMessage>(_ field: Int, _ values: inout [Message]) {
        for message in values { append(field, message.encoded) }
    }

    private mutating func append(_ field: Int, _ content: [UInt8]) {
        output += Self.varint(UInt64(field) << 3 | 2) + Self.varint(UInt64(content.count)) + content
    }

    static func varint(_ value: UInt64) -> [UInt8] {
        var (rest, bytes): (UInt64, [UInt8]) = (value, [])
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(truncatingIfNeeded: rest)]
    }
}

/// The fields of a message, found before any of them is asked for. Their number is bounded by the message's length.
struct ProtoReader: ProtoFields {
    private enum Value {
        case number(UInt64)
        case fixed(UInt32)
        case content(ArraySlice<UInt8>)
    }

    private var values: [(field: UInt64, value: Value)] = []
    /// Whether a message within the message could not be read.
    private(set) var isMalformed = false

    /// - Returns: nil for bytes that are not fields.
    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            guard let tag = Self.varint(&rest) else { return nil }
            switch tag & 7 {
            case 0:
                guard let number = Self.varint(&rest) else { return nil }
                values.append((tag >> 3, .number(number)))
            case 2:
                guard let length = Self.varint(&rest).flatMap({ Int(exactly: $0) }), length <= rest.count else {
                    return nil
                }
                values.append((tag >> 3, .content(rest.prefix(length))))
                rest = rest.dropFirst(length)
            // Eight bytes, which no message here has.
            case 1:
                guard rest.count >= 8 else { return nil }
                rest = rest.dropFirst(8)
            case 5:
                guard rest.count >= 4 else { return nil }
                values.append((tag >> 3, .fixed(rest.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) })))
                rest = rest.dropFirst(4)
            default: return nil
            }
        }
    }

    mutating func number(_ field: Int, _ value: inout UInt64) {
        value = 0
        for case (UInt64(field), .number(let number)) in values { value = number }
    }

    mutating func fixed(_ field: Int, _ value: inout UInt32) {
        value = 0
        for case (UInt64(field), .fixed(let number)) in values { value = number }
    }

    mutating func bytes(_ field: Int, _ value: inout [UInt8]) {
        value = []
        for case (UInt64(field), .content(let content)) in values { value = Array(content) }
    }

    mutating func numbers(_ field: Int, _ list: inout [UInt64]) {
        list = []
        for case (UInt64(field), let value) in values {
            switch value {
            case .number(let number): list.append(number)
            case .fixed: break
            case .content(var packed):
                while !packed.isEmpty {
                    guard let number = Self.varint(&packed) else {
                        isMalformed = true
                        return
                    }
                    list.append(number)
                }
            }
        }
    }

    mutating func messages<Message: ProtoMessage>(_ field: Int, _ list: inout [Message]) {
        list = []
        for case (UInt64(field), .content(let content)) in values {
            guard let message = Message(encoded: content) else {
                isMalformed = true
                return
            }
            list.append(message)
        }
    }

    /// A number of up to ten bytes. Nil if it does not end.
    private static func varint(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in 0..<10 {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << (7 * UInt64(shift))
            if byte < 0x80 { return value }
        }
        return nil
    }
}
