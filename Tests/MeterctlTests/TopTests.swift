import Domain
import Foundation
import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

struct TopViewTests {
    private static let start = MonotonicTime(sinceOrigin: .seconds(100))

    private static func meter(_ number: Int) -> MeterStatus {
        var meter = MeterStatus(
            id: "02:00:00:00:25:\(number < 10 ? "0" : "")\(number)", state: "data-available", since: "s",
            local_only: false, wanted: true, counters: .init())
        (meter.name, meter.model, meter.age_ms) = ("meter \(number) of the long shelf", "UM25C", 187)
        var lease = LeaseStatus(.held)
        lease.remaining_ms = 103_400
        meter.lease = lease
        var reading = Reading()
        (reading[.voltage], reading[.current], reading[.power]) = (5.106, 1.5, 7.659)
        meter.reading = ReadingBody(reading)
        return meter
    }

    private func view(of count: Int) -> TopView { TopView(meters: (0..<count).map(Self.meter), at: Self.start) }

    private func lines(_ view: inout TopView, _ rows: Int = 24, _ columns: Int = 80) -> [String] {
        view.lines(rows: rows, columns: columns, at: Self.start + .seconds(12), .berlin)
    }

    @Test func fortyMeters_areReadableOnAnOldTerminal() {
        var view = view(of: 40)
        let lines = lines(&view)

        #expect(lines.count == 24)
        #expect(lines.allSatisfy { $0.displayWidth <= 80 })
        #expect(lines[0].hasPrefix("40 meters, 40 with data, together 306.360 W  "))
        #expect(lines[1] == "METER              STATE           LEASE       VOLTAGE  CURRENT  POWER    AGE")
        #expect(lines[2] == "meter 0 of the l…  data-available  mine 103 s  5.106 V  1.500 A  7.659 W  187 ms")
        #expect(lines[23] == "1–21 of 40 · ↑ ↓ PgUp PgDn scroll · q quits")
    }

    @Test func keys_scroll_andStopAtTheEnds() {
        var view = view(of: 40)
        func first(after keys: TopKey...) -> String {
            for key in keys { _ = view.press(key) }
            return String(lines(&view)[2].prefix(8))
        }
        let seen = [
            first(), first(after: .up), first(after: .down, .down), first(after: .pageDown), first(after: .first),
            first(after: .last), first(after: .pageUp), first(after: .last),
        ]
        let last = lines(&view).last
        let goesOn = view.press(.quit)

        #expect(
            seen == [
                "meter 0 ", "meter 0 ", "meter 2 ", "meter 19", "meter 0 ", "meter 19", "meter 0 ", "meter 19",
            ])
        #expect(last?.hasPrefix("20–40 of 40") == true)
        #expect(!goesOn)
    }

    @Test func terminalThatGrows_showsMore_withoutALeftover() {
        var view = view(of: 40)
        _ = lines(&view)
        _ = view.press(.last)

        let tall = lines(&view, 60)

        #expect(tall.count == 60)
        #expect(tall[2].hasPrefix("meter 0 "))
        #expect(tall[59] == "q quits")
        for rows in 1...5 {
            for columns in 1...90 {
                let lines = lines(&view, rows, columns)
                #expect(lines.count == rows && lines.allSatisfy { $0.displayWidth <= columns })
            }
        }
    }

    @Test func silenceOfTheDaemon_isSaid_withTheAgeOfWhatIsShown() {
        var view = view(of: 2)
        view.failure = "no meterd answers on /s"
        let silent = lines(&view)
        view.heard([Self.meter(7)], at: Self.start + .seconds(12))
        let live = lines(&view)

        #expect(silent.last == "no meterd answers on /s: this is 12 s old · q quits")
        #expect(live.last == "q quits")
        #expect(live[2].hasPrefix("meter 7 "))
    }

    @Test func noMeter_saysHowToBegin() {
        var view = view(of: 0)
        let lines = lines(&view)

        #expect(lines[0].hasPrefix("0 meters, 0 with data"))
        #expect(lines[1] == "no meter is known yet: meterctl scan")
    }

    @Test(arguments: [
        ("q", [TopKey.quit]), ("\u{1B}[A", [.up]), ("\u{1B}OB", [.down]), ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
        ("\u{1B}[H\u{1B}[4~", [.first, .last]), ("\u{1B}[1;5A", [.up]), ("jk b", [.down, .up, .pageDown, .pageUp]),
        ("\u{1B}[15~x", []), ("\u{1B}", []), ("\u{1B}[", []), ("gG", [.first, .last]), ("", []),
    ])
    func keys_areWhatTerminalsSend(_ text: String, _ keys: [TopKey]) {
        #expect(TopKey.keys(in: Array(text.utf8)) == keys)
    }
}

