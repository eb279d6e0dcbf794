package import Domain

/// A load's answer: to a query 7 bytes, `CA CB <u24> CE CF`, to an order the byte 6F
/// (Docs/Protocols/Atorch.md#loads-the-px100-queries). Has no checksum and does not name its query.
package enum PX100Answer: Hashable, Sendable {
    case value(UInt32, of: PX100Query)
    case done
}

/// A message from a host to a load, in a recording of both.
package enum PX100Message: Hashable, Sendable {
    case query(PX100Query)
    case order(PX100Order)
    /// Code of a command, such as a key press, in the protocol used for reports.
    case command(UInt8)
    /// A message with a code or value that no known load supports. Gets no answer.
    case unknown(code: UInt8)
}

extension PX100Answer: FrameContent {
    package var model: ModelName? { nil }

    package func forEachReading(_ body: (Reading) -> Void) {
        guard case .value(let raw, let query) = self, let quantity = query.quantity else { return }
        var reading = Reading()
        reading[quantity] = query.value(of: raw)
        body(reading)
    }

    package var details: [FrameDetail] {
        guard case .value(let raw, let query) = self else { return [FrameDetail("reply", .text("ok"))] }
        return DL24State.detail(of: query, raw).map { [$0] } ?? []
    }
}

extension PX100Message: FrameContent {
    package var model: ModelName? { nil }
    package func forEachReading(_ body: (Reading) -> Void) {}

    package var details: [FrameDetail] {
        switch self {
        case .query(let query): [FrameDetail("query", .text(Hex.encode([query.rawValue])))]
        case .order(let order): [FrameDetail("order", .text(Hex.encode(Array(order.bytes[2...4]))))]
        case .command(let code): [FrameDetail("command", .text(Hex.encode([code])))]
        case .unknown(let code): [FrameDetail("unknown_request", .text(Hex.encode([code])))]
        }
    }
}
