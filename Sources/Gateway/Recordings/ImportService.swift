package import Domain
import GatewayAPI
package import Logging
import MeterCodec
import Synchronization

package struct ImportOrder: Sendable {
    package var meter: MeterID
    package var name: String?
    package var options: ImportOptions
    /// Maximum time between two samples that the filter for impossible samples compares; nil turns the filter off.
    package var filterReach: @Sendable (ImportReader) -> Duration? = { _ in nil }

    package init(meter: MeterID, name: String? = nil, options: ImportOptions) {
        self.meter = meter
        self.name = name
        self.options = options
    }
}

package struct ImportOutcome: Sendable {
    package var entry: RecordingEntry
    package var format: ImportFormat
    package var lines: Int
    /// Columns that match no quantity.
    package var columnsLeftOut: [String]
    /// Number of lines with impossible values.
    package var linesLeftOut: Int
    /// Number of single impossible samples that were replaced or omitted.
    package var filteredSamples: Int
    /// Sentences that list changed, omitted and assumed data.
    package var remarks: [String]
}

extension MeterDirectory {
    /// Value ranges of the meter's model. For an unknown model, those of all models that match its USB ids or the
    /// program that wrote the file.
    package func ranges(of id: MeterID) async -> @Sendable (ImportFormat) -> [Quantity: ClosedRange<Double>] {
        let catalogue = dependencies.catalogue
        return { [models = await models(of: id)] format in
            guard models.isEmpty else { return catalogue.ranges(of: models) }
            let families: Set<MeterFamily> =
                switch format {
                case .rdUSB: [.um, .tc66]
                case .logger, .toolbox: [.fnirsi]
                case .csv, .json, .table: Set(catalogue.families.map(\.family)).subtracting([.generic])
                }
            return catalogue.ranges(of: catalogue.models.filter { families.contains($0.family) })
        }
    }

    /// Returns the maximum time between two samples that the filter for impossible samples compares, as in live
    /// decoding. Nil if the meter's setting turns the filter off, and for meterd's own files, whose readings are
    /// already filtered.
    package func filterReach(of id: MeterID) async -> @Sendable (ImportReader) -> Duration? {
        let isOn = (try? await dependencies.settings.read(id))?.settings.filters ?? true
        let models = await models(of: id)
        let isFNIRSI = !models.isEmpty && models.allSatisfy { $0.family == .fnirsi }
        return { reader in
            switch reader.format {
            case _ where !isOn, nil, .csv, .json: nil
            case _ where reader.hasPackets: FNIRSIReadingFilter.packetsReach
            case .toolbox: FNIRSIReadingFilter.samplesReach
            case .logger, .rdUSB, .table: isFNIRSI ? FNIRSIReadingFilter.samplesReach : nil
            }
        }
    }

    private func models(of id: MeterID) async -> [ModelName] {
        if let model = try? await session(id.description).shownModel { return [model] }
        guard case .usb(let vendor, let product, _) = id else { return [] }
        return dependencies.catalogue.models(vendor: vendor, product: product)
    }
}

