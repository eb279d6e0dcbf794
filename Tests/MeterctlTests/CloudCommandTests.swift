import CloudAPI
import Domain
import Foundation
import GatewayAPI
import ProgramKit
import Testing

@testable import meterctl

struct CloudCommandTests {
    /// A file of its own with this text.
    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ctl-\(UUID().uuidString.prefix(8))")
        try Data(text.utf8).write(to: path)
        return path.path
    }

    @Test(arguments: ["mgt_abc-_123", "mgt_abc-_123\n", "  mgt_abc-_123\r\n\n"])
    func token_isTheOneWordOfTheFile(text: String) throws {
        let path = try file(text)
        // In the folder of temporary files a leftover does no harm.
        defer { try? FileManager.default.removeItem(atPath: path) }

        #expect(try Cloud.Join.token(in: path) == "mgt_abc-_123")
    }

    @Test(arguments: ["", "\n", "mgt_abc secret", "mgt_secret\u{0}", "mgt_sécret"])
    func fileWithoutAToken_isRefused_andNotShown(text: String) throws {
        let path = try file(text)
        // In the folder of temporary files a leftover does no harm.
        defer { try? FileManager.default.removeItem(atPath: path) }

        let failure = #expect(throws: CommandFailure.self) { try Cloud.Join.token(in: path) }

        #expect(failure?.status == .usage)
        #expect(failure?.message == "\(path) holds no token, which is one word")
        #expect(failure?.next.contains("secret") == false)
    }

    @Test func status_showsWhatThereIs() {
        var status = CloudStatus(
            joined: true, urls: ["https://a:1", "https://b:1"], host_id: "6f1c", host_name: "pi", connected: true)
        status.zone = "home"
        status.policy = "keep"
        status.clock_offset_ms = -2500
        status.error = "the token was revoked"

        #expect(
            Cloud.Status.table(status).lines == [
                "FIELD      VALUE", "joined     yes", "host       pi (6f1c)", "zone       home",
                "urls       https://a:1, https://b:1", "pin        –", "connected  yes", "policy     keep",
                "clock      2 s behind the cloud's", "error      the token was revoked",
            ])
    }

    @Test(arguments: [("full", "do everything"), ("readOnly", "only look: its token is read-only")])
    func status_saysWhatTheHostMayDo(role: String, words: String) {
        var status = CloudStatus(joined: true, host_id: "6f1c", host_name: "pi", connected: true)
        status.role = role

        #expect(Cloud.Status.table(status).lines.contains("may        \(words)"))
    }

    @Test func status_ofAHostOnItsOwn_saysHowToJoin() {
        #expect(
            Cloud.Status.table(CloudStatus(joined: false, host_id: "6f1c", host_name: "pi")).lines == [
                "FIELD   VALUE", "joined  no; meterctl cloud join URL --token-file FILE --pin sha256:…",
                "host    pi (6f1c)",
            ])
    }

    /// What strangers call themselves moves no cursor. With a pin, only clouds that announce it are offered.
    @Test func clouds_areOffered_withTheirFingerprints() throws {
        func cloud(_ name: String, _ pin: Character) -> FoundService {
            let text = "pin=sha256:" + String(repeating: pin, count: 64)
            return FoundService(
                name: name, host: "pi.local", port: 8643, text: [UInt8(text.utf8.count)] + Array(text.utf8))
        }
        let lamp = FoundService(name: "lamp", host: "lamp.local", port: 80, text: [])
        let found = FoundServices([lamp, cloud("home", "a"), cloud("\u{1B}[2Jevil", "b")], isCut: true)

        let all = CloudOffers(found, pin: nil)
        #expect(all.isCut)
        #expect(
            all.table.lines == [
                "   NAME           ADDRESS                FINGERPRINT",
                "1  \\u{1B}[2Jevil  https://pi.local:8643  sha256:" + String(repeating: "b", count: 64),
                "2  home           https://pi.local:8643  sha256:" + String(repeating: "a", count: 64),
            ])
        let pin = try #require(CertificatePin("sha256:" + String(repeating: "A", count: 64)))
        #expect(CloudOffers(found, pin: pin).clouds.map(\.name) == ["home"])
    }
}
