import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// A meter that samples by its own clock, from its queue to the store and to those who watch.
@Suite(.timeLimit(.minutes(10)))
struct SessionSamplingTests {
    private let host = VirtualHost()
    private static let id = MeterID.usb(vendor: 0x5FC9, product: 0x0063, serial: "DEMO003C")

    private func connected(_ settings: [String: String], for time: Duration = .seconds(3)) async throws -> DeviceSession
    {
        let session = try await host.pluggedIn(.km003c, id: Self.id, settings: settings)
        host.loop.advance(by: time)
        return session
    }

    private func collected(_ subscription: Feed<TimedReading>.Subscription) async -> [TimedReading] {
        var all: [TimedReading] = []
        for await item in subscription {
            #expect(item.missed == 0)
            all.append(item.value)
        }
        return all
    }

    @Test(arguments: [("2", 2), ("10", 10), ("50", 50), ("1000", 1000)])
    func rate_isWhatComes(text: String, rate: Int) async throws {
        let session = try await connected(["rate": text])
        let before = await session.status().counters.readings
        host.loop.advance(by: .seconds(20))
        let status = await session.status()
        #expect(((rate - 1) * 20...(rate + 1) * 20).contains(status.counters.readings - before))
        #expect(status.sampling == SamplingBody(wanted: rate, rate: rate, error: nil))
        #expect(status.counters.lost_samples == nil)
        #expect(status.counters.timeouts == 0)
        #expect(status.counters.rejected == 0)
        #expect(await host.leave(session) == .none)
    }

    @Test func withoutARate_nothingIsSaidOfOne() async throws {
        for settings in [[:], ["rate": "off"], ["rate": "49"]] {
            let session = try await connected(settings)
            let status = await session.status()
            #expect(status.sampling == nil)
            #expect(status.spread == nil)
            #expect(status.poll_interval_ms == 200)
            #expect(await host.leave(session) == .none)
        }
    }

    @Test func samples_haveTheMetersTime() async throws {
        let session = try await connected(["rate": "1000"])
        let all = session.feed(ofAll: true).subscribe(buffer: 100_000)
        host.loop.advance(by: .seconds(5))
        await session.shutdown()
        let readings = await collected(all)
        #expect((4900...5100).contains(readings.count))
        for (one, next) in zip(readings, readings.dropFirst()) {
            let step = next.time - one.time
            #expect(step > .microseconds(900) && step < .microseconds(1100))
            #expect(next.wallTime >= one.wallTime)
        }
        #expect(host.links.openChannels == 0)
    }

    /// Whoever watches gets what each answer comes to, which is all of it.
    @Test func whoWatches_getsOneReadingAnAnswer_withItsLeastAndGreatest() async throws {
        let session = try await connected(["rate": "1000"])
        let all = session.feed(ofAll: true).subscribe(buffer: 100_000)
        let folded = session.feed(ofAll: false).subscribe(buffer: 100_000)
        host.loop.advance(by: .seconds(5))
        await session.shutdown()
        let (single, readings) = (await collected(all), await collected(folded))
        #expect((200...250).contains(readings.count))
        #expect(readings.reduce(0) { $0 + ($1.spread?.count ?? 1) } == single.count)
        let least = single.compactMap { $0.reading[.voltage] }.min()
        let greatest = single.compactMap { $0.reading[.voltage] }.max()
        #expect(readings.compactMap { $0.spread?.least[.voltage] }.min() == least)
        #expect(readings.compactMap { $0.spread?.greatest[.voltage] }.max() == greatest)
        for reading in readings {
            let spread = try #require(reading.spread)
            let mean = try #require(reading.reading[.current])
            #expect(try #require(spread.least[.current]) <= mean)
            #expect(try #require(spread.greatest[.current]) >= mean)
        }
    }

    @Test func slowerMeter_isWatchedSampleBySample() async throws {
        let session = try await connected(["rate": "50"])
        let folded = session.feed(ofAll: false).subscribe(buffer: 100_000)
        host.loop.advance(by: .seconds(5))
        await session.shutdown()
        let readings = await collected(folded)
        #expect((245...255).contains(readings.count))
        #expect(readings.allSatisfy { $0.spread == nil })
    }

    @Test func status_hasTheSpreadOfTheLastHalfSecond_ofAFastMeterAlone() async throws {
        let session = try await connected(["rate": "1000"])
        let spread = try #require(await session.status().spread)
        #expect((500...1000).contains(spread.count))
        let (least, greatest) = (spread.least.reading[.voltage], spread.greatest.reading[.voltage])
        #expect(try #require(least) < (try #require(greatest)))
        await session.adopt(["rate": "50"])
        host.loop.advance(by: .seconds(2))
        #expect(await session.status().spread == nil)
        #expect(await session.status().sampling?.rate == 50)
        #expect(await host.leave(session) == .none)
    }

