import ArgumentParser
import Domain
import GatewayAPI
import LinuxIO
import ProgramKit
import UnixSignals

struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show all meters on the full screen, live.",
        discussion:
            "Arrow keys, PgUp, PgDn, Home and End scroll; q quits. If meterd does not answer, the last values are "
            + "shown in grey until it answers.")

    @OptionGroup var daemon: DaemonOptions
    @OptionGroup var times: TimeOptions

    func run() async throws {
        guard Terminal.isOutputATerminal else {
            throw CommandFailure(
                .usage, "the output is not a terminal, and top fills one",
                next: "for a program: meterctl status --watch --json")
        }
        // Request once on the normal screen, where an error remains visible.
        let first: GatewayStatus = try await daemon.client.call(.get, "/v1/status")
        // Trap signals, because from here on an early exit would not restore the terminal.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup, .sigquit, .sigwinch)
        FullScreen.enter()
        defer { FullScreen.leave() }
        await watch(from: first, signals)
    }

    private enum Event {
        case status(GatewayStatus)
        case failed(String)
        case keys([UInt8])
        case resized
        case ended
    }

    private func watch(from first: GatewayStatus, _ signals: UnixSignalsSequence) async {
        let (events, sink) = AsyncStream.makeStream(of: Event.self)
        let client = daemon.client
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await Redraw.loop(client) { sink.yield(await Self.look(client)) }
            }
            group.addTask {
                for await bytes in StandardInput.chunks() { sink.yield(.keys(bytes)) }
            }
            group.addTask {
                for await signal in signals { sink.yield(signal == .sigwinch ? .resized : .ended) }
            }
            defer { group.cancelAll() }
            await paint(events, from: first)
        }
    }

    private static func look(_ client: ControlClient) async -> Event {
        do {
            return .status(try await client.call(.get, "/v1/status", patience: .seconds(5)))
        } catch {
            return .failed((error as? CommandFailure)?.message ?? words(for: error))
        }
    }

    private func paint(_ events: AsyncStream<Event>, from first: GatewayStatus) async {
        var view = TopView(meters: first.meters, at: LinuxClock.now)
        var picture = LivePicture(.wholeScreen)
        func draw() {
            let size = Terminal.size ?? (24, 80)
            let lines = view.lines(rows: size.rows, columns: size.columns, at: LinuxClock.now, times.text)
            Terminal.data(picture.update(to: lines, size: size) { _ in "" })
        }
        draw()
        for await event in events {
            switch event {
            case .status(let status): view.heard(status.meters, at: LinuxClock.now)
            case .failed(let message): view.failure = message
            case .resized: break
            case .ended: return
            case .keys(let bytes):
                for key in TopKey.keys(in: bytes) { guard view.press(key) else { return } }
            }
            draw()
        }
    }
}
