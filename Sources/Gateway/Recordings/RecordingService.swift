package import Domain
import GatewayAPI
package import Logging
import Synchronization

/// Begins and ends recordings, continues them after restarts, and publishes them to other hosts. Writes starts and ends
/// immediately, and running recordings every `saveInterval`. A power cut loses at most that time, which is marked as a
/// gap.
package final class RecordingService: MeterKeeping {
    private struct State {
        /// Latest unwritten versions of started or ended recordings.
        var unwritten: [RecordingID: Recording] = [:]
        /// Recordings to delete from `repository`: battery tests that got another id when they began, and announced
        /// results.
        var obsolete: Set<RecordingID> = []
        var formerIDs: [MeterID: MeterID] = [:]
    }

    private let state = Mutex(State())
    package let host: HostID
    private let meters: Meters
    private let repository: any RecordingRepository
    private let imports: (any ImportRepository)?
    private let settings: SettingsService
    private let loop: any SessionLoop
    private let saveInterval: Duration
    private let logger: Logger
    private let teller = Mutex<Teller?>(nil)
    private let wake: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    private static let retryInterval = Duration.seconds(5)

    package init(
        host: HostID, meters: Meters, repository: any RecordingRepository, imports: (any ImportRepository)? = nil,
        settings: SettingsService, loop: any SessionLoop,
        saveInterval: Duration = .seconds(60),
        logger: Logger
    ) {
        self.host = host
        self.meters = meters
        self.repository = repository
        self.imports = imports
        self.settings = settings
        self.loop = loop
        self.saveInterval = saveInterval
        self.logger = logger
        (wake, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package typealias Teller =
        @Sendable (_ test: Recording, _ meter: MeterID, _ over: @escaping @Sendable () -> Void) -> Void

    package func tellResults(by teller: @escaping Teller) { self.teller.withLock { $0 = teller } }

    /// Call once, before any meter's session starts.
    ///
    /// - Parameter former: current ids of this host's meters, by former id.
    package func restore(former: [MeterID: MeterID] = [:]) async throws {
        state.withLock { $0.formerIDs = former }
        let running = try await repository.runningRecordings().filter { $0.id.host == host }
        guard !running.isEmpty else { return }
        let ended = Set(try await settings.recordings().filter { $0.end != nil }.map(\.id))
        let mainIDs = mainIDs(try await settings.aliases())
        for recording in running {
            if recording.isToBeTold {
                tell(recording)
                continue
            }
            // If the recording has ended, meterd was killed before it deleted the local copy.
            guard !ended.contains(recording.id), recording.end == nil else {
                try await repository.forget(recording.id)
                continue
            }
            let meter = mainIDs[recording.id.meter] ?? recording.id.meter
            // If meterd was killed while it wrote a start, both the waiting and the running test are stored, in this
            // order.
            if let former = present(meter)?.recording, former.isWaiting { try await repository.forget(former.id) }
            resume(recording, of: meter, isRestart: true)
            logger.notice(
                "recording resumed",
                metadata: ["meter.id": "\(recording.id.meter)", "recording": "\(recording.id.short)"])
        }
    }

    /// Returns the meter's track, which outlives the session during a recording.
    package func track(for meter: MeterID) -> RecordingTrack { meters.take(meter) { newTrack(of: meter) } }

    private func newTrack(of meter: MeterID) -> RecordingTrack {
        RecordingTrack(RecordingMachine(host: host, meter: meter, rules: RecordingRules())) { [weak self] in
            self?.changed($0, waitedAs: $1)
            self?.log($0)
            self?.meters.dropUnneeded(meter)
        }
    }

    private func resume(_ recording: Recording, of meter: MeterID, isRestart: Bool) {
        meters.use(meter) {
            newTrack(of: meter)
        } _: {
            $0.resume(recording, isRestart: isRestart)
        }
    }

    private func mainIDs(_ aliases: [MeterID: MeterID]) -> [MeterID: MeterID] {
        state.withLock { AliasMap.mainIDs(former: $0.formerIDs, aliases: aliases) }
    }

    private func changed(_ recording: Recording, waitedAs waited: RecordingID? = nil) {
        state.withLock { state in
            state.unwritten[recording.id] = recording
            if let waited {
                state.unwritten[waited] = nil
                state.obsolete.insert(waited)
            }
        }
        wakeUp.yield()
    }

    private func log(_ recording: Recording) {
        logger.info(
            recording.end == nil ? "recording started" : "recording ended",
            metadata: [
                "meter.id": "\(recording.id.meter)", "recording": "\(recording.id.short)",
                "cause": "\(recording.end.map(\.rawValue) ?? recording.trigger.rawValue)",
            ])
    }

    // MARK: Running

    package func run() async {
        let saving = FlushTimer(loop: loop, wakeUp: wakeUp)
        saving.start(every: saveInterval) { [weak self] in self.map { !$0.tracks.isEmpty } ?? false }
        for await _ in wake {
            let isDue = saving.isDue()
            if isDue { for track in tracks { track.woke(at: loop.wallNow, loop.now) } }
            if await !write(saving: isDue) { saving.retry(after: Self.retryInterval) }
        }
        saving.stop()
        _ = await write(saving: true)
    }

    package func finish() { wakeUp.finish() }

    private var tracks: [RecordingTrack] { meters.parts() }

    /// - Returns: false if the store failed.
    private func write(saving isDue: Bool) async -> Bool {
        do {
            for recording in state.withLock({ Array($0.unwritten.values) }) { try await write(recording) }
            for id in state.withLock({ $0.obsolete }) {
                try await repository.forget(id)
                state.withLock { _ = $0.obsolete.remove(id) }
            }
            let running = tracks.compactMap(\.recording)
            if isDue, !running.isEmpty { try await repository.keep(running) }
            return true
        } catch {
            logger.error("recordings not written: retrying", metadata: ["cause": "\(error)"])
            return false
        }
    }

    /// Stores and publishes a recording: a running one is first stored, an ended one first published.
    private func write(_ recording: Recording) async throws {
        if recording.end == nil { try await repository.keep([recording]) }
        if !recording.isWaiting { try await settings.publish(recording) }
        if recording.isToBeTold {
            try await repository.keep([recording])
            tell(recording)
        } else if recording.end != nil {
            try await repository.forget(recording.id)
        }
        state.withLock { state in
            // Keep the entry if the recording changed during the write.
            if state.unwritten[recording.id] == recording { state.unwritten[recording.id] = nil }
        }
    }

    /// Announces a result, then deletes the stored test.
    private func tell(_ recording: Recording) {
        guard let teller = teller.withLock({ $0 }) else { return }
        let meter = state.withLock { $0.formerIDs[recording.id.meter] } ?? recording.id.meter
        teller(recording, meter) { [weak self] in
            guard let self else { return }
            state.withLock { _ = $0.obsolete.insert(recording.id) }
            wakeUp.yield()
        }
    }

    // MARK: What people ask for

    /// Begins to record a meter, connected or not.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 printable characters, or nil.
    ///   - test: makes the recording a battery test, which may wait for its start.
    /// - Throws: `refused` if the meter is being recorded; `badRequest` for an invalid name.
    package func start(
        _ meter: MeterID, name: String?, test: BatteryTest? = nil
    ) async throws(GatewayError) -> Recording {
        try Self.check(name: name)
        let (started, present) = meters.use(meter) {
            newTrack(of: meter)
        } _: { track in
            (track.start(name: name, test: test, at: loop.wallNow, loop.now), track.recording)
        }
        guard let recording = started else {
            let what = present?.isWaiting == true ? "a battery test waits for \(meter)" : "\(meter) is recorded already"
            throw GatewayError(
                .refused, "\(what)\(present.map { ", since \($0.started)" } ?? "")",
                next: "meterctl record stop \(meter) ends it")
        }
        log(recording)
        try await writeNow(recording, "the recording started but is not stored yet, and a restart would lose it")
        return recording
    }

    /// - Throws: `refused` if the meter is not being recorded.
    package func stop(_ meter: MeterID) async throws(GatewayError) -> Recording {
        guard let recording = present(meter)?.stop(at: loop.wallNow, loop.now) else {
            throw GatewayError(
                .refused, "\(meter) is not being recorded", next: "meterctl record start \(meter) begins it")
        }
        meters.dropUnneeded(meter)
        log(recording)
        try await writeNow(recording, "the recording ended but is not stored yet; meterd retries")
        return recording
    }

    // MARK: Loads of battery tests

    func isRunning(_ id: RecordingID, of meter: MeterID) -> Bool { present(meter)?.recording?.id == id }

    func endTest(_ id: RecordingID, of meter: MeterID, _ end: Recording.End) { present(meter)?.loadEnded(id, end) }

    /// Stores a load's phase, during the test or afterwards.
    func drove(_ id: RecordingID, of meter: MeterID, _ phase: LoadDrive.Phase, problem: String?) async {
        do {
            if isRunning(id, of: meter) {
                guard let running = present(meter)?.drove(id, phase, problem: problem) else { return }
                return try await write(running)
            }
            guard var ended = try await recordings(of: meter).first(where: { $0.recording.id == id })?.recording,
                let load = ended.test?.load, load.phase != phase || load.problem != problem
            else { return }
            ended.test?.load = LoadSnapshot(load.plan, phase: phase, problem: problem)
            state.withLock { state in
                if state.unwritten[id] != nil { state.unwritten[id] = ended }
            }
            try await settings.publish(ended)
        } catch {
            logger.error(
                "state of electronic load not written",
                metadata: ["meter.id": "\(meter)", "phase": "\(phase.rawValue)", "cause": "\(error)"])
        }
    }

    /// Publishes a finished recording made from stored readings.
    ///
    /// - Throws: `badRequest` for an invalid name; `refused` if another recording begins at the same moment.
    package func keep(_ recording: Recording) async throws(GatewayError) -> RecordingEntry {
        try Self.check(name: recording.name)
        guard try await !recordings().contains(where: { $0.recording.id == recording.id }) else {
            throw GatewayError(
                .refused, "recording \(recording.id.short) begins at the same moment, \(recording.started)",
                next: "delete that recording first, or begin at another reading")
        }
        try await settings.publish(recording)
        logger.info(
            "recording made from stored readings",
            metadata: ["meter.id": "\(recording.id.meter)", "recording": "\(recording.id.short)"])
        return try await self.recording(recording.id.recordName)
    }

    /// Returns a recording's list entry. Also accepts a battery test that was cancelled while it waited, which is not
    /// listed.
    package func entry(of recording: Recording) async throws(GatewayError) -> RecordingEntry {
        guard recording.isWaiting, recording.end != nil else {
            return try await self.recording(recording.id.recordName)
        }
        return RecordingEntry(
            recording: recording, meter: recording.id.meter, hostName: try await settings.hostNames()[host],
            isMine: true,
            overlaps: [])
    }

    static func check(name: String?) throws(GatewayError) {
        guard let name, !(1...64).contains(name.count) || name.contains(where: \.isControl) else { return }
        throw GatewayError(
            .badRequest, "a recording cannot be called \"\(name.visible)\"",
            next: "a name has 1 to 64 characters")
    }

    /// Changes name and note. Nil leaves a text unchanged; an empty text removes it.
    ///
    /// - Throws: `badRequest` for an invalid name or a note above 1,000 characters; `refused` for another host's
    ///   recording.
    package func describe(
        _ reference: String, name: String?, note: String?
    ) async throws(GatewayError) -> RecordingEntry {
        let entry = try await own(reference, "named")
        var recording = entry.recording
        if let name { recording.name = name.isEmpty ? nil : name }
        if let note { recording.note = note.isEmpty ? nil : note }
        try Self.check(name: recording.name)
        guard recording.note?.count ?? 0 <= 1000 else {
            throw GatewayError(
                .badRequest, "a note of \(recording.note?.count ?? 0) characters is too long",
                next: "it may have 1,000 characters")
        }
        if recording.end == nil,
            let running = present(entry.meter)?.describe(name: recording.name, note: recording.note)
        {
            try await writeNow(running, "the name or note is set but not stored yet, and a restart would lose it")
        } else {
            try await settings.describe(recording)
        }
        return try await self.recording(recording.id.recordName)
    }

    /// Deletes this host's recording on every host, with its imported readings.
    ///
    /// - Throws: `refused` for a running recording, and for another host's.
    package func delete(_ reference: String) async throws(GatewayError) -> RecordingEntry {
        let entry = try await own(reference, "deleted")
        guard entry.recording.end != nil else {
            throw GatewayError(
                .refused, "recording \(entry.recording.id.short) is still running",
                next: "end it first: meterctl record stop \(entry.meter)")
        }
        try await settings.delete(entry.recording.id)
        if entry.recording.source != nil { try await dropReadings(of: entry) }
        logger.info("recording deleted", metadata: ["recording": "\(entry.recording.id.short)"])
        return entry
    }

    package func forget(_ meter: MeterID, readings isDropped: Bool) async throws -> Int {
        guard isDropped else { return 0 }
        var count = 0
        for entry in try await recordings(of: meter) where entry.isMine && entry.recording.source != nil {
            count += try await dropReadings(of: entry)
        }
        return count
    }

    /// Continues a running recording of the alias under the meter's id, or ends it if the meter already has one
    /// (Docs/Decisions/0038-two-ids-one-meter.md).
    package func merge(_ alias: MeterID, into meter: MeterID) async throws {
        guard let recording = present(alias)?.recording else { return }
        let isMoved = present(meter)?.recording == nil
        if isMoved, let moved = present(alias)?.handOver() {
            resume(moved, of: meter, isRestart: false)
            meters.dropUnneeded(alias)
        } else {
            _ = try await stop(alias)
        }
        logger.notice(
            isMoved ? "recording moved to the meter's main id" : "recording ended: the meter has another recording",
            metadata: ["meter.id": "\(meter)", "recording": "\(recording.id.short)"])
    }

    @discardableResult
    private func dropReadings(of entry: RecordingEntry) async throws(GatewayError) -> Int {
        guard let imports else { return 0 }
        return try await GatewayError.doing("deleting the readings of \(entry.recording.id.short)") {
            try await imports.deleteImport(entry.stretch)
        }
    }

    /// Returns this host's recording; throws for another host's.
    private func own(_ reference: String, _ deed: String) async throws(GatewayError) -> RecordingEntry {
        let entry = try await recording(reference)
        guard entry.isMine else {
            throw GatewayError(
                .refused,
                "\(entry.recording.id.short) can be \(deed) only by \(entry.hostName ?? "the host that made it")",
                next: "run this on that host; if it is gone: metercloud record delete Recording NAME")
        }
        return entry
    }

    func checkUnrecorded(_ meter: MeterID) throws(GatewayError) {
        if let recording = present(meter)?.recording {
            throw GatewayError(
                .refused, "\(meter) is being recorded, since \(recording.started)",
                next: "end that first: meterctl record stop \(meter)")
        }
    }

    private func present(_ meter: MeterID) -> RecordingTrack? { meters.part(of: meter) }

    private func writeNow(_ recording: Recording, _ consequence: String) async throws(GatewayError) {
        changed(recording)
        try await GatewayError.doing(consequence) { try await write(recording) }
    }

    /// All hosts' recordings, latest first.
    ///
    /// - Parameter meter: nil for all meters.
    package func recordings(of meter: MeterID? = nil) async throws(GatewayError) -> [RecordingEntry] {
        var all: [RecordingID: Recording] = [:]
        for recording in try await settings.recordings() { all[recording.id] = recording }
        // Local versions are newer than published ones.
        for recording in state.withLock({ Array($0.unwritten.values) }) { all[recording.id] = recording }
        for recording in tracks.compactMap(\.recording) { all[recording.id] = recording }
        guard !all.isEmpty else { return [] }
        let aliases = try await settings.aliases()
        let own = mainIDs(aliases)
        func present(_ id: RecordingID) -> MeterID { (id.host == host ? own : aliases)[id.meter] ?? id.meter }
        let wanted = all.values.filter { meter == nil || present($0.id) == meter }.sorted { $0.id > $1.id }
        let overlaps = Recording.overlaps(among: wanted)
        let names = try await settings.hostNames()
        var tariffs: [MeterID: Tariff] = [:]
        for meter in Set(wanted.map { present($0.id) }) { tariffs[meter] = try await tariff(of: meter) }
        let priced = tariffs
        return wanted.map { recording in
            RecordingEntry(
                recording: recording, meter: present(recording.id), hostName: names[recording.id.host],
                isMine: recording.id.host == host, overlaps: overlaps[recording.id, default: []].sorted(),
                tariff: priced[present(recording.id)])
        }
    }

    package func tariff(of meter: MeterID) async throws(GatewayError) -> Tariff? {
        try await settings.read(meter).settings.tariff
    }

    /// Finds a recording by its name, its record's name, or the beginning of its short id.
    ///
    /// - Throws: `notFound`; `badRequest` if several match.
    package func recording(_ reference: String) async throws(GatewayError) -> RecordingEntry {
        let all = try await recordings()
        let wanted = reference.lowercased()
        let exact = all.filter { $0.recording.id.short == wanted || $0.recording.id.recordName == reference }
        let named = all.filter { $0.recording.name?.lowercased() == wanted }
        let begun = all.filter { !wanted.isEmpty && $0.recording.id.short.hasPrefix(wanted) }
        let found = [exact, named, begun].first { !$0.isEmpty } ?? []
        guard found.count <= 1 else {
            let some = found.prefix(8).map { entry in
                "\(entry.recording.id.short) (\(entry.recording.name ?? "\(entry.recording.id.meter)"))"
            }
            throw GatewayError(
                .badRequest, "\"\(reference)\" may mean \(some.joined(separator: ", "))", next: "type more of the id")
        }
        guard let entry = found.first else {
            throw GatewayError(
                .notFound, "no recording is called \"\(reference)\"", next: "meterctl record list shows them")
        }
        return entry
    }
}

package struct RecordingEntry: Hashable, Sendable {
    package var recording: Recording
    /// Current id of the recording's meter.
    package var meter: MeterID
    /// As reported by the host that made the recording; nil if unknown.
    package var hostName: String?
    /// Whether this host made the recording and has its readings.
    package var isMine: Bool
    /// Recordings of the same meter that overlap in time.
    package var overlaps: [RecordingID]
    package var tariff: Tariff?

    /// Id under which the readings are stored: the meter's, or a separate one for imported readings.
    package var stretch: MeterID { recording.source == nil ? meter : recording.id.importStretch }
}