    /// A person's poll interval would let the queue overflow.
    @Test func pollInterval_waits_andCountsAgainAfterwards() async throws {
        let session = try await connected(["rate": "1000", "poll-interval": "1s"])
        #expect(await session.status().poll_interval_ms == 20)
        #expect(await session.status().counters.lost_samples == nil)
        await session.adopt(["poll-interval": "1s"])
        host.loop.advance(by: .seconds(3))
        #expect(await session.status().poll_interval_ms == 1000)
        let before = await session.status().counters.readings
        host.loop.advance(by: .seconds(10))
        #expect((9...11).contains(await session.status().counters.readings - before))
        #expect(await host.leave(session) == .none)
    }

    @Test func powerDelivery_isHeardMeanwhile_andTheMeterIsLeftClean() async throws {
        let session = try await connected(["rate": "1000"], for: .seconds(15))
        #expect(try await session.heardPD().timeline.contract != nil)
        #expect(await session.status().reading?.reading[.temperature] != nil)
        #expect(await host.leave(session) == .none)
        let last = host.links.writes(to: .port).suffix(3).map { $0.bytes[0] }
        #expect(last == [0x0F, 0x11, 0x03])
    }

    // MARK: Where it does not work

    /// A meter that answers no memory read, as nobody has shown a serial port that does.
    private struct WithoutMemory: SimulatedMeter {
        var base = SimulatedKM003C(model: .km003c)
        var model: ModelName { base.model }
        var faults: SimulatorFaults {
            get { base.faults }
            set { base.faults = newValue }
        }
        var nextDue: Duration? { nil }
        mutating func receive(_ bytes: [UInt8], at time: Duration) -> [[UInt8]] {
            bytes.first == 0x44 ? [] : base.receive(bytes, at: time)
        }
        mutating func due(at time: Duration) -> [[UInt8]] { [] }
        mutating func powerCycle() { base.powerCycle() }
    }

    @Test func silentMemory_isSaid_withTheOtherLink_andTheMeterIsMeasured() async throws {
        host.links.plug(WithoutMemory(), at: .port)
        let session = host.session(.km003c, id: Self.id, settings: ["rate": "1000"])
        await session.appeared(.of(.km003c, id: Self.id))
        host.loop.advance(by: .seconds(10))
        let cause = "the meter did not answer when asked for its hardware id"
        #expect(await session.status().sampling == SamplingBody(wanted: 1000, rate: nil, error: cause))
        #expect(await session.state == "data-available")
        #expect(await session.status().counters.readings > 20)
        #expect(host.log.entries(saying: "sampling rate refused").count == 1)

        await session.appeared(Sighting(id: Self.id, model: .km003c, name: nil, link: .bulk(path: "/dev/bus/usb/1/2")))
        let next = "; meterctl connect \(Self.id) --over bulk uses the maker's interface"
        #expect(await session.status().sampling?.error == cause + next)
        #expect(await host.leave(session) == .none)
    }

    @Test func logs_areReadMeanwhile_andTheSamplesGoOn() async throws {
        let session = try await connected(["rate": "1000"])
        let reading = Task.immediate { try await session.logs(.catalogue) }
        host.loop.advance(by: .seconds(10))
        #expect(try await !reading.value.catalogue.isEmpty)
        let status = await session.status()
        #expect(status.sampling?.rate == 1000)
        host.loop.advance(by: .seconds(5))
        let later = await session.status()
        #expect((4900...5100).contains(later.counters.readings - status.counters.readings))
        #expect(later.counters.lost_samples == status.counters.lost_samples)
        #expect(await host.leave(session) == .none)
    }

    @Test func lostLink_isProvedAndStartedAnew() async throws {
        let session = try await connected(["rate": "1000"])
        host.links.unplug(.port)
        await session.vanished(from: .serial(path: .port))
        host.loop.advance(by: .seconds(60))
        #expect(await session.status().sampling?.rate == nil)
        host.links.plug(SimulatedKM003C(model: .km003c), at: .port)
        await session.appeared(.of(.km003c, id: Self.id))
        host.loop.advance(by: .seconds(10))
        let status = await session.status()
        #expect(status.sampling?.rate == 1000)
        #expect(status.counters.lost_samples == nil)
        #expect(await host.leave(session) == .none)
    }

    /// Nothing is fetched for three seconds of a queue that holds one.
    @Test func queueThatOverflows_isCounted() async throws {
        let session = try await connected(["rate": "1000"])
        host.links.setFaults(SimulatorFaults(.silence), at: .port)
        host.loop.advance(by: .seconds(3))
        host.links.setFaults(.none, at: .port)
        host.loop.advance(by: .seconds(5))
        let status = await session.status()
        let lost = try #require(status.counters.lost_samples)
        #expect((1000...5000).contains(lost))
        #expect(status.counters.readings + lost >= 9500)
        #expect(status.sampling?.rate == 1000)
        #expect(await host.leave(session) == .none)
    }

    // MARK: The store

