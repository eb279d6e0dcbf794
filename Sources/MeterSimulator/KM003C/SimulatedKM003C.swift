import MeterCodec
package import MeterModel

/// A KM003C or KM002C on its serial interface (protocols.md sections 4 and 11): repeats each request's number, answers
/// only what a host without authentication may see, and fills a queue while the graph runs.
///
/// Memory reads are refused, and an authentication is answered by whether streaming is granted: what is encrypted in the
/// request is not looked at. A real meter fills the queue only for a host that authenticated; `grantsStreaming` stands
/// for that.
package struct SimulatedKM003C: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    /// Whether the queue may be asked for, as after authentication.
    package var grantsStreaming: Bool
    /// A host has connected and not disconnected.
    package private(set) var isConnected = false
    private let load: ElectricalLoad
    private let refresh: Duration
    private var queue: SimulatedKM003CQueue?
    private var received: [UInt8] = []
    private var lastStep = 0
    private var answers = 0

    /// - Parameter refresh: how often the measurements renew; half a second at the rate a meter starts with.
    package init(
        model: ModelName, load: ElectricalLoad = ElectricalLoad(), refresh: Duration = .milliseconds(500),
        grantsStreaming: Bool = false
    ) {
        self.model = model
        self.load = load
        self.refresh = max(refresh, .milliseconds(1))
        self.grantsStreaming = grantsStreaming
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        lastStep = max(lastStep, time.wholeSteps(of: refresh))
        queue?.fill(from: load, until: time)
        received += bytes
        var writes: [[UInt8]] = []
        while let request = takeRequest() {
            answers += 1
            // Measurements have no check sum: the header's kind is what a fault can make wrong.
            let whole = answer(request, at: time)
            if let answer = faults.apply(to: whole, number: answers, checkOffset: 0) { writes.append(answer) }
        }
        return writes
    }

    package mutating func due(at time: Duration) -> [[UInt8]] { [] }

    package var nextDue: Duration? { nil }

    package mutating func powerCycle() {
        isConnected = false
        queue = nil
        received = []
        lastStep = 0
    }

    private var stepLength: Double { Double(refresh.nanoseconds) / 1e9 }

    /// Takes one request: four bytes, and 32 more behind a memory read or an authentication. Bytes that begin none are
    /// dropped, so that a stray one does not shift all that follow.
    private mutating func takeRequest() -> KM003CHeader? {
        while received.count >= KM003CHeader.length {
            let header = KM003CHeader(word: received.withUnsafeBytes { $0.u32LE(0) })
            guard let length = Self.requestLength(header) else {
                received.removeFirst()
                continue
            }
            guard received.count >= length else { return nil }
            received.removeFirst(length)
            return header
        }
        return nil
    }

    /// How long the request is that such a header begins, nil when no host sends it (protocols.md 4.2, 4.3). Those that
    /// have no name in `KM003CKind` are requests too, and are refused.
    private static func requestLength(_ header: KM003CHeader) -> Int? {
        switch (header.kind, UInt8(truncatingIfNeeded: header.word)) {
        case (.memoryRead, _): header.rawWord == 0x0101 ? encryptedLength : nil
        case (.streamingAuth, _): header.rawWord == 0x0200 ? encryptedLength : nil
        case (_, 0x01...0x11): header.rawWord & 1 == 0 ? KM003CHeader.length : nil
        default: nil
        }
    }

    private static let encryptedLength = KM003CHeader.length + 32

    private mutating func answer(_ request: KM003CHeader, at time: Duration) -> [UInt8] {
        let accept = KM003CHeader(.accept, id: request.id).bytes
        switch request.kind {
        case .connect:
            isConnected = true
        case .disconnect:
            isConnected = false
        case .getData:
            return data(request.attributes, id: request.id, at: time)
        case .startGraph:
            guard let rate = KM003CRate(index: request.parameter) else { return reject(request) }
            queue = SimulatedKM003CQueue(rate: rate, start: time)
        case .stopGraph:
            queue = nil
        case .pdMonitorOn, .pdMonitorOff:
            break
        case .streamingAuth:
            return authentication()
        default:
            return reject(request)
        }
        return accept
    }

    /// 0203 grants level 1, 0201 nothing; the number is 0 (protocols.md 4.2, 4.7). What stands in the 32 encrypted bytes
    /// is not known: noise, as they look to whoever has not the key.
    private func authentication() -> [UInt8] {
        var noise = SimulatorNoise(seed: load.seed)
        return [KM003CKind.streamingAuth.rawValue, 0, grantsStreaming ? 0x03 : 0x01, 0x02] + noise.bytes(32)
    }

    private func reject(_ request: KM003CHeader) -> [UInt8] { KM003CHeader(.reject, id: request.id).bytes }

    /// Leaves out what the host may not see; nothing left is an answer without payloads.
    private mutating func data(_ asked: KM003CAttributes, id: UInt8, at time: Duration) -> [UInt8] {
        var allowed = KM003CAttributes.unauthenticated
        if grantsStreaming { allowed.formUnion(.queue) }
        let attributes = asked.intersection(allowed).singles
        var payloads: [UInt8] = []
        for (place, attribute) in attributes.enumerated() {
            let (bytes, chunk) = payload(attribute, at: time)
            let size = attribute == .queue ? KM003CQueueSample.length : bytes.count
            let hasNext = place < attributes.count - 1
            payloads += KM003CPayloadHeader(attribute, hasNext: hasNext, chunk: chunk, size: size).bytes + bytes
        }
        // The object count as real answers have it: words behind the header, less the payload's own.
        let count = attributes.isEmpty ? 0 : UInt16(clamping: payloads.count / 4 - 2)
        return KM003CHeader(.data, id: id, parameter: count << 5).bytes + payloads
    }

    private mutating func payload(_ attribute: KM003CAttributes, at time: Duration) -> (bytes: [UInt8], chunk: Int) {
        switch attribute {
        case .adc: return (measurements(), 0)
        case .settings: return (settings(), 0)
        case .pd: return (powerDelivery(at: time), 0)
        default:
            let samples = queue?.take() ?? []
            return (samples.flatMap { $0 }, samples.count)
        }
    }

    /// Renders the measurements as `KM003CADC` reads them, averaged over four steps.
    private func measurements() -> [UInt8] {
        let state = load.state(step: lastStep, length: stepLength)
        let recent = (max(0, lastStep - 3)...lastStep).map { load.state(step: $0, length: stepLength) }
        let averageVolts = recent.reduce(0) { $0 + $1.voltage } / Double(recent.count)
        let averageAmperes = recent.reduce(0) { $0 + $1.current } / Double(recent.count)
        var bytes: [UInt8] = []
        for value in [state.voltage, state.current, averageVolts, averageAmperes, averageVolts, averageAmperes] {
            bytes.appendLE(Int32(clamping: Int((value * 1e6).rounded())))
        }
        bytes.appendLE(UInt16(bitPattern: Int16(clamping: Int((state.temperature * 128).rounded()))))
        for value in [0.42, 0.001, state.dataPlus, state.dataMinus, 3.2358] {
            bytes.appendLE(UInt16(clamping: Int((value * 10_000).rounded())))
        }
        bytes += [KM003CRate.two.rawValue, 0x80]
        for value in [0.001, state.dataPlus, state.dataMinus] {
            bytes.appendLE(UInt16(clamping: Int((value * 1000).rounded())))
        }
        return bytes
    }

    /// The settings of a meter as it comes: brightness 44 %, a sample each 10 ms, first page.
    private func settings() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: KM003CSettings.length)
        func put(_ value: UInt32, at offset: Int) {
            for place in 0..<4 { bytes[offset + place] = UInt8(truncatingIfNeeded: value >> UInt32(8 * place)) }
        }
        put(1 | 44 << 3, at: 0)
        put(10_000, at: 8)
        put(3 | 1 << 6, at: 0x60)
        for (place, byte) in "POWER-Z".utf8.enumerated() { bytes[0x70 + place] = byte }
        for (range, offset) in KM003CSettings.checks { put(Checksum.crc32(bytes[range]), at: offset) }
        return bytes
    }

    /// The preamble alone: no USB PD traffic goes on.
    private func powerDelivery(at time: Duration) -> [UInt8] {
        let state = load.state(step: lastStep, length: stepLength)
        var bytes: [UInt8] = []
        bytes.appendLE(UInt32(truncatingIfNeeded: time.milliseconds))
        bytes.appendLE(UInt16(clamping: Int((state.voltage * 1000).rounded())))
        bytes.appendLE(UInt16(bitPattern: Int16(clamping: Int((state.current * 1000).rounded()))))
        bytes.appendLE(UInt16(420))
        bytes.appendLE(UInt16(1))
        return bytes
    }
}
