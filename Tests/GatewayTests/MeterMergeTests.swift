import Domain
import GatewayAPI
import MeterCodec
import MeterStore
import MeterTestKit
import StoreTestKit
import Synchronization
import Testing

@testable import Gateway

/// What is kept of an id belongs to the meter that the id is an alias of, and goes with the meter.
@Suite(.timeLimit(.minutes(10)))
struct MeterMergeTests {
    private static let cable = MeterID.usb(vendor: 0x28E9, product: 0x018A, serial: "66C")

    /// A host's services on one store; another one is the same host after a restart.
    private struct Daemon {
        let host: VirtualHost
        let bench: DirectoryBench
        let recordings: RecordingService
        let alerts: AlertService
        let series: SeriesService

        init(on host: VirtualHost) async throws {
            self.host = host
            let settings = SettingsService(
                repository: host.store,
                now: { [loop = host.loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) },
                logger: host.log.logger)
            recordings = RecordingService(
                host: .temporary, meters: host.meters, repository: host.store, settings: settings, loop: host.loop,
                logger: host.log.logger)
            alerts = AlertService(
                meters: host.meters, repository: host.store, loop: host.loop, logger: host.log.logger)
            bench = DirectoryBench(on: host, recordings: recordings, alerts: alerts)
            series = SeriesService(
                repository: host.store, recorder: host.recorder, wallNow: { [loop = host.loop] in loop.wallNow },
                ids: { [directory = bench.directory] in await directory.ids(of: $0) })
            try await recordings.restore()
            let aliases = try await settings.aliases()
            try await host.counts.restore(mainIDs: aliases)
            try await alerts.restore(mainIDs: aliases)
            try await bench.directory.restore()
        }

        func readings(of meter: MeterID) async throws -> Int {
            var count = 0
            let span = WallTime(millisecondsSince1970: 0)..<host.loop.wallNow + .seconds(1)
            try await series.readings(of: meter, in: span) { _ in count += 1 }
            return count
        }

        /// Writes what is in memory, as a clean stop does.
        func writeAll() async {
            recordings.finish()
            await recordings.run()
            host.recorder.finish()
            await host.recorder.run()
        }
    }

    /// Where each thing is that is kept of a meter.
    private struct Places: Equatable {
        var recording, alert, count: [MeterID]

        init(all meter: MeterID) { (recording, alert, count) = ([meter], [meter], [meter]) }

        init(of daemon: Daemon) async throws {
            recording = try await daemon.recordings.recordings().map(\.meter)
            alert = daemon.alerts.entries.map(\.rule.meter)
            count = try await daemon.host.store.energyCounts().keys.sorted()
        }
    }

    /// One meter over its cable: recorded, watched, counted.
    private func measured() async throws -> Daemon {
        let daemon = try await Daemon(on: VirtualHost())
        try await daemon.bench.plugIn(.tc66c, id: Self.cable, at: "/dev/ttyACM0")
        _ = try await daemon.bench.directory.connect("\(Self.cable)", ConnectRequest())
        _ = try await daemon.recordings.start(Self.cable, name: "phone")
        _ = try await daemon.alerts.add("voltage > 50V", of: Self.cable, name: nil, notify: [])
        daemon.host.loop.advance(by: .seconds(30))
        return daemon
    }

    @Test func mergedMeter_isRecordedOn_andKeepsItsReadings() async throws {
        let daemon = try await measured()
        let before = try await daemon.readings(of: Self.cable)
        try #require(before > 10)

        _ = try await daemon.bench.directory.alias("\(Self.cable)", of: "\(MeterID.tc)")
        daemon.host.loop.advance(by: .seconds(30))

        #expect(try await daemon.readings(of: .tc) > before + 10)
        let recording = try await daemon.recordings.stop(.tc)
        #expect(recording.name == "phone" && recording.totals.readings > before + 10)
        #expect(recording.totals.restarts == 0)
        #expect(try await daemon.recordings.recordings(of: .tc).map(\.recording.id) == [recording.id])
        #expect(await daemon.bench.leave() == .none)
    }

