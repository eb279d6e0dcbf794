import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// Meters that push a hundred samples a second: each has a time of its own, and all are stored.
@Suite(.timeLimit(.minutes(10)))
struct SessionSampleTimesTests {
    private let host = VirtualHost()

    /// A hundred samples a second, and over which link.
    private static let fast: [(ModelName, LinkAddress)] = [
        (.witrnK2, .hid(path: "/dev/hidraw0")), (.fnb58, .hid(path: "/dev/hidraw0")),
        (.fnbC2, .hid(path: "/dev/hidraw0")),
        (.avhzyCT3, .serial(path: .port)),
    ]

    private func session(_ model: ModelName, over link: LinkAddress) async throws -> DeviceSession {
        host.links.plug(
            try #require(SimulatorCatalogue.standard.meter(model, over: link.transport)), at: link.simulatedPath)
        let session = host.session(model)
        await session.appeared(Sighting(id: .um, model: model, name: nil, link: link))
        return session
    }

    @Test(arguments: fast)
    func samples_haveDistinctTimes_tenMillisecondsApart_andAreStoredWhole(model: ModelName, link: LinkAddress)
        async throws
    {
        let session = try await session(model, over: link)
        host.loop.advance(by: .seconds(3))
        let all = session.feed(ofAll: true).subscribe(buffer: 100_000)
        let before = await session.status().counters.readings
        host.loop.advance(by: .seconds(30))
        let status = await session.status()
        #expect((2990...3010).contains(status.counters.readings - before))
        #expect(status.counters.lost_samples == nil)
        // Nothing but a reading after the other: 100 a second are not too many to be shown.
        #expect(status.spread == nil)
        await session.shutdown()

        var last: TimedReading?
        for await item in all {
            #expect(item.missed == 0)
            if let last {
                let step = item.value.time - last.time
                #expect(step > .milliseconds(9) && step < .milliseconds(11))
                #expect(item.value.wallTime > last.wallTime)
            }
            last = item.value
        }
        let stored = try host.recorder.waiting(of: .um).flatMap { try $0.samples() }
        #expect(stored.count == status.counters.readings)
        #expect(Set(stored.map(\.time)).count == stored.count)
        #expect(host.links.openChannels == 0)
    }

    /// Reports that the host reads late keep the meter's times, and those that the kernel dropped are counted.
    @Test func reportsThatDoNotCome_areCounted() async throws {
        let session = try await session(.witrnK2, over: .hid(path: "/dev/hidraw0"))
        host.loop.advance(by: .seconds(3))
        let before = await session.status().counters.readings
        host.links.setFaults(SimulatorFaults(.silence), at: "/dev/hidraw0")
        host.loop.advance(by: .milliseconds(500))
        host.links.setFaults(.none, at: "/dev/hidraw0")
        host.loop.advance(by: .seconds(5))
        let counters = await session.status().counters
        let lost = try #require(counters.lost_samples)
        #expect((45...55).contains(lost))
        #expect((548...552).contains(counters.readings - before + lost))
        #expect(await host.leave(session) == .none)
    }

    /// What the meter counted while there was no link is not missing.
    @Test func newLink_beginsAnew() async throws {
        let session = try await session(.witrnK2, over: .hid(path: "/dev/hidraw0"))
        host.loop.advance(by: .seconds(3))
        await session.disconnect()
        host.loop.advance(by: .seconds(5))
        await session.connect()
        host.loop.advance(by: .seconds(5))
        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.counters.lost_samples == nil)
        #expect(await host.leave(session) == .none)
    }
}