    @Test func fastMeter_isKeptInSeconds_thatAreAllOfIt() async throws {
        let session = try await connected(["rate": "1000"])
        host.loop.advance(by: .seconds(120))
        let readings = await session.status().counters.readings
        let seconds = try host.recorder.waiting(of: Self.id).flatMap { try $0.seconds() }
        let whole = try host.recorder.waiting(of: Self.id).filter { !$0.holdsSeconds }.flatMap { try $0.samples() }
        let kept = seconds.reduce(0) { $0 + Int($1.counts[.voltage] ?? 0) } + whole.count
        #expect(kept == readings)
        #expect(whole.count < 10)
        #expect((120...125).contains(seconds.count))
        for second in seconds.dropFirst(3).dropLast() {
            let count = try #require(second.counts[.voltage])
            #expect((990...1010).contains(count))
            #expect(try #require(second.minima[.power]) < (try #require(second.maxima[.power])))
            #expect(second.counts[.temperature] != nil)
        }
        #expect(await host.leave(session) == .none)
    }

    /// 100,000 samples a second, folded by the driver: their extremes are not lost on the way to viewers and the store.
    @Test(arguments: [("off", 10), ("50", 50), ("1000", 1000)])
    func foldedSamples_keepTheirExtremes(text: String, rate: Int) async throws {
        let session = try await host.pluggedIn(.ppk2, id: Self.id, settings: ["rate": text])
        let all = session.feed(ofAll: true).subscribe(buffer: 100_000)
        host.loop.advance(by: .seconds(4))
        let status = await session.status()
        #expect((3 * rate...4 * rate).contains(status.counters.readings))
        #expect(status.counters.lost_samples == nil && status.counters.skipped_bytes == 0)
        #expect(status.sampling?.rate == (text == "off" ? nil : rate))
        #expect((status.spread == nil) == (rate <= 100))
        let chunks = host.recorder.waiting(of: Self.id)
        #expect(chunks.filter { !$0.holdsSeconds }.isEmpty)
        let seconds = try chunks.flatMap { try $0.seconds() }.dropFirst().dropLast()
        #expect(seconds.count >= 2)
        for second in seconds {
            #expect(try #require(second.counts[.current]) > 88_000)
            #expect(try #require(second.minima[.current]) < 0.000_03)
            #expect(try #require(second.maxima[.current]) > 0.018)
            #expect((0.000_5...0.002).contains(try #require(second.means[.current])))
            #expect(second.means[.voltage] == nil)
        }
        host.links.setFaults(SimulatorFaults(.silence, every: 100), at: .port)
        host.loop.advance(by: .seconds(2))
        #expect(try #require(await session.status().counters.lost_samples) > 0)
        #expect(await host.leave(session) == .none)
        for reading in await collected(all) {
            let spread = try #require(reading.spread)
            #expect((1...(100_000 / rate)).contains(spread.count))
            #expect(try #require(spread.least[.current]) <= (try #require(reading.reading[.current])))
        }
        #expect(host.links.writes(to: .port).last?.bytes == [0x07])
    }

    @Test func slowerMeter_isKeptWhole() async throws {
        let session = try await connected(["rate": "50"])
        host.loop.advance(by: .seconds(60))
        let waiting = host.recorder.waiting(of: Self.id)
        #expect(waiting.allSatisfy { !$0.holdsSeconds })
        #expect(waiting.reduce(0) { $0 + $1.count } == (await session.status().counters.readings))
        #expect(await host.leave(session) == .none)
    }
}

/// While a recording goes on, every sample is kept.
@Suite(.timeLimit(.minutes(10)))
struct SessionSamplingRecordingTests {
    @Test func recording_keepsEverySample_fromItsBeginningToItsEnd() async throws {
        let host = VirtualHost()
        let settings = SettingsService(
            repository: host.store, now: { [loop = host.loop] in HostMoment(wall: loop.wallNow, sinceBoot: loop.now) },
            logger: host.log.logger)
        let recordings = RecordingService(
            host: HostID(high: 0x4000, low: 1), meters: host.meters, repository: host.store, settings: settings,
            loop: host.loop, logger: host.log.logger)
        let bench = DirectoryBench(on: host, recordings: recordings)
        let id = MeterID.usb(vendor: 0x5FC9, product: 0x0063, serial: "DEMO003C")
        try await bench.directory.restore()
        try await bench.plugIn(.km003c, id: id)
        _ = try await bench.directory.connect("\(id)", .init())
        _ = try await bench.directory.set(["rate": "1000"], for: "\(id)")
        host.loop.advance(by: .seconds(10))
        func single() -> Int { host.recorder.waiting(of: id).filter { !$0.holdsSeconds }.reduce(0) { $0 + $1.count } }
        let before = single()

        _ = try await recordings.start(id, name: nil)
        host.loop.advance(by: .seconds(20))
        let during = single() - before
        let recording = try await recordings.stop(id)
        host.loop.advance(by: .seconds(10))
        let after = single() - before - during
        _ = try await recordings.start(id, name: nil)
        host.loop.advance(by: .seconds(5))

        #expect((19_900...20_100).contains(during))
        #expect((19_900...20_100).contains(recording.totals.readings))
        #expect(recording.totals.gaps.isEmpty)
        #expect(after < 50)
        #expect((4900...5100).contains(single() - before - during - after))
        #expect(await bench.leave() == .none)
    }
}
