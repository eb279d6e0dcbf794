import Cryptography
package import Domain

/// Reads what a KM003C says about itself, the catalogue of its logs, or one of them (Docs/Protocols/KM003C.md#logs).
///
/// ```
///   connect ─▶ read hardware, firmware, serial ─▶ read hardware id ─▶ prove ─▶ list ─▶ read the log
///                                             └── .device ends here     .catalogue ──┘
/// ```
///
/// Each step is a request with its own number, which is repeated if no answer comes, and only an answer with that
/// number counts. The meter keeps measuring meanwhile and forgets nothing.
package struct KM003CLogDownload: MeterTransfer {
    package struct Outcome: Hashable, Sendable {
        package var device = DeviceInfo()
        /// Empty unless it was requested.
        package var catalogue: [KM003CLogEntry] = []
        /// The requested log.
        package var log: Log?
    }

    /// A log and what is in it.
    package struct Log: Hashable, Sendable {
        package var entry: KM003CLogEntry
        package var samples: [KM003CLogSample] = []
    }

    package let answerTimeout = Duration.seconds(2)
    package private(set) var progress = TransferProgress()
    private let wish: LogRequest
    /// Whether it ends with the proof, over a link on which the host is connected already.
    private let isAccessAlone: Bool
    private let attemptsMax: Int
    private let model: ModelName
    private var decoder = KM003CDecoder(side: .transfer)
    /// The remaining tasks, the current one first; empty before the start and after the end.
    private var tasks: [Task] = []
    private var attempts = 0
    private var id: UInt8
    /// What has arrived so far of an answer that the meter has announced; nil if none is announced.
    private var arriving: [UInt8]?
    /// What a host may prove itself with, the current one first.
    private var credentials: [[UInt8]] = []
    /// The first twelve bytes of the serial number's block.
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
    ///   - model: by its USB id. A model other than a KM002C never sees a second credential: the one that opens a
    ///     KM002C's logs would ask a KM003C for permission to calibrate.
    ///   - lastID: the number of the last request on this link.
    package init(_ wish: LogRequest, model: ModelName = .km003c, after lastID: UInt8 = 0) {
        self.wish = wish
        self.model = model
        isAccessAlone = false
        attemptsMax = 3
        id = lastID
    }

    /// Proves itself and asks for nothing more, for whoever wants the queue.
    ///
    /// - Parameters:
    ///   - attempts: how often each request is made.
    ///   - lastID: the number of the last request on this link, on which the host is connected.
    init(accessTo model: ModelName, after lastID: UInt8, attempts: Int) {
        wish = .device
        isAccessAlone = true
        attemptsMax = attempts
        self.model = model
        id = lastID
    }

    /// The number of its last request.
    var lastID: UInt8 { id }

    /// Whether it is a KM002C: neither the USB id nor the meter's own name says otherwise.
    private var isKM002C: Bool { model == .km002c && outcome.device.model != .km003c }

    package mutating func start() -> TransferStep<Outcome> {
        guard tasks.isEmpty, attempts == 0 else { return .wait }
        guard !isAccessAlone else {
            // A KM003C is asked for no more than it takes; of a KM002C also who it says it is, and what it takes for its id.
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

    /// What the current task asks for, in words.
    private var asked: String {
        isAccessAlone && tasks[0] == .prove ? "access to its queue" : tasks[0].description
    }

    // MARK: Asking

    /// Sends the request of the current task.
    private mutating func ask() -> TransferStep<Outcome> {
        attempts += 1
        arriving = nil
        // Never 0; `KM003CFraming` says why.
        id = id == .max ? 1 : id + 1
        let bytes =
            switch tasks[0] {
            case .connect: KM003CHeader(.connect, id: id).bytes
            case .read(let place): place.request(id: id)
            case .prove: KM003CProof.request(id: id, hardwareID: credentials.first ?? [])
            case .list: KM003CHeader(.getData, id: id, parameter: KM003CAttributes.logCatalogue.rawValue).bytes
            }
        // There must be a second between two proofs (jfessard/km003c-web).
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

    /// Ends the current task and starts the next.
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
            // It does not reveal its hardware id, and takes the block of its serial number for it.
            return message.id == id ? advance() : .wait
        case (_, .reject), (_, .notReadable):
            return message.id == id ? fail(.refused(asked)) : .wait
        case (.connect, .accept):
            return message.id == id ? advance() : .wait
        case (.read(let place), .memoryAnswer):
            // Pieces of an answer to an earlier attempt do not count.
            let isOurs = message.id == id && message.memoryRange == place.range
            arriving = isOurs ? [] : nil
            return .wait
        case (.prove, .streamingAuth):
            // It does not repeat the number.
            if KM003CProof.level(rawWord: message.rawWord, model: model) > 0 { return advance() }
            return proveAgain()
        case (.list, .data):
            return message.id == id ? takeCatalogue(message) : .wait
        default:
            return .wait
        }
    }

    /// Tries the next credential, if there is one.
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
            // There is no checksum: lost bytes show only as impossible samples.
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
    /// The range that the meter repeats in its answer.
    fileprivate var range: KM003CMemoryRange { KM003CMemoryRange(address: address, size: size) }
}
