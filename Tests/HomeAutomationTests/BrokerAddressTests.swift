import Foundation
import MeterTestKit
import Testing

@testable import HomeAutomation

struct BrokerAddressTests {
    @Test(arguments: [
        ("mqtt://localhost", "mqtt://localhost:1883", true), ("MQTTS://broker.lan", "mqtts://broker.lan:8883", false),
        ("mqtts://broker:1234/", "mqtts://broker:1234", false), ("mqtt://[::1]:99", "mqtt://[::1]:99", true),
        ("mqtt://127.0.0.1", "mqtt://127.0.0.1:1883", true), ("mqtt://127.evil.org", "mqtt://127.evil.org:1883", false),
    ])
    func address_isRead(text: String, means: String, isLoopback: Bool) throws {
        let address = try BrokerAddress(text)

        #expect(address.description == means)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "broker", "http://broker", "mqtt://", "mqtt://:1883", "mqtt://a:0", "mqtt://a:x", "mqtt://a b",
        "mqtt://a/b", "mqtt://a?b", "mqtt://[::1", "mqtt://\u{0}",
    ])
    func anythingElse_isRefused(text: String) {
        #expect(throws: HomeAutomationError.self) { try BrokerAddress(text) }
    }

    @Test(arguments: ["mqtt://user:s3cret@broker", "http://user:s3cret@broker"])
    func password_isNotRepeated(text: String) {
        var said = ""

        do { _ = try BrokerAddress(text) } catch { said = error.description }

        #expect(!said.isEmpty && !said.contains("s3cret"))
    }
}

struct BrokerCredentialsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String, mode: Int = 0o600) throws -> String {
        let path = "\(folder.path)/broker"
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func refusal(_ path: String) -> String? {
        do {
            _ = try BrokerCredentials(file: path)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: ["meterd\ns3cret", "meterd\ns3cret\n", "meterd\r\ns3cret\r\n", "meterd\ns3cret\n\n"])
    func twoLines_areUserAndPassword(text: String) throws {
        let credentials = try BrokerCredentials(file: file(text))

        #expect(credentials.user == "meterd")
        #expect(credentials.password == "s3cret")
    }

    @Test func password_isNeverPrinted() throws {
        let credentials = try BrokerCredentials(file: file("meterd\ns3cret\n"))
        var dumped = ""
        dump(credentials, to: &dumped)

        for text in ["\(credentials)", String(reflecting: credentials), dumped] { #expect(!text.contains("s3cret")) }
    }

    @Test(arguments: [0o644, 0o604, 0o666, 0o620, 0o602])
    func fileOpenToOthers_isRefused(mode: Int) throws {
        let path = try file("meterd\ns3cret\n", mode: mode)

        #expect(refusal(path)?.contains("open to others") == true)
    }

    @Test(arguments: [0o600, 0o400, 0o640, 0o440])
    func fileOfAGroup_isRead(mode: Int) throws {
        #expect(try refusal(file("meterd\ns3cret\n", mode: mode)) == nil)
    }

    @Test(arguments: [
        "", "meterd", "meterd\n", "\ns3cret", "a\nb\nc", "a\n\u{1}b", String(repeating: "x", count: 5000),
    ])
    func anythingElse_isRefused_withoutItsContent(text: String) throws {
        let said = try #require(try refusal(file(text)))

        #expect(said.contains("does not hold a user and a password"))
        #expect(!said.contains("xxx"))
    }

    @Test func missingFile_folderAndPipe_areRefused() {
        #expect(refusal("\(folder.path)/none")?.contains("No such file") == true)
        #expect(refusal(folder.path) != nil)
        let pipe = "\(folder.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(refusal(pipe)?.contains("is not a file") == true)
    }
}
