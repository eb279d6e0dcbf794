import CloudAPI
import CloudServer
import Domain
import NIOSSL
import ServerKit
import Testing

@testable import CloudClient

/// Who is spoken to, and that nobody else hears a word.
@Suite(.timeLimit(.minutes(10)))
struct PinnedConnectionTests {
    private func membership(_ url: String, pin: CertificatePin?, token: String = "mgt_secret") -> CloudMembership {
        CloudMembership(urls: [url], zone: "home", token: Secret(token), pin: pin)
    }

    private func failure(of client: CloudClient) async throws -> SyncFailure {
        var found: SyncFailure?
        try await closing(client) {
            do throws(SyncFailure) {
                _ = try await client.account()
            } catch {
                found = error
            }
        }
        return try #require(found)
    }

    @Test func cloudWithThePin_isSpokenTo_underAnyNameAndDate() async throws {
        try await withCloud { cloud in
            // Its certificate is for another name, of nobody known, and made years ahead of some Pi's clock.
            let client = try await cloud.client("pi-a", host: HostID(high: 1, low: 1))

            try await closing(client) {
                let account = try await client.account()

                #expect(account.hostName == "pi-a")
                #expect(account.zone == LocalCloud.zone)
            }
        }
    }

    @Test func serverWithAnotherKey_getsNoByteOfARequest_andIsLeft() async throws {
        let certificate = try ServerCertificate.make(.cloud, names: ["localhost"], at: LocalCloud.now)
        let joined = try ServerCertificate.make(.cloud, names: ["localhost"], at: LocalCloud.now)
        let server = try await WireServer.start(.closing("HTTP/1.1 200 OK\r\n\r\n"), certificate: certificate)
        let url = "https://127.0.0.1:\(server.port)"

        let failure = try await failure(of: try CloudClient(membership(url, pin: joined.pin), patience: .loaded))

        #expect(failure.kind == .wrongCertificate)
        #expect(failure.message.contains("\(certificate.pin)"))
        #expect(!failure.message.contains("mgt_secret"))
        await server.awaitClosings(1)
        #expect(server.received.isEmpty)
        try await server.stop()
    }

    @Test func selfMadeCertificate_isNotTrusted_withoutItsPin() async throws {
        let certificate = try ServerCertificate.make(.cloud, names: ["127.0.0.1"], at: LocalCloud.now)
        let server = try await WireServer.start(.closing("HTTP/1.1 200 OK\r\n\r\n"), certificate: certificate)
        let url = "https://127.0.0.1:\(server.port)"

        let failure = try await failure(of: try CloudClient(membership(url, pin: nil), patience: .loaded))

        #expect(failure.kind == .network)
        #expect(failure.message.contains("--pin"), "\(failure.message)")
        #expect(server.received.isEmpty)
        try await server.stop()
    }

    /// As NIOSSL says it where /etc/ssl/certs/ca-certificates.crt does not exist: seen in a Debian 13 without that package.
    @Test func systemWithoutAuthorities_isSaid_withWhatToInstall() {
        let words = SyncFailure.words(for: BoringSSLError.unknownError([]))

        #expect(words.contains("ca-certificates") && words.contains("--pin"))
    }

    @Test func pin_isRefused_whereNothingIsEncrypted() throws {
        let certificate = try ServerCertificate.make(.cloud, names: ["localhost"], at: LocalCloud.now)

        let failure = #expect(throws: SyncFailure.self) {
            try CloudClient(membership("http://127.0.0.1:1", pin: certificate.pin))
        }

        #expect(failure?.kind == .badRequest)
    }

    @Test(arguments: ["", "mgt_top secret", "mgt_top\nsecret", "mgt_töp", String(repeating: "x", count: 5000)])
    func tokenThatIsNone_isRefused_andNotShown(token: String) {
        let failure = #expect(throws: SyncFailure.self) {
            try CloudClient(membership("http://127.0.0.1:1", pin: nil, token: token))
        }

        #expect(failure?.kind == .badRequest)
        #expect(failure?.message.contains("top") == false)
    }

    @Test func addressAfterTheFirst_isTried_whenThatIsGone() async throws {
        try await withCloud { cloud in
            var membership = try await cloud.join(cloud.request("pi-a"))
            // A port that nobody is given: one that was just free may be another test's by now.
            membership.urls.insert("https://127.0.0.1:1", at: 0)
            let client = try CloudClient(membership, patience: .loaded)

            try await closing(client) {
                await #expect(throws: SyncFailure.self) { try await client.account() }
                let account = try await client.account()
                #expect(account.hostName == "pi-a")
            }
        }
    }

    @Test func nextAddress_isAsked_onceACopyHasEndedTheEventStream() async throws {
        let stopping = try await WireServer.start(
            .closing("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 0\r\n\r\n"))
        let client = try CloudClient(
            CloudMembership(
                urls: ["http://127.0.0.1:\(stopping.port)", "http://127.0.0.1:1"], zone: "home", token: Secret("mgt_x"),
                pin: nil))
        try await closing(client) {
            await #expect(throws: SyncFailure.self) { for try await _ in client.events() {} }

            // No call to the first has failed, and yet none goes there any more.
            let failure = await #expect(throws: SyncFailure.self) { try await client.account() }
            #expect(failure?.message.contains("127.0.0.1:1 ") == true, "\(String(describing: failure))")
        }
        try await stopping.stop()
    }

    // MARK: - Joining

    @Test func join_bringsATokenOfTheHostsOwn() async throws {
        try await withCloud { cloud in
            let membership = try await cloud.join(cloud.request("pi-a"))

            #expect(membership.zone == LocalCloud.zone)
            #expect(membership.token != cloud.enrolment)
            #expect(membership.pin == cloud.certificate.pin)
        }
    }

    @Test func join_keepsTheToken_thatIsTheHostsOwnAlready() async throws {
        try await withCloud { cloud in
            let first = try await cloud.join(cloud.request("pi-a"))

            let again = try await cloud.join(cloud.request("pi-a"), token: first.token)

            #expect(again == first)
        }
    }

    @Test func join_isRefused_withATokenThatNobodyKnows() async throws {
        try await withCloud { cloud in
            let failure = await #expect(throws: SyncFailure.self) {
                try await cloud.join(cloud.request("pi-a"), token: Secret("mgt_unknown"))
            }

            #expect(failure?.kind == .notAuthenticated)
            #expect(failure?.message.contains("mgt_unknown") == false)
        }
    }

    @Test func join_isRefused_forACopyOfAHost() async throws {
        try await withCloud { cloud in
            _ = try await cloud.join(cloud.request("pi-a", machine: "one"))

            let failure = await #expect(throws: SyncFailure.self) {
                try await cloud.join(cloud.request("pi-a", machine: "other"))
            }

            #expect(failure?.kind == .permissionDenied)
        }
    }
}