/// Makes recordings from files. Imported readings are stored separately from measured ones.
package final class ImportService: Sendable {
    package struct Limits: Sendable {
        package var readingsMax = 20_000_000
        package var bytesMax: Int64 = 4 << 30
        /// Maximum stored bytes per file, so that older readings are not deleted to make room.
        var storedBytesMax: Int64

        package init(storeBytesMax: Int64) { storedBytesMax = max(1, storeBytesMax / 4) }
    }

    private let repository: any SampleRepository & ImportRepository
    private let recordings: RecordingService
    private let calendar: RetentionCalendar?
    private let wallNow: @Sendable () -> WallTime
    package let limits: Limits
    private let logger: Logger
    private let isBusy = Mutex(false)

    /// Maximum time by which readings may be ahead of this host's system clock, which may be wrong.
    private static let future = Duration.seconds(86_400)
    private static let batchChunks = 32

    /// - Parameter calendar: counts the age of imported readings from their import. If nil (in tests), their age counts
    ///   from their dates.
    package init(
        repository: any SampleRepository & ImportRepository, recordings: RecordingService,
        calendar: RetentionCalendar? = nil, wallNow: @escaping @Sendable () -> WallTime, limits: Limits, logger: Logger
    ) {
        self.repository = repository
        self.recordings = recordings
        self.calendar = calendar
        self.wallNow = wallNow
        self.limits = limits
        self.logger = logger
    }

    /// Deletes readings left by interrupted imports and by recordings deleted on another host. Call once, before any
    /// import.
    package func restore() async throws {
        let stretches = try await repository.importStretches()
        guard !stretches.isEmpty else { return }
        let kept = Set(try await recordings.recordings().filter { $0.recording.source != nil }.map(\.stretch))
        for stretch in stretches where !kept.contains(stretch) {
            let count = try await repository.deleteImport(stretch)
            logger.notice("leftover import data deleted", metadata: ["readings": "\(count)"])
        }
    }

    /// Imports a file and makes a recording of it. After an error, nothing is kept.
    ///
    /// - Parameter next: returns more bytes; nil at the end of the file. Its errors end the import.
    /// - Throws: `badRequest` with the faulty line; `refused` for a file imported before, a file too large, or during
    ///   another import; errors of the store.
    package func take(
        _ order: ImportOrder, _ next: () async throws -> [UInt8]?
    ) async throws -> ImportOutcome {
        try RecordingService.check(name: order.name)
        guard
            isBusy.withLock({ isBusy in
                defer { isBusy = true }; return !isBusy
            })
        else {
            throw GatewayError(.refused, "another file is being imported", next: "try again when that is done")
        }
        defer { isBusy.withLock { $0 = false } }
        var run = Run(order, host: recordings.host, latest: (wallNow() + Self.future).millisecondsSince1970)
        do {
            while let bytes = try await next() { try await take(bytes, &run) }
            try run.finish()
            try await write(&run)
            let outcome = try await keep(&run)
            logger.info(
                "file imported",
                metadata: ["recording": "\(outcome.entry.recording.id.short)", "readings": "\(run.reader.readings)"])
            return outcome
        } catch {
            try await undo(run, because: error)
        }
    }

    private func take(_ bytes: [UInt8], _ run: inout Run) async throws {
        run.bytes += Int64(bytes.count)
        guard run.bytes <= limits.bytesMax else {
            throw GatewayError(
                .refused, "the file has more than \(limits.bytesMax >> 20) MB", next: "divide it, and import each part")
        }
        try run.read(bytes)
        guard run.reader.readings <= limits.readingsMax else {
            throw GatewayError(
                .refused, "the file has more than \(limits.readingsMax) readings",
                next: "divide it, and import each part")
        }
        if run.chunks.count >= Self.batchChunks { try await write(&run) }
    }

    private func write(_ run: inout Run) async throws {
        guard var id = run.id, !run.chunks.isEmpty else { return }
        if !run.isWriting {
            id = try await free(id)
            run.id = id
            // A failed import of the same file may have left readings.
            try await repository.deleteImport(id.importStretch)
            run.isWriting = true
        }
        let chunks = run.chunks.map { chunk in
            var chunk = chunk
            chunk.meter = id.importStretch
            return chunk
        }
        run.chunks = []
        run.storedBytes += chunks.reduce(0) { $0 + Int64($1.bytes.count) }
        guard run.storedBytes <= limits.storedBytesMax else {
            throw GatewayError(
                .refused, "the readings need over \(limits.storedBytesMax >> 20) MB, a quarter of the store's limit",
                next: "raise store.max-megabytes in meterd.toml, or divide the file")
        }
        if let calendar, let span = run.undeclared(chunks) { try await calendar.willStore([span]) }
        try await repository.append(chunks)
    }

    /// Returns an unused id. Imports with a start time given by the user may begin at the same moment.
    private func free(_ id: RecordingID) async throws -> RecordingID {
        let all = try await recordings.recordings().map(\.recording)
        if let own = all.first(where: { $0.id == id && $0.source == nil }) {
            throw Self.present(own, "this host recorded the meter from the same moment on")
        }
        var id = id
        while all.contains(where: { $0.id == id }) { id.token += 1 }
        return id
    }

    /// - Throws: `refused` if an imported recording has the same readings.
    private func check(_ recording: Recording) async throws {
        func isAlike(_ one: Double?, _ other: Double?) -> Bool { abs((one ?? 0) - (other ?? 0)) < 1e-6 }
        let twin = try await recordings.recordings().map(\.recording).first { other in
            other.source != nil && other.id.meter == recording.id.meter && other.started == recording.started
                && other.until == recording.until && other.totals.readings == recording.totals.readings
                && isAlike(other.totals.voltage.mean, recording.totals.voltage.mean)
                && isAlike(other.totals.current.mean, recording.totals.current.mean)
        }
        if let twin { throw Self.present(twin, "a file with the same readings was imported") }
    }

    private static func present(_ recording: Recording, _ what: String) -> GatewayError {
        let name = recording.name.map { " \"\($0.visible)\"" } ?? ""
        return GatewayError(
            .refused, "\(what): recording \(recording.id.short)\(name), begun \(recording.started)",
            next: "see meterctl record show \(recording.id.short); to import it again, delete that recording first")
    }

    private func keep(_ run: inout Run) async throws -> ImportOutcome {
        guard let format = run.reader.format, let id = run.id, let sum = run.summary?.recording() else {
            throw ImportError(.empty, "no reading is in the file", remedy: "was anything recorded?")
        }
        var recording = Recording(
            id: id, name: sum.name, trigger: sum.trigger, end: sum.end, until: sum.until, totals: sum.totals)
        try await check(recording)
        recording.source = format.rawValue
        (recording.toldAtStart, recording.toldAtEnd) = (run.reader.toldFirst, run.reader.toldLast)
        let entry = try await recordings.keep(recording)
        return ImportOutcome(
            entry: entry, format: format, lines: run.reader.lines, columnsLeftOut: run.reader.columnsLeftOut,
            linesLeftOut: run.reader.linesLeftOut, filteredSamples: run.filter?.filtered ?? 0, remarks: run.remarks)
    }

    private func undo(_ run: Run, because cause: any Error) async throws -> Never {
        var left = "nothing was imported"
        if run.isWriting, let id = run.id {
            do {
                try await repository.deleteImport(id.importStretch)
            } catch {
                left = "no recording was made; meterd deletes the stored readings at its next start"
                logger.error("partial import not deleted", metadata: ["cause": "\(error)"])
            }
        }
        let read = "\(run.reader.readings) \(run.reader.readings == 1 ? "reading was" : "readings were") read, \(left)"
        switch cause {
        case let error as ImportError:
            throw GatewayError(.badRequest, "\(error.message); \(read)", next: error.remedy)
        case let error as GatewayError:
            throw GatewayError(error.code, "\(error.message); \(read)", next: error.next)
        case let error as StoreError:
            throw GatewayError(.store, "\(error.message); \(read)", next: "free disk space, then import the file again")
        default: throw cause
        }
    }
}

