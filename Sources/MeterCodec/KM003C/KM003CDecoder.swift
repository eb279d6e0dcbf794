import Domain

/// Splits bytes from a KM003C into messages by their headers, because a serial line does not carry lengths
/// (Docs/Protocols/KM003C.md#where-a-message-ends).
///
/// After an impossible header or value, the search continues at the next byte.
package struct KM003CDecoder: BufferedFrameDecoder {
    package var buffer = ReceiveBuffer(capacity: KM003CFraming.longest)
    private let framing: KM003CFraming
    private let enforcesChecks: Bool
    /// Rate of the meter's graph (its own sampling), if known. Determines the units of queue samples.
    var graphRate: KM003CRate?
    /// Number of encrypted bytes, without a header, that are still missing after a memory answer.
    private var memoryRemaining = 0
    private var negotiation = PDNegotiation()
    private var queueRest: KM003CQueueRest?

    /// - Parameters:
    ///   - side: `both` decodes captures of both directions.
    ///   - enforcesChecks: false accepts settings with a wrong checksum, and impossible measurements.
    package init(side: KM003CFraming.Side = .meter, graphRate: KM003CRate? = nil, enforcesChecks: Bool = true) {
        framing = KM003CFraming(side: side)
        self.graphRate = graphRate
        self.enforcesChecks = enforcesChecks
    }

    package mutating func next() -> DecodeStep? {
        guard buffer.count > 0 else { return nil }
        if memoryRemaining > 0 { return nextMemoryPiece() }
        switch buffer.withBytes(framing.measure) {
        case .incomplete:
            return nil
        case .bad(let error):
            return nextQueueRest(because: error)
        case .whole(let kind, let length):
            return nextMessage(kind, length)
        }
    }

    package mutating func reset() -> Int {
        defer {
            buffer.removeAll()
            memoryRemaining = 0
            queueRest = nil
        }
        return buffer.count
    }

    private mutating func nextMessage(_ kind: KM003CKind, _ length: Int) -> DecodeStep {
        var message = buffer.withBytes {
            KM003CMessage(UnsafeRawBufferPointer(rebasing: $0.prefix(length)), kind: kind, graphRate: graphRate)
        }
        if enforcesChecks, let error = Self.checkError(message) {
            buffer.drop(1)
            return .skipped(count: 1, because: error)
        }
        if message.payloads.isEmpty {
            queueRest = nil
        } else {
            queueRest = KM003CQueueRest(after: message)
            follow(&message)
        }
        if message.kind == .memoryAnswer, let range = message.memoryRange { memoryRemaining = range.encryptedLength }
        buffer.take(length)
        return .frame(.km003c(message))
    }

    private mutating func follow(_ message: inout KM003CMessage) {
        guard let status = message.pdStatus else { return }
        negotiation.heard(status)
        message.contract = negotiation.contract
    }

    private mutating func nextMemoryPiece() -> DecodeStep? {
        let length = min(memoryRemaining, KM003CFraming.longestMemoryPiece)
        guard buffer.count >= length else { return nil }
        memoryRemaining -= length
        buffer.take(length)
        return .frame(.km003c(KM003CMessage(memoryPiece: length)))
    }

    /// Accepts one sample beyond the count in the last queue's header, as in a captured answer. Nil while it is
    /// incomplete.
    private mutating func nextQueueRest(because error: CodecError) -> DecodeStep? {
        guard let rest = queueRest else { return skipRubbish(because: error) }
        switch buffer.withBytes(rest.judge) {
        case .incomplete:
            return nil
        case .foreign:
            queueRest = nil
            return skipRubbish(because: error)
        case .sample:
            buffer.take(KM003CQueueSample.length)
            queueRest = rest.next
            return .frame(.km003c(KM003CMessage(queueRest: buffer.lastTaken, graphRate: rest.rate)))
        }
    }

    private mutating func skipRubbish(because error: CodecError) -> DecodeStep {
        let rubbish = buffer.withBytes { bytes in
            var offset = 1
            while offset < bytes.count, case .bad = framing.measure(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            {
                offset += 1
            }
            return offset
        }
        buffer.drop(rubbish)
        return .skipped(count: rubbish, because: error)
    }

    private static func checkError(_ message: KM003CMessage) -> CodecError? {
        if let offset = message.adc?.implausibleOffset { return .implausibleField(offset: offset) }
        guard !message.payloads.isEmpty else { return nil }
        let offset = message.payload(.queue)?.withUnsafeBytes {
            KM003CQueueSample.implausibleOffset(in: $0, rate: message.graphRate)
        }
        if let offset { return .implausibleField(offset: offset) }
        if let status = message.pdStatus, status.isCutShort { return .truncated(have: status.rest.count) }
        return message.payload(.settings)?.withUnsafeBytes(KM003CSettings.checkError)
    }
}