    @Test func twoRecordingsOfOneMeter_areEndedToOne() async throws {
        let daemon = try await measured()
        _ = try await daemon.recordings.start(.tc, name: "first")

        _ = try await daemon.bench.directory.alias("\(Self.cable)", of: "\(MeterID.tc)")

        let all = try await daemon.recordings.recordings(of: .tc).map(\.recording)
        #expect(all.filter { $0.end == nil }.map(\.name) == ["first"])
        #expect(all.filter { $0.end == .hand }.map(\.name) == ["phone"])
        #expect(await daemon.bench.leave() == .none)
    }

    /// Whichever write of the merge is the first to fail, after the next start everything is where the alias says.
    @Test(arguments: 0...7)
    func merge_isCompletedAfterARestart_whereverAPowerCutCame(writes: Int) async throws {
        let daemon = try await measured()
        await daemon.writeAll()
        daemon.host.access.failWrites(with: StoreError(.diskFull, "cut"), after: writes)
        _ = try? await daemon.bench.directory.alias("\(Self.cable)", of: "\(MeterID.tc)")
        daemon.host.access.failWrites(with: nil)
        _ = await daemon.bench.leave()

        let next = try await Daemon(on: VirtualHost(loop: daemon.host.loop, store: daemon.host.store))

        let isMerged = try await !next.bench.settings.aliases().isEmpty
        #expect(isMerged == (writes > 0))
        #expect(try await Places(of: next) == Places(all: isMerged ? .tc : Self.cable))
        #expect(try await next.recordings.recordings().map(\.recording.end) == [nil])
        #expect(await next.bench.leave() == .none)
    }

    @Test func forgottenMeter_takesWhatWasReadUnderItsAliasAlong() async throws {
        let daemon = try await measured()
        _ = try await daemon.bench.directory.alias("\(Self.cable)", of: "\(MeterID.tc)")
        _ = try await daemon.recordings.stop(.tc)
        await daemon.writeAll()

        let gone = try await daemon.bench.directory.forget("\(MeterID.tc)", readings: true)

        #expect(gone.readings ?? 0 > 10)
        for id in [Self.cable, .tc] { #expect(try await daemon.readings(of: id) == 0) }
        #expect(daemon.alerts.entries.isEmpty)
        #expect(try await daemon.host.store.energyCounts().isEmpty)
        #expect(await daemon.bench.leave() == .none)
    }

    /// A session leads back to its meter by the log. What keeps a host alive keeps its store's files open.
    @Test func hostThatEnded_isFreed() async throws {
        weak var meters: Meters?
        func run() async throws {
            let daemon = try await measured()
            meters = daemon.host.meters
            #expect(await daemon.bench.leave() == .none)
        }
        try await run()
        #expect(meters == nil)
    }

    // MARK: A part that no other code knows

    private final class MadeUpPart: MeterPart {
        let endings = Mutex(0)
        func sessionEnded() { endings.withLock { $0 += 1 } }
    }

    private final class MadeUpKeeper: MeterKeeping {
        let heard = Mutex<[String]>([])

        func forget(_ meter: MeterID, readings isDropped: Bool) -> Int {
            heard.withLock { $0.append("forget \(meter) \(isDropped)") }
            return 7
        }

        func merge(_ alias: MeterID, into meter: MeterID) {
            heard.withLock { $0.append("merge \(alias) \(meter)") }
        }
    }

    @Test func partOfAnotherService_isReachedByMergeAndForget() async throws {
        let (part, keeper) = (MadeUpPart(), MadeUpKeeper())
        let bench = DirectoryBench(otherKeepers: [keeper])
        try await bench.directory.restore()
        try await bench.plugIn(.tc66c, id: Self.cable, at: "/dev/ttyACM0")
        #expect(bench.host.meters.take(Self.cable) { part } === part)

        _ = try await bench.directory.alias("\(Self.cable)", of: "\(MeterID.tc)")
        let gone = try await bench.directory.forget("\(MeterID.tc)", readings: true)

        #expect(part.endings.withLock { $0 } == 1)
        #expect(
            keeper.heard.withLock { $0 } == [
                "merge \(Self.cable) \(MeterID.tc)", "forget \(MeterID.tc) true", "forget \(Self.cable) true",
            ])
        #expect(gone.readings == 14)
        #expect(await bench.leave() == .none)
    }
}
