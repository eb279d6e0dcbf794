/// One message to or from a KM003C or KM002C.
///
/// Measurements, which are most of the traffic, are stored inline; every other payload is an array.
package struct KM003CMessage: Sendable {
    package enum Content: Sendable {
        case message(KM003CKind)
        /// An encrypted part of a memory answer, contained in `frameBytes`.
        case memoryPiece(length: Int)
        /// A sample beyond the count in the previous message's queue header.
        case queueRest
    }

    package let content: Content
    /// ID of the request that this message is or answers; 0 for a memory part.
    package let id: UInt8
    /// Parameter from the header; its meaning depends on the kind (`KM003CHeader`).
    package let parameter: UInt16
    /// Upper half of the header, unparsed; 0 without a header.
    package let rawWord: UInt16
    package private(set) var adc: KM003CADC?
    /// All payloads except the measurements, in order of arrival. Includes bytes after a measurement payload's known
    /// fields.
    package private(set) var payloads: [KM003CPayload]
    package let memoryRange: KM003CMemoryRange?
    package let graphRate: KM003CRate?
    /// USB PD contract between source and sink, if known. Only with a PD status.
    package internal(set) var contract: PDContract?

    package init(queueRest sample: [UInt8], graphRate: KM003CRate) {
        content = .queueRest
        id = 0
        parameter = 0
        rawWord = 0
        adc = nil
        payloads = [KM003CPayload(attribute: .queue, bytes: sample)]
        memoryRange = nil
        self.graphRate = graphRate
    }

    package init(memoryPiece length: Int) {
        content = .memoryPiece(length: length)
        id = 0
        parameter = 0
        rawWord = 0
        adc = nil
        payloads = []
        memoryRange = nil
        graphRate = nil
    }

    /// - Parameter raw: exactly one message, measured by `KM003CFraming`.
    package init(_ raw: UnsafeRawBufferPointer, kind: KM003CKind, graphRate: KM003CRate?) {
        let header = KM003CHeader(word: raw.u32LE(0))
        content = .message(kind)
        id = header.id
        parameter = kind == .data ? 0 : header.parameter
        rawWord = header.rawWord
        memoryRange = KM003CMemoryRange(in: raw, kind)
        self.graphRate = graphRate
        guard kind == .data, raw.count > KM003CHeader.length else {
            adc = nil
            payloads = []
            return
        }
        // Fast path: nearly all messages contain only the measurements.
        if raw.count == Self.adcAnswerLength, raw.u32LE(4) == Self.adcPayloadHeader {
            adc = KM003CADC(UnsafeRawBufferPointer(rebasing: raw[8...]))
            payloads = []
            return
        }
        (adc, payloads) = Self.parsePayloads(raw)
    }

    static let adcAnswerLength = 52
    private static let adcPayloadHeader = KM003CPayloadHeader(.adc, size: KM003CADC.length).word

    private static func parsePayloads(_ raw: UnsafeRawBufferPointer) -> (KM003CADC?, [KM003CPayload]) {
        var adc: KM003CADC?
        var payloads: [KM003CPayload] = []
        KM003CFraming.forEachPayload(in: raw) { header, range in
            let bytes = UnsafeRawBufferPointer(rebasing: raw[range])
            if header.attribute == .adc {
                adc = KM003CADC(bytes)
                let rest = bytes.dropFirst(KM003CADC.length)
                if !rest.isEmpty { payloads.append(KM003CPayload(attribute: .adc, bytes: Array(rest))) }
            } else {
                payloads.append(KM003CPayload(attribute: header.attribute, bytes: Array(bytes)))
            }
        }
        return (adc, payloads)
    }

    /// The measurements, which may be delayed until the next message confirms them, and all other payloads.
    var parts: (measurements: KM003CMessage, rest: KM003CMessage) {
        var (measurements, rest) = (self, self)
        (measurements.payloads, measurements.contract, rest.adc) = ([], nil, nil)
        return (measurements, rest)
    }

    /// Nil for a message without a header.
    package var kind: KM003CKind? {
        if case .message(let kind) = content { kind } else { nil }
    }

    package func payload(_ attribute: KM003CAttributes) -> [UInt8]? {
        payloads.first { $0.attribute == attribute }?.bytes
    }

    /// Oldest first.
    package var queueSamples: [KM003CQueueSample] {
        guard let queue = payload(.queue) else { return [] }
        return queue.withUnsafeBytes { raw in (0..<queueCount).map { KM003CQueueSample(raw, number: $0) } }
    }

    package var queueCount: Int { (payload(.queue)?.count ?? 0) / KM003CQueueSample.length }

    /// Returns sample `number`, from 0 for the oldest; nil beyond the last.
    func queueSample(_ number: Int) -> KM003CQueueSample? {
        guard (0..<queueCount).contains(number) else { return nil }
        return payload(.queue)?.withUnsafeBytes { KM003CQueueSample($0, number: number) }
    }

    package var settings: KM003CSettings? {
        payload(.settings).flatMap { $0.withUnsafeBytes { KM003CSettings($0) } }
    }

    package var pdStatus: KM003CPDStatus? {
        payload(.pd).flatMap { $0.withUnsafeBytes { KM003CPDStatus($0) } }
    }

    package var pdTrace: KM003CPDTrace? {
        payload(.pdTrace).flatMap { $0.withUnsafeBytes { KM003CPDTrace($0) } }
    }

    /// Empty if the meter has no logs. Nil for any other message.
    package var logCatalogue: [KM003CLogEntry]? {
        payload(.logCatalogue).map { $0.withUnsafeBytes { KM003CLogEntry.all(in: $0) } }
    }
}

/// A payload other than the measurements, as it arrived.
package struct KM003CPayload: Hashable, Sendable {
    package var attribute: KM003CAttributes
    package var bytes: [UInt8]

    package init(attribute: KM003CAttributes, bytes: [UInt8]) {
        self.attribute = attribute
        self.bytes = bytes
    }
}
