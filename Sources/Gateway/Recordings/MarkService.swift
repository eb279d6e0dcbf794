package import Domain
import GatewayAPI
import Synchronization

package struct MarkEntry: Hashable, Sendable {
    package var mark: Mark
    /// Current id of the mark's meter.
    package var meter: MeterID
    package var isLocal: Bool
    /// As reported by the host that made the mark; nil if unknown.
    package var hostName: String?
}

/// Keeps marks. Shared marks are records that any host may change; local marks exist only in this host's store.
package actor MarkService: MeterKeeping {
    package struct Order: Sendable {
        package var name: String
        /// Nil means now.
        package var start: WallTime?
        /// Nil for a moment and for an open span.
        package var end: WallTime?
        package var isOpen: Bool
        package var isLocal: Bool

        package init(
            name: String, start: WallTime? = nil, end: WallTime? = nil, isOpen: Bool = false, isLocal: Bool = false
        ) {
            self.name = name
            self.start = start
            self.end = end
            self.isOpen = isOpen
            self.isLocal = isLocal
        }
    }

    package enum End: Hashable, Sendable {
        case now
        case at(WallTime)
    }

    /// Maximum number of shared marks per meter. More are refused, because deleted ones cost every host a tombstone.
    /// Also the maximum number of local marks, beyond which the oldest is deleted.
    package static let marksMax = 1000
    /// Earliest plausible current date: this program did not exist before.
    private static let earliestNow = WallTime(millisecondsSince1970: 1_577_836_800_000)
    /// Maximum time by which the system clock may lag behind stored data, or a mark may be ahead of the clock.
    private static let tolerance = Duration.seconds(86_400)

    private static let newsMax = 64

    private nonisolated let news = Mutex<[MarkEntry]>([])

    private let host: HostID
    private let settings: SettingsService
    private let repository: any MarkRepository
    private let wallNow: @Sendable () -> WallTime
    private let believed: @Sendable () async -> WallTime?
    private let formerIDs: @Sendable () async throws -> [MeterID: MeterID]
    private var former: [MeterID: MeterID]?
    private var isWriting = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter formerIDs: returns the current ids of this host's meters, by former id.
    package init(
        host: HostID, settings: SettingsService, repository: any MarkRepository,
        wallNow: @escaping @Sendable () -> WallTime, believed: @escaping @Sendable () async -> WallTime? = { nil },
        formerIDs: @escaping @Sendable () async throws -> [MeterID: MeterID] = { [:] }
    ) {
        self.host = host
        self.settings = settings
        self.repository = repository
        self.wallNow = wallNow
        self.believed = believed
        self.formerIDs = formerIDs
    }

    // MARK: Reading

    /// Returns the marks that overlap a time span, sorted by start.
    ///
    /// - Parameter meters: ids of one meter; nil for all meters.
    package func marks(of meters: [MeterID]? = nil, in span: Range<WallTime>? = nil) async throws(GatewayError)
        -> [MarkEntry]
    {
        let former = try await knownFormerIDs()
        let shared = try await settings.sharedMarks()
        let names = try await settings.hostNames()
        let own = try await GatewayError.doing("reading the marks") { try await repository.localMarks() }
        func entries(_ marks: [Mark], isLocal: Bool) -> [MarkEntry] {
            marks.compactMap { mark in
                let meter = mark.id.host == host ? former[mark.id.meter] ?? mark.id.meter : mark.id.meter
                guard meters?.contains(meter) ?? true, span.map({ mark.touches($0) }) ?? true else { return nil }
                return MarkEntry(mark: mark, meter: meter, isLocal: isLocal, hostName: names[mark.id.host])
            }
        }
        return (entries(shared, isLocal: false) + entries(own, isLocal: true)).sorted { $0.mark < $1.mark }
    }

    private func mark(_ reference: String) async throws(GatewayError) -> MarkEntry {
        let wanted = reference.lowercased()
        let all = try await marks()
        let exact = all.filter { $0.mark.id.short == wanted }
        let found = exact.isEmpty && !wanted.isEmpty ? all.filter { $0.mark.id.short.hasPrefix(wanted) } : exact
        guard found.count <= 1 else {
            let some = found.prefix(8).map { "\($0.mark.id.short) (\($0.mark.name))" }
            throw GatewayError(
                .badRequest, "\"\(reference)\" may mean \(some.joined(separator: ", "))", next: "type more of the id")
        }
        guard let entry = found.first else {
            throw GatewayError(
                .notFound, "no mark has the id \"\(reference.visible)\"",
                next: "meterctl mark list METER shows them")
        }
        return entry
    }

    private func knownFormerIDs() async throws(GatewayError) -> [MeterID: MeterID] {
        if let former { return former }
        let read = try await GatewayError.doing("reading the marks") { try await formerIDs() }
        former = read
        return read
    }

    /// Returns and clears the last `newsMax` shared marks made or changed on this host.
    package nonisolated func takeNews() -> [MarkEntry] {
        news.withLock { news in
            defer { news = [] }
            return news
        }
    }

    // MARK: Writing

    /// Serialises writes, because each depends on the stored marks.
    private func inTurn<Value: Sendable>(
        _ body: () async throws(GatewayError) -> Value
    ) async throws(GatewayError) -> Value {
        while isWriting { await withCheckedContinuation { waiting.append($0) } }
        isWriting = true
        defer {
            isWriting = false
            if !waiting.isEmpty { waiting.removeFirst().resume() }
        }
        return try await body()
    }

    /// Marks a moment, or begins a span.
    ///
    /// - Throws: `badRequest` for an invalid name or time; `refused` for too many marks or a wrong system clock.
    package func add(_ order: Order, of meter: MeterID) async throws(GatewayError) -> MarkEntry {
        let name = try Self.name(order.name)
        let now = try await now(isNeeded: order.start == nil)
        let start = order.start ?? now
        try check(start, now)
        if let end = order.end { try check(end: end, after: start, isOpen: order.isOpen, now) }
        return try await inTurn { () throws(GatewayError) in
            let all = try await marks()
            guard order.isLocal || all.count(where: { $0.meter == meter && !$0.isLocal }) < Self.marksMax else {
                throw GatewayError(
                    .refused, "\(meter) has \(Self.marksMax) shared marks, the maximum",
                    next: "delete some with meterctl mark delete, or mark with --local")
            }
            let taken = Set(all.map(\.mark.id.short))
            var id = RecordingID(host: host, meter: meter, token: 0, started: start)
            while taken.contains(id.short) { id.token += 1 }
            let mark = Mark(id: id, name: name, end: order.isOpen ? nil : order.end ?? start)
            let entry = MarkEntry(
                mark: mark, meter: meter, isLocal: order.isLocal, hostName: try await settings.hostNames()[host])
            try await write(entry)
            return entry
        }
    }

    /// Renames a mark or ends an open span. Allowed on every host. Nil leaves a value unchanged.
    ///
    /// - Throws: `badRequest`, `notFound`; `refused` if the mark already has an end.
    package func change(
        _ reference: String, name: String? = nil, end: End? = nil
    ) async throws(GatewayError) -> MarkEntry {
        try await inTurn { () throws(GatewayError) in
            var entry = try await mark(reference)
            if let name { entry.mark.name = try Self.name(name) }
            if let end {
                guard entry.mark.end == nil else {
                    throw GatewayError(
                        .refused, "\"\(entry.mark.name)\" is not an open span",
                        next: "meterctl mark start begins another")
                }
                let now = try await now(isNeeded: end == .now)
                let time = if case .at(let time) = end { time } else { max(now, entry.mark.start) }
                try check(end: time, after: entry.mark.start, isOpen: false, now)
                entry.mark.end = time
            }
            try await write(entry)
            return entry
        }
    }

    /// Deletes a mark; a shared one is deleted on every host. Allowed on every host.
    package func delete(_ reference: String) async throws(GatewayError) -> MarkEntry {
        try await inTurn { () throws(GatewayError) in
            let entry = try await mark(reference)
            let id = entry.mark.id
            guard entry.isLocal else {
                try await settings.delete(id.markKey, doing: "deleting the mark \(id.short)")
                return entry
            }
            try await GatewayError.doing("deleting the mark \(id.short)") { try await repository.deleteLocal([id]) }
            return entry
        }
    }

    /// Deletes local marks, if the readings are deleted too. Keeps shared marks.
    package func forget(_ meter: MeterID, readings isDropped: Bool) async throws -> Int {
        guard isDropped else { return 0 }
        try await inTurn { () throws(GatewayError) in
            let ids = try await marks(of: [meter]).filter(\.isLocal).map(\.mark.id)
            try await GatewayError.doing("deleting the marks of \(meter)") { try await repository.deleteLocal(ids) }
        }
        return 0
    }

    private func write(_ entry: MarkEntry) async throws(GatewayError) {
        let (mark, what) = (entry.mark, "writing the mark \(entry.mark.id.short)")
        guard entry.isLocal else {
            try await settings.put(mark.properties, in: mark.id.markKey, doing: what)
            news.withLock { $0 = ($0 + [entry]).suffix(Self.newsMax) }
            return
        }
        try await GatewayError.doing(what) { try await repository.keepLocal(mark, countMax: Self.marksMax) }
    }

    // MARK: What is legal

    private static func name(_ text: String) throws(GatewayError) -> String {
        let name = Mark.cleaned(text)
        guard Mark.isName(name) else {
            throw GatewayError(
                .badRequest, "a mark cannot be called \"\(name)\"", next: "a name has 1 to \(Mark.nameMax) characters")
        }
        return name
    }

    /// - Throws: `refused` if the system clock is needed and wrong: a machine without a clock battery starts in 1970.
    private func now(isNeeded: Bool) async throws(GatewayError) -> WallTime {
        let now = wallNow()
        guard isNeeded else { return now }
        let stored = await believed() ?? Self.earliestNow
        guard now >= Self.earliestNow, now + Self.tolerance >= stored else {
            throw GatewayError(
                .refused, "this host's clock is wrong: it says \(now)",
                next: "set the clock, or give the time of the mark with --at")
        }
        return now
    }

    private func check(_ time: WallTime, _ now: WallTime) throws(GatewayError) {
        // While the system clock is wrong, only times before 1970 can be rejected.
        guard time.millisecondsSince1970 > 0, now < Self.earliestNow || time <= now + Self.tolerance else {
            throw GatewayError(
                .badRequest, "a mark cannot be at \(time): the clock says \(now)",
                next: "give a time from 1970 until now")
        }
    }

    private func check(
        end: WallTime, after start: WallTime, isOpen: Bool, _ now: WallTime
    ) throws(GatewayError) {
        try check(end, now)
        guard !isOpen, start <= end else {
            throw GatewayError(
                .badRequest,
                isOpen ? "an open span has no end" : "the end \(end) is before the start of the span, \(start)",
                next: isOpen ? "give either end or open" : "give a later end")
        }
    }
}

extension RecordingID {
    fileprivate var markKey: RecordKey { RecordKey(type: .mark, name: recordName) }
}
