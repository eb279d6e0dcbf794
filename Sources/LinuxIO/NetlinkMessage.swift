/// A report of the kernel about links, addresses and routes, from rtnetlink(7).
package enum NetlinkMessage: Hashable, Sendable {
    /// `isUp` means switched on and with a carrier.
    case link(index: Int32, isUp: Bool, name: String?)
    case linkGone(index: Int32)
    case address(index: UInt32)
    case addressGone(index: UInt32)
    case route
    case routeGone
    case overrun
    /// A request failed. `code` is an errno.
    case failure(code: Int32)
    case other(type: UInt16)
    /// An impossible length in the rest of the datagram: longer than the data, or too small.
    case malformed

    /// Decodes one datagram in the machine's byte order. Never traps. Drops all messages after a malformed one.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var offset = 0
        while offset < bytes.count {
            guard let length = bytes.value(at: offset, as: UInt32.self).map(Int.init), length >= headerLength,
                length <= bytes.count - offset, let type = bytes.value(at: offset + 4, as: UInt16.self)
            else { return messages + [.malformed] }
            let body = UnsafeRawBufferPointer(rebasing: bytes[(offset + headerLength)..<(offset + length)])
            if type == endOfDump { return messages }
            messages.append(decode(type, body))
            offset += aligned(length)
        }
        return messages
    }

    private static let headerLength = 16
    private static let endOfDump: UInt16 = 3

    private static func decode(_ type: UInt16, _ body: UnsafeRawBufferPointer) -> NetlinkMessage {
        switch type {
        case 2: return body.value(at: 0, as: Int32.self).map { .failure(code: 0 &- $0) } ?? .malformed
        case 4: return .overrun
        case 16: return link(body)
        case 17: return body.value(at: 4, as: Int32.self).map { .linkGone(index: $0) } ?? .malformed
        case 20: return body.value(at: 4, as: UInt32.self).map { .address(index: $0) } ?? .malformed
        case 21: return body.value(at: 4, as: UInt32.self).map { .addressGone(index: $0) } ?? .malformed
        case 24: return .route
        case 25: return .routeGone
        default: return .other(type: type)
        }
    }

    /// Decodes struct ifinfomsg: family, device type, index at 4, flags at 8, change; attributes from 16 on.
    private static func link(_ body: UnsafeRawBufferPointer) -> NetlinkMessage {
        guard body.count >= 16, let index = body.value(at: 4, as: Int32.self),
            let flags = body.value(at: 8, as: UInt32.self)
        else { return .malformed }
        // IFF_UP and IFF_RUNNING.
        let isUp = flags & 0x1 != 0 && flags & 0x40 != 0
        return .link(index: index, isUp: isUp, name: name(in: UnsafeRawBufferPointer(rebasing: body[16...])))
    }

    /// Returns IFLA_IFNAME, a zero-terminated string.
    private static func name(in attributes: UnsafeRawBufferPointer) -> String? {
        var offset = 0
        while offset < attributes.count {
            guard let length = attributes.value(at: offset, as: UInt16.self).map(Int.init), length >= 4,
                length <= attributes.count - offset, let type = attributes.value(at: offset + 2, as: UInt16.self)
            else { return nil }
            if type == 3 {
                return String(decoding: attributes[(offset + 4)..<(offset + length)].prefix { $0 != 0 }, as: UTF8.self)
            }
            offset += aligned(length)
        }
        return nil
    }

    private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension UnsafeRawBufferPointer {
    fileprivate func value<Value: BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value? {
        guard offset >= 0, count - offset >= MemoryLayout<Value>.size else { return nil }
        return loadUnaligned(fromByteOffset: offset, as: type)
    }
}
