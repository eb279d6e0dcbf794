import Cryptography
package import Domain

/// Fetches a KM003C's device information, the catalogue of its logs, or one log (Docs/Protocols/KM003C.md#logs).
///
/// ```
///   connect ─▶ read hardware, firmware, serial ─▶ read hardware id ─▶ prove ─▶ list ─▶ read the log
///                                             └── .device ends here     .catalogue ──┘
/// ```
///
/// Each step is a request with its own ID, retried after a timeout. Its answer must repeat the ID, except in the
/// authentication ("prove"). The meter keeps measuring and loses no data.
package struct KM003CLogDownload: MeterTransfer {
    package struct Outcome: Hashable, Sendable {
        package var device = DeviceInfo()
        /// Empty unless requested.
        package var catalogue: [KM003CLogEntry] = []
        package var log: Log?
    }

    package struct Log: Hashable, Sendable {
        package var entry: KM003CLogEntry
        package var samples: [KM003CLogSample] = []
    }

    package let answerTimeout = Duration.seconds(2)
    package private(set) var progress = TransferProgress()
    private let wish: LogRequest
    /// Whether to end after authentication, over a link that is already connected.
    private let isAccessAlone: Bool
    private let attemptsMax: Int
    private let model: ModelName
    private var decoder = KM003CDecoder(side: .transfer)
    private var tasks: [Task] = []
    private var attempts = 0
    private var id: UInt8
    /// Received part of an announced memory answer.
    private var arriving: [UInt8]?
    /// Credentials for the authentication: the one in use, then those not tried yet.
    private var credentials: [[UInt8]] = []
    private var serialStart: [UInt8] = []
    private var outcome = Outcome()
    private var hasProved = false

    private enum Task: Hashable {
        case connect
        case read(KM003CMemory)
        case prove
        case list

        var description: String {
            switch self {
            case .connect: "a connection"
            case .read(.log): "a log"
            case .read(.hardwareID): "its hardware id"
            case .read: "its name"
            case .prove: "access to its logs"
            case .list: "its list of logs"
            }
        }
    }

    /// - Parameters:
    ///   - model: by its USB ID. Only a KM002C receives a second credential, which would request calibration on a
    ///     KM003C.
    ///   - lastID: ID of the last request on this link.
    package init(_ wish: LogRequest, model: ModelName = .km003c, after lastID: UInt8 = 0) {
        self.wish = wish
        self.model = model
        isAccessAlone = false
        attemptsMax = 3
        id = lastID
    }

    /// Creates a transfer that only authenticates, for access to the queue. The host must be connected.
    ///
    /// - Parameter lastID: ID of the last request on this link.
    init(accessTo model: ModelName, after lastID: UInt8, attempts: Int) {
        wish = .device
        isAccessAlone = true
        attemptsMax = attempts
        self.model = model
        id = lastID
    }

    var lastID: UInt8 { id }

    /// Whether the meter is a KM002C by its USB ID, and its device information does not name a KM003C.
    private var isKM002C: Bool { model == .km002c && outcome.device.model != .km003c }

    package mutating func start() -> TransferStep<Outcome> {
        guard tasks.isEmpty, attempts == 0 else { return .wait }
        guard !isAccessAlone else {
            // To authenticate, a KM003C needs only its hardware ID. A KM002C also needs the model, and the serial block
            // as a substitute.
            tasks = (model == .km002c ? [.read(.firmware), .read(.serial)] : []) + [.read(.hardwareID), .prove]
            return ask()
        }
        tasks = [.connect, .read(.hardware), .read(.firmware), .read(.serial)]
        if wish != .device { tasks += [.read(.hardwareID), .prove, .list] }
        return ask()
    }

    package mutating func receive(_ bytes: [UInt8]) -> TransferStep<Outcome> {
        guard !tasks.isEmpty else { return .wait }
        decoder.append(bytes)
        while let step = decoder.next() {
            guard case .frame(.km003c(let message)) = step else { continue }
            switch take(message) {
            case .wait: continue
            case let next: return next
            }
        }
        return .wait
    }

    package mutating func answerOverdue() -> TransferStep<Outcome> {
        guard !tasks.isEmpty else { return .wait }
        return askAgain(orFail: .silent(asked))
    }

    private var asked: String {
        isAccessAlone && tasks[0] == .prove ? "access to its queue" : tasks[0].description
    }

    // MARK: Asking

    private mutating func ask() -> TransferStep<Outcome> {
        attempts += 1
        arriving = nil
        // Never 0 (`KM003CFraming.isPlausible`).
        id = id == .max ? 1 : id + 1
        let bytes =
            switch tasks[0] {
            case .connect: KM003CHeader(.connect, id: id).bytes
            case .read(let place): place.request(id: id)
            case .prove: KM003CProof.request(id: id, hardwareID: credentials.first ?? [])
            case .list: KM003CHeader(.getData, id: id, parameter: KM003CAttributes.logCatalogue.rawValue).bytes
            }
        // Two authentication requests must be at least one second apart (jfessard/km003c-web).
        let pause: Duration = tasks[0] == .prove && hasProved ? .seconds(1) : KM003CMemory.pause
        if tasks[0] == .prove { hasProved = true }
        return .send([Outgoing([], pause: pause), Outgoing(bytes)])
    }

    private mutating func askAgain(orFail failure: TransferFailure) -> TransferStep<Outcome> {
        _ = decoder.reset()
        guard attempts < attemptsMax else { return fail(failure) }
        return ask()
    }

    private mutating func fail(_ failure: TransferFailure) -> TransferStep<Outcome> {
        tasks = []
        return .failed(failure)
    }

    private mutating func advance() -> TransferStep<Outcome> {
        if tasks.removeFirst() == .read(.hardwareID), isKM002C { credentials.append(serialStart) }
        attempts = 0
        guard tasks.isEmpty else { return ask() }
        attempts = 1
        return .finished(outcome)
    }

    // MARK: Answers

    private mutating func take(_ message: KM003CMessage) -> TransferStep<Outcome> {
        if case .memoryPiece = message.content { return takePiece() }
        switch (tasks[0], message.kind) {
        case (.read(.hardwareID), .reject), (.read(.hardwareID), .notReadable):
            guard isKM002C else { return message.id == id ? fail(.refused(asked)) : .wait }
            // A KM002C does not reveal the hardware ID and accepts its serial block instead.
            return message.id == id ? advance() : .wait
        case (_, .reject), (_, .notReadable):
            return message.id == id ? fail(.refused(asked)) : .wait
        case (.connect, .accept):
            return message.id == id ? advance() : .wait
        case (.read(let place), .memoryAnswer):
            // Ignore parts of an answer to an earlier attempt.
            let isOurs = message.id == id && message.memoryRange == place.range
            arriving = isOurs ? [] : nil
            return .wait
        case (.prove, .streamingAuth):
            // This answer does not repeat the request's ID.
            if KM003CProof.level(rawWord: message.rawWord, model: model) > 0 { return advance() }
            return proveAgain()
        case (.list, .data):
            return message.id == id ? takeCatalogue(message) : .wait
        default:
            return .wait
        }
    }

    private mutating func proveAgain() -> TransferStep<Outcome> {
        guard credentials.count > 1 else { return fail(.refused(asked)) }
        credentials.removeFirst()
        attempts = 0
        return ask()
    }

    private mutating func takePiece() -> TransferStep<Outcome> {
        guard case .read(let place) = tasks[0], var cipher = arriving else { return .wait }
        cipher += decoder.frameBytes
        arriving = cipher
        if case .log = place { progress.done = min(cipher.count, Int(place.size)) }
        guard cipher.count >= place.range.encryptedLength else { return .wait }
        guard let plain = ECBCipher.km003cMemory.decrypted(cipher) else {
            return askAgain(orFail: .unreadable(asked))
        }
        return takeMemory(place, Array(plain.prefix(Int(place.size))))
    }

    private mutating func takeMemory(_ place: KM003CMemory, _ bytes: [UInt8]) -> TransferStep<Outcome> {
        switch place {
        case .hardware, .firmware, .serial:
            KM003CDeviceBlock.read(place, bytes, into: &outcome.device)
            if place == .serial { serialStart = Array(bytes.prefix(KM003CProof.hardwareIDLength)) }
        case .hardwareID:
            credentials = [bytes]
        case .log:
            let samples = KM003CLogSample.all(in: bytes)
            // Without a checksum, lost bytes show only as impossible samples.
            guard samples.allSatisfy(\.isPlausible) else {
                return askAgain(orFail: .unreadable(asked))
            }
            outcome.log?.samples = samples
        }
        return advance()
    }

    private mutating func takeCatalogue(_ message: KM003CMessage) -> TransferStep<Outcome> {
        guard let entries = message.logCatalogue else { return fail(.refused(asked)) }
        outcome.catalogue = entries
        guard case .log(let name) = wish else { return advance() }
        guard let entry = entries.first(where: { $0.name == name }) else {
            return fail(.missing("log called \(name)"))
        }
        outcome.log = Log(entry: entry)
        guard entry.sampleCount > 0 else { return advance() }
        guard let range = entry.range else { return fail(.unreadable("its list of logs")) }
        progress.total = Int(range.size)
        tasks.append(.read(.log(range)))
        return advance()
    }
}

extension KM003CMemory {
    fileprivate var range: KM003CMemoryRange { KM003CMemoryRange(address: address, size: size) }
}