struct StatusPictureTests {
    @Test func statusOfAMeter_fits80Columns() throws {
        var meter = MeterStatus(
            id: "02:00:00:00:25:0C", state: "data-available", since: "s", local_only: false, wanted: true,
            counters: .init())
        (meter.name, meter.model, meter.age_ms) = ("demo UM25C", "UM25C", 187)
        let status = GatewayStatus(
            meters: [meter], store: StoreStatus(path: "p", unsaved: 0, saved: 0, dropped: 0, error: "the disk is full"))

        let wide = Status.look(at: status, nil, fitting: nil)
        let narrow = Status.look(at: status, nil, fitting: 80)

        #expect(
            wide.lines[0] == "ID                 MODEL  NAME        STATE           LEASE  VOLTAGE  CURRENT  POWER  AGE"
        )
        #expect(narrow.lines[0] == "METER       STATE           LEASE  VOLTAGE  CURRENT  POWER  AGE")
        #expect(
            narrow.linesOfPicture(80).first == "1 meter, 1 with data, together 0.000 W · Ctrl-C ends")
        #expect(narrow.linesOfPicture(80).last == "store: the disk is full")
        #expect(narrow.linesOfPicture(12).suffix(2) == ["store: the", "disk is full"])
    }

    @Test func databaseThatTakesNothing_isInTheStatus() {
        var influx = InfluxStatus(url: "http://influx.lan:8086")
        let status = GatewayStatus(
            meters: [], store: StoreStatus(path: "p", unsaved: 0, saved: 0, dropped: 0, error: nil))
        let well = Status.look(at: status, nil, influx, fitting: nil)
        influx.error = "it answered 401"
        let refused = Status.look(at: status, nil, influx, fitting: nil)

        #expect(refused.talk == well.talk + ["influx: it answered 401"])
    }
}

/// The built program on a terminal of its own.
@Suite(
    .enabled(if: Program.path != nil && Program.daemonPath != nil, "the programs were not built: make build"),
    .timeLimit(.minutes(10)))
struct TopProgramTests {
    @Test(arguments: ["q", "SIGTERM", "SIGINT"])
    func terminal_isAsItWas_whicheverWayItEnds(_ end: String) throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        let terminal = try PseudoTerminalPair(rows: 24, columns: 80)
        let before = terminal.modes
        let process = try terminal.run(["top", "--socket", daemon.socket])

        let picture = try terminal.text(until: "q quits")
        #expect(picture.contains("\u{1B}[?1049h\u{1B}[?25l"))
        #expect(picture.contains("demo UM25C"))
        #expect(terminal.modes.c_lflag & tcflag_t(ICANON | ECHO) == 0)
        switch end {
        case "SIGTERM": kill(process.processIdentifier, SIGTERM)
        case "SIGINT": kill(process.processIdentifier, SIGINT)
        default: terminal.type("q")
        }
        _ = try terminal.text(until: "\u{1B}[?25h\u{1B}[?1049l")
        process.waitUntilExit()

        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
        #expect(terminal.modes.c_lflag == before.c_lflag)
    }

    @Test func top_needsATerminal() throws {
        let run = try Program.run(["top", "--socket", "/nonexistent/s"])

        #expect(run.status == 2)
        #expect(
            run.talk == "meterctl: error: the output is not a terminal, and top fills one\n"
                + "for a program: meterctl status --watch --json\n")
    }

    @Test func statusOnATerminal_isRedrawnInPlace() throws {
        let daemon = try DemoDaemon()
        defer { daemon.end() }
        let terminal = try PseudoTerminalPair(rows: 24, columns: 80)
        let process = try terminal.run(["status", "--watch", "--socket", daemon.socket])
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        // The power of four meters is never the same twice.
        let first = try terminal.text(until: "Ctrl-C ends")
        let second = try terminal.text(until: "Ctrl-C ends")

        // It begins where the first one did, and nothing clears the screen.
        let up = try Regex("\\r\u{1B}\\[[0-9]+A")
        #expect(!first.contains(up) && second.contains(up))
        #expect(!(first + second).contains("\u{1B}[2J"))
    }
}

/// A terminal for one program, and the keyboard and screen of it for a test.
final class PseudoTerminalPair {
    private let screen: FileHandle
    private let program: FileHandle

    init(rows: UInt16, columns: UInt16) throws {
        var (leader, follower) = (Int32(-1), Int32(-1))
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(openpty(&leader, &follower, nil, nil, &size) == 0)
        screen = FileHandle(fileDescriptor: leader, closeOnDealloc: true)
        program = FileHandle(fileDescriptor: follower, closeOnDealloc: true)
    }

    var modes: termios {
        var modes = termios()
        tcgetattr(screen.fileDescriptor, &modes)
        return modes
    }

    /// From then on the terminal is the program's alone, so that its end can be seen.
    func run(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Program.path))
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"]
        (process.standardInput, process.standardOutput, process.standardError) = (program, program, program)
        try process.run()
        try program.close()
        return process
    }

    func type(_ text: String) { try? screen.write(contentsOf: Data(text.utf8)) }

    /// What the program writes, up to and with a text.
    func text(until end: String) throws -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !text.contains(end) {
            // A terminal that nobody has any more gives an error instead of an end.
            let count = read(screen.fileDescriptor, &buffer, buffer.count)
            try #require(count > 0, "it ended: \(text)")
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return text
    }
}
