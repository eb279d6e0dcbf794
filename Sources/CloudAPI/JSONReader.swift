import MeterModel

/// Goes through JSON once, without a coder and without intermediate strings, where it has the form that programs usually
/// write: no white space, and of escapes those that `RecordText` writes. Every step returns nil or false for anything else,
/// which is then left to a decoder; how far it has come by then is of no use.
package struct JSONReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// As Swift prints it.
    package mutating func integer() -> Int64? {
        let isNegative = skip("-")
        guard let magnitude = decimal() else { return nil }
        guard isNegative else { return Int64(exactly: magnitude) }
        guard magnitude > 0, magnitude <= Int64.min.magnitude else { return nil }
        return Int64(truncatingIfNeeded: 0 &- magnitude)
    }

    /// A number's characters, up to the next closing brace. Swift parses more forms than it prints.
    mutating func number() -> Substring? {
        guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "}")), end - position <= 32,
            bytes[position..<end].allSatisfy({ "0123456789+-.e".utf8.contains($0) })
        else { return nil }
        defer { position = end }
        return String(decoding: bytes[position..<end], as: UTF8.self)[...]
    }

    /// At most 19 digits, which always fit, without leading zeros.
    package mutating func decimal() -> UInt64? {
        var value: UInt64 = 0
        let start = position
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            value = value &* 10 &+ UInt64(digit)
            position += 1
            guard position - start <= 19 else { return nil }
        }
        guard position > start, bytes[start] != UInt8(ascii: "0") || position == start + 1 else { return nil }
        return value
    }

    /// The sixteen bytes of a UUID in its usual letters, without quotes.
    mutating func uuid() -> (high: UInt64, low: UInt64)? {
        guard let start = bytes.baseAddress, position + UUIDText.length <= bytes.count,
            let words = UUIDText.read(start + position, inAnyCase: false)
        else { return nil }
        position += UUIDText.length
        return words
    }

    /// Including both quotes.
    package mutating func string() -> String? {
        guard skip(#"""#) else { return nil }
        let start = position
        let isASCII = passPlainLetters()
        let letters = UnsafeBufferPointer(rebasing: bytes[start..<position])
        guard skip(#"""#) else { return escapedString(from: start) }
        // Most are, and nothing need be looked at again.
        return isASCII ? String(decoding: letters, as: UTF8.self) : String(validating: letters, as: UTF8.self)
    }

    /// Goes over a string without making one, wherever its letters are looked at as a whole.
    package mutating func passString() -> Bool {
        guard skip(#"""#) else { return false }
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): guard escape() != nil else { return false }
            case 0..<0x20: return false
            default: break
            }
        }
        return false
    }

    /// A string as it stands there, without its quotes; nil if something in it is escaped.
    package mutating func plainString() -> Slice<UnsafeBufferPointer<UInt8>>? {
        guard skip(#"""#) else { return nil }
        let start = position
        passPlainLetters()
        let end = position
        return skip(#"""#) ? bytes[start..<end] : nil
    }

    /// Up to the first letter that ends a string, begins an escape, or may not be in one.
    ///
    /// - Returns: whether all of them are ASCII.
    @discardableResult
    private mutating func passPlainLetters() -> Bool {
        var all: UInt8 = 0
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20: return all < 0x80
            default:
                all |= byte
                position += 1
            }
        }
        return all < 0x80
    }

    private mutating func escapedString(from start: Int) -> String? {
        var plain = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: plain, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                plain.append(escaped)
            case 0..<0x20: return nil
            default: plain.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> UInt8? {
        for byte in [UInt8(ascii: "\""), UInt8(ascii: "\\")] where position < bytes.count && bytes[position] == byte {
            position += 1
            return byte
        }
        guard skip("u00"), position + 2 <= bytes.count, let high = bytes[position].hexDigitValue,
            let low = bytes[position + 1].hexDigitValue, high < 2
        else { return nil }
        position += 2
        return UInt8(high << 4 | low)
    }

    package mutating func skip(_ expected: StaticString) -> Bool {
        let count = expected.utf8CodeUnitCount
        guard count <= bytes.count - position, let start = bytes.baseAddress else { return false }
        guard Self.areEqual(start + position, expected.utf8Start, count) else { return false }
        position += count
        return true
    }

    /// Eight bytes at a time; the last eight may have been looked at in part.
    private static func areEqual(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        guard count >= 8 else { return (0..<count).allSatisfy { one[$0] == other[$0] } }
        let (one, other) = (UnsafeRawPointer(one), UnsafeRawPointer(other))
        func areEqual(at offset: Int) -> Bool {
            one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        var offset = 0
        while offset + 8 < count {
            guard areEqual(at: offset) else { return false }
            offset += 8
        }
        return areEqual(at: count - 8)
    }

    /// An object whose keys come in any order.
    ///
    /// - Parameter field: reads the value of a key; false if it cannot.
    package mutating func object(_ field: (inout JSONReader, _ key: String) -> Bool) -> Bool {
        guard skip("{") else { return false }
        if skip("}") { return true }
        repeat {
            guard let key = string(), skip(":"), field(&self, key) else { return false }
        } while skip(",")
        return skip("}")
    }

    /// Reads the value of a key that may come once.
    ///
    /// - Returns: false if it came before, or cannot be read.
    package mutating func fill<Value>(_ field: inout Value?, _ read: (inout JSONReader) -> Value?) -> Bool {
        if field != nil { return false }
        field = read(&self)
        return field != nil
    }

    package mutating func array<Element>(_ element: (inout JSONReader) -> Element?) -> [Element]? {
        guard skip("[") else { return nil }
        if skip("]") { return [] }
        var elements: [Element] = []
        repeat {
            guard let element = element(&self) else { return nil }
            elements.append(element)
        } while skip(",")
        return skip("]") ? elements : nil
    }
}

extension Collection<UInt8> {
    /// - Returns: the result of `body`; nil if it did not read everything.
    package func read<Value>(_ body: (inout JSONReader) -> Value?) -> Value? {
        let value: Value?? = withContiguousStorageIfAvailable { bytes in
            var reader = JSONReader(bytes)
            let value = body(&reader)
            return reader.isAtEnd ? value : nil
        }
        return value ?? nil
    }
}