extension ImportService {
    private struct Run {
        let order: ImportOrder
        let host: HostID
        var reader: ImportReader
        var bytes: Int64 = 0
        var storedBytes: Int64 = 0
        var chunks: [SampleChunk] = []
        var id: RecordingID?
        /// Whether the store may have some of the readings.
        var isWriting = false
        var summary: StretchSummary?
        /// Nil before the first reading or if the filter is off.
        private(set) var filter: FNIRSIReadingFilter?
        private var builder: SampleChunkBuilder?
        /// First readings, which determine the file's usual interval.
        private var begun: [(WallTime, Reading)] = []
        /// Latest date registered with the retention calendar; nil before the first registration.
        private var declared: WallTime?

        private static let chunkReadings = 1024
        private static let paceReadings = 65
        /// Time span registered at once, because the retention calendar stores only few spans.
        private static let reach = Duration.seconds(31 * 86_400)

        init(_ order: ImportOrder, host: HostID, latest: Int64) {
            self.order = order
            self.host = host
            var options = order.options
            options.latest = latest
            reader = ImportReader(options)
        }

        mutating func read(_ bytes: [UInt8]) throws(ImportError) {
            var found: [(WallTime, Reading)] = []
            defer { judge(found) }
            try reader.read(bytes) { found.append(($0, $1)) }
        }

        mutating func finish() throws(ImportError) {
            var found: [(WallTime, Reading)] = []
            try reader.finish { found.append(($0, $1)) }
            judge(found)
            filter?.finish()
            begin()
            if let chunk = builder?.finish() { chunks.append(chunk) }
        }

        private mutating func judge(_ found: [(WallTime, Reading)]) {
            if id == nil, filter == nil, !found.isEmpty {
                filter = order.filterReach(reader).map { FNIRSIReadingFilter(reach: $0) }
            }
            guard var filter = filter.take() else { return found.forEach { add($0, $1) } }
            for (time, reading) in found { filter.take(time, reading) { add($0, $1) } }
            self.filter = filter
        }

        var remarks: [String] {
            guard let filter, let first = filter.first else { return reader.remarks }
            let count = filter.filtered
            return reader.remarks + [
                "\(count) single impossible sample\(count == 1 ? " was" : "s were") left out or replaced by a neighbour"
                    + ", the first at \(first); meterctl set \(order.meter) filter=off keeps such samples"
            ]
        }

        private mutating func add(_ time: WallTime, _ reading: Reading) {
            let id = id ?? RecordingID(host: host, meter: order.meter, token: 0, started: time)
            self.id = id
            if summary == nil {
                begun.append((time, reading))
                if begun.count >= Self.paceReadings { begin() }
            } else {
                summary?.add(time, reading)
            }
            if builder == nil { builder = SampleChunkBuilder(meter: id.importStretch) }
            if builder?.isFar(time) ?? false || builder?.count ?? 0 >= Self.chunkReadings, let chunk = builder?.finish()
            {
                chunks.append(chunk)
            }
            builder?.append(time, reading)
        }

        /// Begins the summary. Steps of up to four times the file's usual interval, which may be a minute, are no gaps.
        private mutating func begin() {
            guard summary == nil, !begun.isEmpty else { return }
            let times = begun.map { $0.0.millisecondsSince1970 }
            let steps = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
            let usual = steps.isEmpty ? 0 : steps[steps.count / 2]
            var summary = StretchSummary(
                host: host, meter: order.meter, name: order.name, length: .milliseconds(usual * 2))
            for (time, reading) in begun { summary.add(time, reading) }
            begun = []
            self.summary = summary
        }

        /// Dates to register with the retention calendar: those of the chunks and some later ones. Nil if all are
        /// registered.
        mutating func undeclared(_ chunks: [SampleChunk]) -> ClosedRange<WallTime>? {
            guard let first = chunks.first?.first, let last = chunks.last?.last, declared.map({ $0 < last }) ?? true
            else {
                return nil
            }
            let end = max(last, first + Self.reach)
            declared = end
            return first...end
        }
    }
}
