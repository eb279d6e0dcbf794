import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterSimulator
import MeterTestKit
import Testing

/// What a KM003C recorded by itself, read between measurements.
@Suite(.timeLimit(.minutes(10)))
struct SessionLogsTests {
    private let host = VirtualHost()
    private static let id = MeterID.usb(vendor: 0x5FC9, product: 0x0063, serial: "DEMO003C")

    private func connected(_ model: ModelName = .km003c) async throws -> DeviceSession {
        let session = try await host.pluggedIn(model, id: Self.id)
        host.loop.advance(by: .seconds(3))
        #expect(await session.state == "data-available")
        return session
    }

    /// Lets time pass until the logs have arrived, or it is clear that they will not.
    private func read(
        _ wish: LogRequest, from session: DeviceSession
    ) async throws -> MeterLogs {
        let reading = Task.immediate { try await session.logs(wish) }
        host.loop.advance(by: .seconds(60))
        return try await reading.value
    }

    @Test func logs_areListed_andRead_andTheMeterIsMeasuredOn() async throws {
        let session = try await connected()
        let catalogue = try await read(.catalogue, from: session).catalogue
        let entry = try #require(catalogue.first)
        let name = try #require(entry.name)

        let log = try #require(try await read(.log(named: name), from: session).log)
        #expect(log.entry == entry)
        #expect(log.samples.count == entry.sampleCount)

        let before = await session.status().counters.readings
        host.loop.advance(by: .seconds(5))
        let status = await session.status()
        #expect(status.state == "data-available")
        #expect(status.counters.readings > before)
        #expect(status.device?.serial != nil)
        #expect(await host.leave(session) == .none)
    }

    @Test func logThatIsNotThere_isNamed() async throws {
        let session = try await connected()
        await #expect { _ = try await read(.log(named: "A99"), from: session) } throws: { error in
            (error as? GatewayError)?.code == .notFound
        }
        #expect(await host.leave(session) == .none)
    }

    @Test func twoReaders_areOneTooMany() async throws {
        let session = try await connected()
        let first = Task.immediate { try await session.logs(.catalogue) }
        await #expect { _ = try await session.logs(.catalogue) } throws: { error in
            (error as? GatewayError)?.code == .refused
        }
        host.loop.advance(by: .seconds(60))
        #expect(try await !first.value.catalogue.isEmpty)
        #expect(await host.leave(session) == .none)
    }

    @Test func linkThatIsLost_endsTheReading() async throws {
        let session = try await connected()
        let reading = Task.immediate { try await session.logs(.catalogue) }
        host.links.unplug(.port)
        await #expect { _ = try await reading.value } throws: { error in
            (error as? GatewayError)?.code == .notConnected
        }
        #expect(await host.leave(session) == .none)
    }

    @Test func meterThatFallsSilent_isGivenUp_andAskedOnAfterwards() async throws {
        let session = try await connected()
        host.links.setFaults(SimulatorFaults(.silence), at: .port)
        await #expect(throws: GatewayError.self) { _ = try await read(.catalogue, from: session) }

        host.links.setFaults(.none, at: .port)
        host.loop.advance(by: .seconds(120))
        #expect(await session.state == "data-available")
        #expect(await host.leave(session) == .none)
    }

    @Test func meterWithoutLogs_saysSo_andSoDoesOneThatIsNotConnected() async throws {
        let other = try await host.pluggedIn(.um25c)
        await #expect(throws: GatewayError.self) { _ = try await other.logs(.catalogue) }
        let away = host.session(.km003c, id: Self.id)
        await #expect(throws: GatewayError.self) { _ = try await away.logs(.catalogue) }
        #expect(await host.leave(other, away) == .none)
    }
}
