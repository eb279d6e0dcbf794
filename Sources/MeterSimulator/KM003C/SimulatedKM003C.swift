import Cryptography
package import Domain
import MeterCodec

/// A simulated KM003C or KM002C on its serial interface (Docs/Protocols/KM003C.md). Answers repeat the request's
/// number. A queue stores samples while the graph (the meter's own sampling) runs. Until it disconnects, a host that
/// proves to have the hardware id can also read queue and logs.
package struct SimulatedKM003C: SimulatedMeter {
    package let model: ModelName
    package var faults = SimulatorFaults.none
    /// Whether the host can read queue, trace and logs without authentication.
    package var grantsStreaming: Bool
    /// Whether a forbidden memory read has crashed the meter. Only `powerCycle` ends this.
    package private(set) var isCrashed = false
    package private(set) var isConnected = false
    /// Whether a host has authenticated for calibration, which this project must never do.
    package private(set) var isOpenForCalibration = false
    /// Whether the USB PD monitor is on. A KM002C reports USB PD only then.
    private var isMonitorOn = false
    private let load: ElectricalLoad
    private let refresh: Duration
    private var hasProof = false
    private let memory: SimulatedKM003CMemory
    private var power = SimulatedKM003CPower()
    private var queue: SimulatedKM003CQueue?
    private var received: [UInt8] = []
    private var lastStep = 0
    private var answers = 0

    /// - Parameter refresh: interval of measurements; half a second at a meter's initial rate.
    package init(
        model: ModelName, load: ElectricalLoad = ElectricalLoad(), refresh: Duration = .milliseconds(500),
        grantsStreaming: Bool = false
    ) {
        self.model = model
        self.load = load
        self.refresh = max(refresh, .milliseconds(1))
        self.grantsStreaming = grantsStreaming
        memory = SimulatedKM003CMemory(model: model, load: load)
    }

    package mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
        lastStep = max(lastStep, time.wholeSteps(of: refresh))
        queue?.fill(from: load, until: time)
        power.advance(to: time)
        received += bytes
        var writes: [[UInt8]] = []
        while let (request, body) = takeRequest() {
            guard !isCrashed else { continue }
            let (head, encrypted) = answer(request, body, at: time)
            guard !isCrashed else { continue }
            answers += 1
            // Measurements have no checksum, so the fault corrupts the kind in the header instead.
            guard let whole = faults.apply(to: head + encrypted, number: answers, checkOffset: 0) else { continue }
            // Memory contents follow their announcement in separate writes.
            let announcement = encrypted.isEmpty ? whole.count : min(head.count, whole.count)
            writes.append(Array(whole.prefix(announcement)))
            writes += Array(whole.dropFirst(announcement)).pieces(KM003CFraming.longestMemoryPiece)
        }
        return writes
    }

    package mutating func due(at time: Duration) -> [[UInt8]] { [] }

    package var nextDue: Duration? { nil }

    package mutating func powerCycle() {
        isConnected = false
        isCrashed = false
        hasProof = false
        isMonitorOn = false
        isOpenForCalibration = false
        power = SimulatedKM003CPower()
        queue = nil
        received = []
        lastStep = 0
    }

    private var stepLength: Double { Double(refresh.nanoseconds) / 1e9 }

    /// Returns one request: four bytes, and 32 more for a memory read or an authentication. Drops stray bytes, which
    /// would shift the following requests.
    private mutating func takeRequest() -> (KM003CHeader, body: [UInt8])? {
        while received.count >= KM003CHeader.length {
            let header = KM003CHeader(word: received.withUnsafeBytes { $0.u32LE(0) })
            guard let length = Self.requestLength(header) else {
                received.removeFirst()
                continue
            }
            guard received.count >= length else { return nil }
            let body = Array(received[KM003CHeader.length..<length])
            received.removeFirst(length)
            return (header, body)
        }
        return nil
    }

    /// Returns the length of the request with this header; nil for a header that no host sends
    /// (Docs/Protocols/KM003C.md#where-a-message-ends and Docs/Protocols/KM003C.md#link). The simulator refuses valid
    /// requests without a name in `KM003CKind`.
    private static func requestLength(_ header: KM003CHeader) -> Int? {
        switch (header.kind, UInt8(truncatingIfNeeded: header.word)) {
        case (.memoryRead, _): header.rawWord == 0x0101 ? encryptedLength : nil
        case (.streamingAuth, _): header.rawWord == 0x0200 ? encryptedLength : nil
        case (_, 0x01...0x11): header.rawWord & 1 == 0 ? KM003CHeader.length : nil
        default: nil
        }
    }

    private static let encryptedLength = KM003CHeader.length + 32

    private mutating func answer(
        _ request: KM003CHeader, _ body: [UInt8], at time: Duration
    ) -> (head: [UInt8], encrypted: [UInt8]) {
        guard request.kind == .memoryRead else { return (answer(request, body, at: time), []) }
        guard let plain = ECBCipher.km003cMemory.decrypted(body), case let asked = Array(plain.prefix(16)),
            case let (address, size) = asked.withUnsafeBytes({ ($0.u32LE(0), $0.u32LE(4)) }),
            asked == KM003CMemory.range(address: address, size: size)
        else { return (reject(request), []) }
        if model == .km002c, address == KM003CMemory.hardwareID.address {
            return (KM003CHeader(.notReadable, id: request.id).bytes, [])
        }
        guard case .bytes(let bytes) = memory.read(address: address, size: size) else {
            isCrashed = true
            return ([], [])
        }
        let padding = [UInt8](repeating: 0, count: (16 - bytes.count % 16) % 16)
        let head = [KM003CKind.memoryAnswer.rawValue, request.id, 0x01, 0x01] + asked
        return (head, ECBCipher.km003cMemory.encrypt(bytes + padding) ?? [])
    }

    private mutating func answer(_ request: KM003CHeader, _ body: [UInt8], at time: Duration) -> [UInt8] {
        let accept = KM003CHeader(.accept, id: request.id).bytes
        switch request.kind {
        case .connect:
            isConnected = true
            hasProof = false
        case .disconnect:
            isConnected = false
            hasProof = false
        case .getData:
            return data(request.attributes, id: request.id, at: time)
        case .startGraph:
            guard let rate = KM003CRate(index: request.parameter) else { return reject(request) }
            queue = SimulatedKM003CQueue(rate: rate, start: time)
        case .stopGraph:
            // A captured KM003C accepts `stopGraph` while no graph runs; a KM002C refuses it (jfessard/km003c-web).
            guard queue != nil || model != .km002c else { return reject(request) }
            queue = nil
        case .pdMonitorOn:
            isMonitorOn = true
        case .pdMonitorOff:
            isMonitorOn = false
        case .streamingAuth:
            return authentication(body)
        default:
            return reject(request)
        }
        return accept
    }

    /// Answers a host's proof of the hardware id. The answer has number 0 and repeats the host's bytes, encrypted with
    /// another key (Docs/Protocols/KM003C.md#where-a-message-ends, Docs/Protocols/KM003C.md#logs, and a captured
    /// answer). 0203 grants level 1 and 0201 refuses; on a KM002C these are 0204 and 0202. The hardware id of a KM002C
    /// opens a KM003C's second level, 0205 (okhsunrog/km003c-rs).
    private mutating func authentication(_ body: [UInt8]) -> [UInt8] {
        let plain = ECBCipher.km003cProof.decrypted(body) ?? []
        let credential = Array(plain.dropFirst(8).prefix(KM003CProof.hardwareIDLength))
        let word: UInt8
        if model == .km002c {
            hasProof = credential == memory.serialStart
            word = hasProof || grantsStreaming ? 0x04 : 0x02
        } else {
            isOpenForCalibration = credential == memory.serialStart
            hasProof = isOpenForCalibration || credential == SimulatedKM003CMemory.hardwareID
            word = isOpenForCalibration ? 0x05 : hasProof || grantsStreaming ? 0x03 : 0x01
        }
        return [KM003CKind.streamingAuth.rawValue, 0, word, 0x02] + (ECBCipher.km003cGrant.encrypt(plain) ?? [])
    }

    private func reject(_ request: KM003CHeader) -> [UInt8] { KM003CHeader(.reject, id: request.id).bytes }

    /// Answers a request for data. Omits payloads that the host may not read, even if the answer is then empty.
    private mutating func data(_ asked: KM003CAttributes, id: UInt8, at time: Duration) -> [UInt8] {
        var allowed = KM003CAttributes.unauthenticated
        if model == .km002c, !isMonitorOn { allowed.remove(.pd) }
        if grantsStreaming || hasProof { allowed.formUnion([.queue, .pdTrace, .logCatalogue]) }
        let attributes = asked.intersection(allowed).singles
        var payloads: [UInt8] = []
        for (place, attribute) in attributes.enumerated() {
            let (bytes, chunk) = payload(attribute, at: time)
            let size =
                switch attribute {
                case .queue: KM003CQueueSample.length
                // The trace contains the lengths of its lists, so the size in the payload header is 0.
                case .pdTrace: 0
                default: bytes.count
                }
            let hasNext = place < attributes.count - 1
            payloads += KM003CPayloadHeader(attribute, hasNext: hasNext, chunk: chunk, size: size).bytes + bytes
        }
        // As in captured answers, the object count is two less than the number of words after the header.
        let count = attributes.isEmpty ? 0 : UInt16(clamping: payloads.count / 4 - 2)
        return KM003CHeader(.data, id: id, parameter: count << 5).bytes + payloads
    }

    private mutating func payload(_ attribute: KM003CAttributes, at time: Duration) -> (bytes: [UInt8], chunk: Int) {
        switch attribute {
        case .adc: return (measurements(), 0)
        case .settings: return (settings(), 0)
        case .pd: return (powerDelivery(at: time), 0)
        case .pdTrace: return (power.trace, 0)
        case .logCatalogue: return (memory.catalogue, 0)
        default:
            let samples = queue?.take()
            return (samples?.bytes ?? [], samples?.count ?? 0)
        }
    }

    private func state(step: Int) -> ElectricalLoad.State {
        SimulatedKM003CPower.supply(at: refresh * step).feeding(load.state(step: step, length: stepLength))
    }

    private func measurements() -> [UInt8] {
        let state = state(step: lastStep)
        let recent = (max(0, lastStep - 3)...lastStep).map { self.state(step: $0) }
        let averageVolts = recent.reduce(0) { $0 + $1.voltage } / Double(recent.count)
        let averageAmperes = recent.reduce(0) { $0 + $1.current } / Double(recent.count)
        let (cc1, cc2) = SimulatedKM003CPower.supply(at: refresh * lastStep).cc_mV
        var bytes: [UInt8] = []
        for value in [state.voltage, state.current, averageVolts, averageAmperes, averageVolts, averageAmperes] {
            bytes.appendLE(Int32(clamping: Int((value * 1e6).rounded())))
        }
        bytes.appendLE(UInt16(bitPattern: Int16(clamping: Int((state.temperature * 128).rounded()))))
        for value in [Double(cc1) / 1000, Double(cc2) / 1000, state.dataPlus, state.dataMinus, 3.2358] {
            bytes.appendLE(UInt16(clamping: Int((value * 10_000).rounded())))
        }
        bytes += [KM003CRate.two.rawValue, 0x80]
        bytes.appendLE(UInt16(clamping: cc2))
        for value in [state.dataPlus, state.dataMinus] {
            bytes.appendLE(UInt16(clamping: Int((value * 1000).rounded())))
        }
        return bytes
    }

    /// Returns settings of a new meter: brightness 44 %, a sample every 10 ms, first page.
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

    private mutating func powerDelivery(at time: Duration) -> [UInt8] {
        let state = state(step: lastStep)
        let (cc1, cc2) = SimulatedKM003CPower.supply(at: time).cc_mV
        var bytes: [UInt8] = []
        bytes.appendLE(UInt32(truncatingIfNeeded: time.milliseconds))
        bytes.appendLE(UInt16(clamping: Int((state.voltage * 1000).rounded())))
        bytes.appendLE(UInt16(bitPattern: Int16(clamping: Int((state.current * 1000).rounded()))))
        bytes.appendLE(UInt16(clamping: cc1))
        bytes.appendLE(UInt16(clamping: cc2))
        return bytes + power.take()
    }
}
