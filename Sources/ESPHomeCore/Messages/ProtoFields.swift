/// A message type of Protocol Buffers, version 3, with the features that ESPHome uses
/// (https://protobuf.dev/programming-guides/encoding/). Its static members are its fields.
package protocol ProtoDescription: Sendable {}

@dynamicMemberLookup
package struct ProtoMessage<Description: ProtoDescription>: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var number: UInt64
        var value: ProtoValue
    }

    private var entries: [Entry] = []
    private static var entriesMax: Int { 1024 }

    package init() {}

    package subscript<Value>(dynamicMember field: KeyPath<Description.Type, ProtoField<Value>>) -> Value {
        get { self[Description.self[keyPath: field]] }
        set { self[Description.self[keyPath: field]] = newValue }
    }

    subscript<Value>(field: ProtoField<Value>) -> Value {
        get { field.read(entries.filter { $0.number == field.number }.map(\.value)) }
        set {
            entries.removeAll { $0.number == field.number }
            let place = entries.firstIndex { $0.number > field.number } ?? entries.endIndex
            let new = field.write(newValue).map { Entry(number: field.number, value: $0) }
            entries.insert(contentsOf: new, at: place)
        }
    }

    /// Skips unknown fields and uses the last of repeated fields.
    ///
    /// - Returns: nil for a truncated field, an unknown field type, or too many fields.
    package init?(encoded: some Sequence<UInt8>) {
        var rest = ArraySlice(encoded)
        while !rest.isEmpty {
            guard let tag = ProtoVarint.read(&rest), let value = ProtoValue(type: tag & 7, &rest),
                entries.count < Self.entriesMax
            else { return nil }
            entries.append(Entry(number: tag >> 3, value: value))
        }
    }

    package var encoded: [UInt8] {
        entries.flatMap { entry in
            let tag = ProtoVarint.bytes(entry.number << 3 | entry.value.type)
            return switch entry.value {
            case .number(let number): tag + ProtoVarint.bytes(number)
            case .fixed(let bytes): tag + bytes
            case .content(let bytes): tag + ProtoVarint.bytes(UInt64(bytes.count)) + bytes
            }
        }
    }
}

/// A field of a message. Encoding omits the type's zero; an absent field decodes as zero.
package struct ProtoField<Value>: Sendable {
    let number: UInt64
    fileprivate let read: @Sendable ([ProtoValue]) -> Value
    fileprivate let write: @Sendable (Value) -> [ProtoValue]

    fileprivate func map<Other>(
        _ read: @escaping @Sendable (Value) -> Other, _ write: @escaping @Sendable (Other) -> Value
    ) -> ProtoField<Other> {
        ProtoField<Other>(number: number, read: { read(self.read($0)) }, write: { self.write(write($0)) })
    }
}

extension ProtoField {
    static func wide(_ number: UInt64) -> Self where Value == UInt64 {
        Self(
            number: number, read: { $0.compactMap(\.number).last ?? 0 }, write: { $0 == 0 ? [] : [.number($0)] })
    }

    /// `uint32`. Decoding truncates wider values.
    static func number(_ number: UInt64) -> Self where Value == UInt32 {
        ProtoField<UInt64>.wide(number).map({ UInt32(truncatingIfNeeded: $0) }, { UInt64($0) })
    }

    /// `int32`, encoded as 64 bits. Decoding truncates wider values.
    static func signed(_ number: UInt64) -> Self where Value == Int {
        ProtoField<UInt64>.wide(number).map({ Int(Int32(truncatingIfNeeded: $0)) }, { UInt64(bitPattern: Int64($0)) })
    }

    /// `sint32`: the sign is the lowest bit.
    static func zigzag(_ number: UInt64) -> Self where Value == Int {
        ProtoField<UInt64>.wide(number).map(
            { Int(Int32(truncatingIfNeeded: Int64(bitPattern: $0 >> 1) ^ -Int64($0 & 1))) },
            { UInt64(bitPattern: Int64($0) << 1 ^ Int64($0) >> 63) })
    }

    static func flag(_ number: UInt64) -> Self where Value == Bool {
        ProtoField<UInt64>.wide(number).map({ $0 != 0 }, { $0 ? 1 : 0 })
    }

