import Logging
import Testing

@testable import ProgramKit

struct LogFormatTests {
    private func line(_ message: Logger.Message, _ metadata: Logger.Metadata, level: Logger.Level = .info) -> String {
        var format = LogFormat(stampsTime: false)
        format[metadataKey: "meter.id"] = "AA:BB:CC:DD:EE:FF"
        return format.line(
            for: LogEvent(
                level: level, message: message, metadata: metadata, source: "test", file: "f", function: "g", line: 1))
    }

    @Test func line_hasTheMeterFirst_andTheCauseLast() {
        let text = line("meter state changed", ["to": "ready", "cause": "line set up", "from": "connected"])

        #expect(
            text
                == "info  meter state changed meter.id=AA:BB:CC:DD:EE:FF from=connected to=ready cause=\"line set up\"\n"
        )
    }

    @Test func controlCharacters_neverReachTheTerminal() {
        let text = line("bytes skipped", ["cause": "\u{1B}[2J\nerror forged=1 \"x\"\u{7F}"], level: .error)

        #expect(
            text == "error bytes skipped meter.id=AA:BB:CC:DD:EE:FF cause=\"\\u{1B}[2J\\nerror forged=1 'x'\\u{7F}\"\n")
    }

    @Test func emptyValue_showsAsEmpty() {
        #expect(line("x", ["to": ""]).contains(" to=\"\""))
    }
}
