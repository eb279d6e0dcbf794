import CloudAPI
import CloudClient
import Domain
import GatewayAPI
import Logging
import MeterTestKit
import ServerKit
import Testing

@testable import meterd

/// A host follows the cloud that it serves itself to another address.
struct EmbeddedCloudTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func cloud(listen host: String, named name: String = "cloud") async throws -> EmbeddedCloud {
        var settings = Configuration.Cloud()
        settings.listen = Configuration.Cloud.Listen(host: host, port: 8643)
        return try await EmbeddedCloud(
            path: "\(folder.path)/\(name)", settings: settings, connections: ConnectionBounds(all: 1, perAddress: 1),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    private func member(of cloud: EmbeddedCloud, at urls: [String]) throws -> CloudMembership {
        let pin = try #require(cloud.joinRequest(port: 1)?.pin)
        return CloudMembership(urls: urls, zone: "home", token: Secret("mgt_x"), pin: CertificatePin(pin))
    }

    @Test(arguments: [
        ("0.0.0.0", ["https://127.0.0.1:8643"], nil),
        ("0.0.0.0", ["https://pi.local:8643"], nil),
        ("0.0.0.0", ["https://10.0.0.9:1", "https://192.168.1.7:8643"], nil),
        ("0.0.0.0", ["https://127.0.0.1:9000"], "https://127.0.0.1:8643"),
        ("::", ["https://[::1]:9000"], "https://127.0.0.1:8643"),
        ("::", ["https://[::1]:8643"], nil),
        // Without a port it is 443.
        ("0.0.0.0", ["https://127.0.0.1"], "https://127.0.0.1:8643"),
        ("192.168.1.7", ["https://127.0.0.1:8643"], "https://192.168.1.7:8643"),
        ("192.168.1.7", ["https://192.168.1.7:8643"], nil),
        ("192.168.1.7", ["https://pi.local:8643"], nil),
        ("::1", ["https://[0:0:0:0:0:0:0:1]:8643"], nil),
    ])
    func member_thatReachesItNoMore_isGivenItsAddress(listen: String, urls: [String], expected: String?) async throws {
        let cloud = try await cloud(listen: listen)
        defer { cloud.close() }

        #expect(cloud.newURL(for: try member(of: cloud, at: urls), port: 8643) == expected)
    }

    @Test func memberOfAnotherCloud_isLeftAlone() async throws {
        let own = try await cloud(listen: "0.0.0.0")
        let other = try await cloud(listen: "0.0.0.0", named: "other")
        defer {
            own.close()
            other.close()
        }
        var withoutPin = try member(of: own, at: ["https://127.0.0.1:9000"])
        withoutPin.pin = nil

        #expect(own.newURL(for: try member(of: other, at: ["https://127.0.0.1:9000"]), port: 8643) == nil)
        #expect(own.newURL(for: withoutPin, port: 8643) == nil)
    }

    @Test func address_staysAfterAReopening_asTheKeyDoes() async throws {
        let before = try await cloud(listen: "127.0.0.1")
        let membership = try member(of: before, at: ["https://127.0.0.1:8643"])
        before.close()
        let after = try await cloud(listen: "192.168.1.7")
        defer { after.close() }

        #expect(after.newURL(for: membership, port: 9000) == "https://192.168.1.7:9000")
    }
}
