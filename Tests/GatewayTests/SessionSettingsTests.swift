import Domain
import Gateway
import GatewayAPI
import MeterCodec
import MeterTestKit
import Testing

/// Settings of the meter itself, which are sent when it connects and when they change.
@Suite(.timeLimit(.minutes(10)))
struct SessionSettingsTests {
    private let host = VirtualHost()

    /// Commands that reached a UM25C, without the requests for readings.
    private var commands: [[UInt8]] { host.links.writes(to: .port).map(\.bytes).filter { $0 != [0xF0] } }

    @Test func settings_reachTheMeter_whenItConnects() async throws {
        let session = try await host.pluggedIn(
            .um25c, settings: ["screen-timeout": "7", "brightness": "2", "threshold": "100"])

        host.loop.advance(by: .seconds(3))

        #expect(commands == [[0xE7], [0xD2], [0xBA]])
        #expect(await session.state == "data-available")
        #expect(await host.leave(session) == .none)
    }

    @Test func settings_reachTheMeterAgain_afterAReconnect() async throws {
        let session = try await host.pluggedIn(.um25c, settings: ["brightness": "2"])
        host.loop.advance(by: .seconds(2))

        await session.disconnect()
        await session.connect()
        host.loop.advance(by: .seconds(2))

        #expect(commands == [[0xD2], [0xD2]])
    }

    @Test func change_reachesTheMeter_atOnce_andAlone() async throws {
        let session = try await host.pluggedIn(.um25c, settings: ["brightness": "2", "screen-timeout": "7"])
        host.loop.advance(by: .seconds(3))

        await session.adopt(["brightness": "4", "screen-timeout": "7"])
        host.loop.advance(by: .seconds(1))

        #expect(commands == [[0xE7], [0xD2], [0xD4]])
    }

    @Test func settingThatIsTakenBack_leavesTheMeterAsItIs() async throws {
        let session = try await host.pluggedIn(.um25c, settings: ["brightness": "2"])
        host.loop.advance(by: .seconds(2))

        await session.adopt([:])
        host.loop.advance(by: .seconds(2))

        #expect(commands == [[0xD2]])
    }

    @Test func settingThatTheModelDoesNotHave_isNotSent() async throws {
        let session = try await host.pluggedIn(.um25c, settings: ["screen-timeout": "30", "threshold": "105"])

        host.loop.advance(by: .seconds(3))

        #expect(commands.isEmpty)
        #expect(await session.state == "data-available")
    }

    @Test func nothing_isSent_whileNotConnected() async throws {
        let session = try await host.pluggedIn(.um25c, isWanted: false)

        await session.adopt(["brightness": "2"])
        host.loop.advance(by: .seconds(2))

        #expect(host.links.written(to: .port).isEmpty)
    }

    @Test func settingSetAgain_isSent_whereAPersonChangedTheMeterMeanwhile() async throws {
        let session = try await host.pluggedIn(.um25c, settings: ["brightness": "2"])
        host.loop.advance(by: .seconds(2))
        let command = Task.immediate { try await session.perform(MeterCommand(.brightness, 5)) }
        host.loop.advance(by: .seconds(1))
        try await command.value

        await session.adopt(["brightness": "2"])
        host.loop.advance(by: .seconds(1))

        #expect(commands == [[0xD2], [0xD5], [0xD2]])
    }

    @Test func readings_comeOn_whileSettingsAreTold() async throws {
        let session = try await host.pluggedIn(
            .um25c, settings: ["screen-timeout": "7", "brightness": "2", "threshold": "100"])
        host.loop.advance(by: .seconds(1))

        let state = await session.state

        #expect(state == "data-available")
    }
}
