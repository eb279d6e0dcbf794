import CloudServer
import FoundationEssentials
import Glibc
import LinuxIO
import Synchronization

/// The cloud that a fleet belongs to: one metercloud with its file, or two over an etcd of one member. Real programs.
final class FleetCloud: Sendable {
    enum Engine: String, CaseIterable {
        case sqlite, etcd
    }

    let engine: Engine
    private let folders: [TemporaryFolder]
    /// nil: SQLite.
    let etcd: EtcdControl?
    /// How long it took to move what was there into etcd; seconds.
    let moved: Double?
    private let running = Mutex<(copies: [MetercloudProcess], started: Double)>(([], 0))

    var copies: [MetercloudProcess] { running.withLock { $0.copies } }
    /// From the start of the first copy until it serves; seconds.
    var started: Double { running.withLock { $0.started } }

    /// - Parameter folder: of a cloud that was filled and closed.
    init(_ engine: Engine, folder: TemporaryFolder) async throws {
        self.engine = engine
        switch engine {
        case .sqlite:
            folders = [folder]
            etcd = nil
            moved = nil
        case .etcd:
            guard let etcd = try await EtcdControl.start() else { throw BenchmarkError(EtcdControl.missing) }
            self.etcd = etcd
            folders = [folder, try TemporaryFolder()]
            try Self.shareKey(folders)
            let begin = Clocks.wall
            let move = try ChildProcess(
                OwnProgram.neighbour("metercloud"), ["migrate", "--data", folder.path] + etcd.options,
                errors: "\(folder.path)/errors")
            guard move.wait() else { throw BenchmarkError(Report.file("\(folder.path)/errors")) }
            moved = Clocks.wall - begin
        }
        try start()
    }

    /// Copies of a cloud have one key, by which hosts know them, and they each other.
    private static func shareKey(_ folders: [TemporaryFolder]) throws {
        let paths = folders.map { CloudFolder(path: $0.path) }
        _ = try paths[0].certificate(names: [], at: LinuxClock.wallNow)
        for other in paths.dropFirst() {
            try FileManager.default.copyItem(atPath: paths[0].keyPath, toPath: other.keyPath)
        }
    }

    private func start() throws {
        var new: [MetercloudProcess] = []
        var started: Double?
        let begin = Clocks.wall
        for folder in folders {
            new.append(try MetercloudProcess(folder, options: etcd.map { ["--engine", "etcd"] + $0.options } ?? []))
            started = started ?? Clocks.wall - begin
        }
        running.withLock { $0 = (new, started ?? 0) }
    }

    /// All copies at once, as a power cut ends them, and all again.
    func restartAfterKill() throws {
        for copy in copies { copy.process.end(by: SIGKILL) }
        try start()
    }

    func end() async throws {
        for copy in copies { copy.end() }
        try await etcd?.end()
    }

    // MARK: What it uses

    struct Usage {
        /// Seconds of a processor: of all copies, and of etcd.
        var copies = 0.0
        var etcd = 0.0
        /// Megabytes sent to the disk, by all of them.
        var written = 0.0

        static func - (_ a: Usage, _ b: Usage) -> Usage {
            Usage(copies: a.copies - b.copies, etcd: a.etcd - b.etcd, written: a.written - b.written)
        }
    }

    var usage: Usage {
        var usage = Usage()
        for copy in copies {
            usage.copies += copy.process.processorTime
            usage.written += copy.process.written
        }
        if let etcd {
            usage.etcd = etcd.process.processorTime
            usage.written += etcd.process.written
        }
        return usage
    }

    /// RssAnon in megabytes: of the copies, and of etcd.
    var memory: (copies: Double, etcd: Double) {
        (copies.reduce(0) { $0 + $1.process.memory("RssAnon") }, etcd?.process.memory("RssAnon") ?? 0)
    }
}

extension ChildProcess {
    /// Megabytes that it has sent to the disk, so far.
    var written: Double {
        let line = Report.file("/proc/\(pid)/io").split(separator: "\n").first { $0.hasPrefix("write_bytes:") }
        return (line?.split { !$0.isNumber }.first.flatMap { Double($0) } ?? 0) / 1_048_576
    }
}
