import Domain
import Foundation
import MeterCodec
import MeterTestKit
import Testing
import USBTransport

struct UdevRulesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let files = ["60-meter-gateway.rules", "61-meter-gateway-access.rules"]

    private func rules(_ file: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: "udev/\(file)"), encoding: .utf8)
    }

    @Test func rules_areWhatTheListGives() throws {
        let folder = try TemporaryFolder()
        let writer = Process()
        writer.executableURL = Self.root.appending(path: "Scripts/write-udev-rules")
        writer.arguments = [folder.path]
        try writer.run()
        writer.waitUntilExit()
        #expect(writer.terminationStatus == 0)
        for file in Self.files {
            let made = try String(contentsOfFile: "\(folder.path)/\(file)", encoding: .utf8)
            #expect(try rules(file) == made, "\(file) is old: Scripts/write-udev-rules")
        }
    }

    @Test func rules_nameEveryModelOfTheList() throws {
        let text = try rules(Self.files[0])
        for row in DeviceTable.builtIn.rows {
            #expect(text.contains("ENV{METER_MODEL}=\"\(row.model.rawValue)\""))
        }
    }

    /// udev(7): expressions set off by commas, each a key, an operator and a value. `udevadm verify` comes with
    /// version 254 only; an expression that udevd does not know makes it skip the line.
    @Test(arguments: files)
    func rules_areOfUdevsForm(file: String) throws {
        let matches = #"(ACTION|SUBSYSTEM|KERNEL|ENV\{\w+\}|ATTRS\{\w+\})(==|!=)"[^"]+""#
        let assignments = #"(GOTO|LABEL|GROUP|MODE|ENV\{\w+\}|IMPORT\{builtin\})="[^"]+"|TAG\+="[^"]+""#
        let line = try Regex("(\(matches)|\(assignments))(, (\(matches)|\(assignments)))*")
        let lines = try rules(file).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count > 3)
        for text in lines { #expect(text.wholeMatch(of: line) != nil, "\(text)") }
        let targets = lines.filter { $0.contains("GOTO=") }.compactMap { $0.split(separator: "\"").last }
        for target in targets { #expect(lines.contains("LABEL=\"\(target)\"")) }
    }

    @Test func vendorsOfManyThings_areNamedWithAText() throws {
        let lines = try rules(Self.files[0]).split(separator: "\n")
        for vendor in DeviceTable.ambiguousVendors {
            let id = String(vendor, radix: 16)
            let claims = lines.filter {
                $0.contains("ATTRS{idVendor}==\"\(String(repeating: "0", count: 4 - id.count))\(id)\"")
            }
            let products = DeviceTable.builtIn.metersOwnProducts(of: vendor)
            let own = products.map { "ATTRS{idProduct}==\"\($0.fourHexDigits)\"" }
            #expect(
                claims.allSatisfy { claim in
                    claim.contains("ATTRS{manufacturer}") || claim.contains("ATTRS{product}")
                        || own.contains { claim.contains($0) }
                })
        }
    }
}
