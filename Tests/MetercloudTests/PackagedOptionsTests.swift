import ArgumentParser
import Foundation
import Testing

@testable import metercloud

/// Packaging/metercloud.default, which the package installs as /etc/default/metercloud.
struct PackagedOptionsTests {
    private func file() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "Packaging/metercloud.default"), encoding: .utf8)
    }

    private func options(in text: String, _ pattern: Regex<(Substring, Substring)>) -> Set<String> {
        Set(text.split(separator: "\n").compactMap { $0.prefixMatch(of: pattern).map { String($0.1) } })
    }

    @Test func everyOption_isExplained_andNoOther() throws {
        let explained = options(in: try file(), #/# (--[a-z-]+)/#)
        let taken = options(in: Serve.helpMessage(), #/  (--[a-z-]+)/#).subtracting(["--version"])
        #expect(taken.count > 10)
        #expect(explained == taken, "Packaging/metercloud.default: \(explained.symmetricDifference(taken).sorted())")
    }

    /// A shell and systemd read it alike: one assignment, of nothing.
    @Test func asInstalled_itGivesNone() throws {
        let lines = try file().split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines == [#"METERCLOUD_OPTIONS="""#])
    }

    @Test func itsExample_isTaken() throws {
        let example = try #require(try file().firstMatch(of: #/#   METERCLOUD_OPTIONS="([^"]+)"/#)).1
        let arguments = ["serve"] + example.split(separator: " ").map(String.init)
        let serve = try #require(try Metercloud.parseAsRoot(arguments) as? Serve)
        #expect(serve.listen.port == 9643)
        #expect(serve.name == ["meters.example.org"])
    }
}
