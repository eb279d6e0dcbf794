/// One message to or from a KM003C or KM002C.
///
/// Measurements, which are most of the traffic, are stored inside the value; every other payload is an array.
package struct KM003CMessage: Sendable {
    package enum Content: Sendable {
        case message(KM003CKind)
        /// An encrypted piece of a memory answer; the decoder's `frameBytes` contains its bytes.
        case memoryPiece(length: Int)
        /// A sample that follows the previous message's queue, beyond the count in the queue's header.
        case queueRest
    }

    package let content: Content
    /// ID of this request, or of the request that this message answers; 0 for a memory piece.
    package let id: UInt8
    /// Parameter of the message, whose meaning depends on the kind (`KM003CHeader`).
    package let parameter: UInt16
    /// Upper half of the header, unparsed; 0 without a header.
    package let rawWord: UInt16
    package private(set) var adc: KM003CADC?
    /// All payloads except the measurements, in order of arrival. If a measurement payload is longer than its known
    /// fields, the additional bytes are stored here.
    package private(set) var payloads: [KM003CPayload]
    package let memoryRange: KM003CMemoryRange?
    package let graphRate: KM003CRate?
    /// Contract between the source and sink at the meter's two ends, if known. Only in a message with a PD status.
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

    /// - Parameter raw: exactly one message, measured by `KM003CFraming`, which also found `kind`.
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
        // Fast path, because nearly all messages contain only the measurements.
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

    /// The message split in two: its measurements, which may wait for confirmation, and everything else.
    var parts: (measurements: KM003CMessage, rest: KM003CMessage) {
        var (measurements, rest) = (self, self)
        (measurements.payloads, measurements.contract, rest.adc) = ([], nil, nil)
        return (measurements, rest)
    }

    /// Kind of the message; nil for a message without a header.
    package var kind: KM003CKind? {
        if case .message(let kind) = content { kind } else { nil }
    }

    package func payload(_ attribute: KM003CAttributes) -> [UInt8]? {
        payloads.first { $0.attribute == attribute }?.bytes
    }

    /// Samples of the queue, oldest first.
    package var queueSamples: [KM003CQueueSample] {
        guard let queue = payload(.queue) else { return [] }
        return queue.withUnsafeBytes { raw in (0..<queueCount).map { KM003CQueueSample(raw, number: $0) } }
    }

    package var queueCount: Int { (payload(.queue)?.count ?? 0) / KM003CQueueSample.length }

    /// Returns one sample of the queue, where 0 is the oldest; nil beyond the last.
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

    /// Catalogue of the meter's logs, empty if the meter has no logs. Nil for any other message.
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