    /// Four bytes, little-endian.
    static func fixed(_ number: UInt64) -> Self where Value == UInt32 {
        Self(
            number: number,
            read: { $0.compactMap(\.fixed).last?.reversed().reduce(0) { $0 << 8 | UInt32($1) } ?? 0 },
            write: { value in
                value == 0 ? [] : [.fixed((0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }[...])]
            })
    }

    static func float(_ number: UInt64) -> Self where Value == Float {
        ProtoField<UInt32>.fixed(number).map({ Float(bitPattern: $0) }, { $0.bitPattern })
    }

    static func bytes(_ number: UInt64) -> Self where Value == [UInt8] {
        Self(
            number: number, read: { $0.compactMap(\.content).last.map { Array($0) } ?? [] },
            write: { $0.isEmpty ? [] : [.content($0[...])] })
    }

    static func text(_ number: UInt64) -> Self where Value == String {
        ProtoField<[UInt8]>.bytes(number).map({ String(decoding: $0, as: UTF8.self) }, { Array($0.utf8) })
    }

    /// Repeated number, packed or as separate fields. The value is nil if a packed number is incomplete.
    static func numbers(_ number: UInt64) -> Self where Value == [UInt64]? {
        Self(
            number: number,
            read: { values in
                var numbers: [UInt64] = []
                for value in values {
                    if case .number(let number) = value { numbers.append(number) }
                    guard case .content(var packed) = value else { continue }
                    while !packed.isEmpty {
                        guard let number = ProtoVarint.read(&packed) else { return nil }
                        numbers.append(number)
                    }
                }
                return numbers
            },
            write: { numbers in
                let packed = (numbers ?? []).flatMap { ProtoVarint.bytes($0) }
                return packed.isEmpty ? [] : [.content(packed[...])]
            })
    }

    static func messages<Inner>(_ number: UInt64) -> Self where Value == [ProtoMessage<Inner>]? {
        Self(
            number: number,
            read: { values in
                let contents = values.compactMap(\.content)
                let messages = contents.compactMap { ProtoMessage<Inner>(encoded: $0) }
                return messages.count == contents.count ? messages : nil
            },
            write: { ($0 ?? []).map { .content($0.encoded[...]) } })
    }
}

private enum ProtoValue: Hashable, Sendable {
    case number(UInt64)
    /// Four or eight bytes. ESPHome's messages use four.
    case fixed(ArraySlice<UInt8>)
    case content(ArraySlice<UInt8>)

    init?(type: UInt64, _ rest: inout ArraySlice<UInt8>) {
        func take(_ count: UInt64?) -> ArraySlice<UInt8>? {
            guard let count = count.flatMap({ Int(exactly: $0) }), count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        switch type {
        case 0:
            guard let number = ProtoVarint.read(&rest) else { return nil }
            self = .number(number)
        case 2:
            guard let content = take(ProtoVarint.read(&rest)) else { return nil }
            self = .content(content)
        case 1, 5:
            guard let bytes = take(type == 1 ? 8 : 4) else { return nil }
            self = .fixed(bytes)
        default: return nil
        }
    }

    var type: UInt64 {
        switch self {
        case .number: 0
        case .fixed(let bytes): bytes.count == 8 ? 1 : 5
        case .content: 2
        }
    }

    var number: UInt64? { if case .number(let number) = self { number } else { nil } }
    var fixed: ArraySlice<UInt8>? { if case .fixed(let bytes) = self, bytes.count == 4 { bytes } else { nil } }
    var content: ArraySlice<UInt8>? { if case .content(let bytes) = self { bytes } else { nil } }
}

/// Varint: groups of seven bits, least significant first.
enum ProtoVarint {
    /// Decodes up to ten bytes. Nil if the number is incomplete.
    static func read(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in 0..<10 {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << (7 * UInt64(shift))
            if byte < 0x80 { return value }
        }
        return nil
    }

    static func bytes(_ value: UInt64) -> [UInt8] {
        value < 0x80
            ? [UInt8(truncatingIfNeeded: value)] : [UInt8(truncatingIfNeeded: value) | 0x80] + bytes(value >> 7)
    }
}
