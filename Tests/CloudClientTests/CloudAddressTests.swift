import CloudAPI
import CloudClient
import Domain
import Testing

struct CloudAddressTests {
    @Test(arguments: [
        ("https://pi.local:8643", "pi.local"), ("https://pi.local/", "pi.local"), ("HTTPS://[fe80::1]:8643", "fe80::1"),
        ("http://127.0.0.1:8643", "127.0.0.1"), ("http://localhost", "localhost"), ("http://[::1]:1", "::1"),
    ])
    func address_isTaken(text: String, host: String) throws {
        let address = try CloudAddress(text)

        #expect(address.host == host)
        #expect(!address.text.hasSuffix("/"))
    }

    @Test(arguments: [
        "", "pi.local:8643", "ftp://pi.local", "https://", "https://pi.local/path", "https://user@pi.local",
        "https://pi .local", "http://pi.local:8643", "http://127.evil.example", "http://10.0.0.1",
    ])
    func address_isRefused_beforeATokenIsSentThere(text: String) {
        #expect(throws: SyncFailure.self) { try CloudAddress(text) }
    }

    @Test func membership_showsNoToken() {
        let membership = CloudMembership(urls: ["https://pi"], zone: "home", token: Secret("mgt_top"), pin: nil)

        #expect(!"\(membership)".contains("mgt_top"))
        #expect(!String(reflecting: membership).contains("mgt_top"))
    }

    @Test func pin_readsWhatItPrints_andNothingElse() {
        let text = "sha256:" + String(repeating: "0f", count: 32)

        #expect(CertificatePin(text)?.description == text)
        #expect(CertificatePin(" SHA256:" + String(repeating: "0F", count: 32))?.description == text)
        #expect(CertificatePin("sha1:" + String(repeating: "0f", count: 32)) == nil)
        #expect(CertificatePin("sha256:0f") == nil)
        #expect(CertificatePin("") == nil)
    }
}
