import CloudAPI
import Domain
import Testing

/// A cloud as others find it by mDNS.
struct AnnouncedCloudTests {
    private static let pin = "sha256:" + String(repeating: "ab", count: 32)

    private func found(_ text: [String], name: String = "cloud", host: String = "pi.local", port: Int = 8643)
        -> FoundService
    {
        FoundService(
            name: name, host: host, port: port, text: text.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) })
    }

    @Test func cloud_isWhatItAnnounces() throws {
        let pin = try #require(CertificatePin(Self.pin))
        let offer = AnnouncedCloud.offer(port: 8643, pin: pin, version: "1.2")
        #expect(offer.text == ["version=1.2", "pin=\(Self.pin)"] && offer.port == 8643)
        // A type's name has at most 15 characters (RFC 6335, section 5.1).
        #expect(offer.type == "_metercloud._tcp")
        let cloud = try #require(AnnouncedCloud(found(offer.text)))
        #expect((cloud.name, cloud.url, cloud.pin) == ("cloud", "https://pi.local:8643", pin))
    }

    /// Strangers send anything.
    @Test(arguments: [
        ([], "pi.local", 8643), (["pin"], "pi.local", 8643), (["pin=sha256:ab"], "pi.local", 8643),
        ([pin], "pi.local", 8643), (["pin=\(pin)"], "pi.local/x@evil", 8643), (["pin=\(pin)"], "pi\u{1B}[2J", 8643),
        (["pin=\(pin)"], "", 8643), (["pin=\(pin)"], "pi.local", 0), (["pin=\(pin)"], "-pi", 8643),
    ])
    func serviceThatIsNoCloud_isNone(text: [String], host: String, port: Int) {
        #expect(AnnouncedCloud(found(text, host: host, port: port)) == nil)
    }
}
