import AsyncHTTPClient
import Cloud
import CloudAPI
import CloudServer
import Domain
import Foundation
import Hummingbird
import Logging
import MeterTestKit
import NIOCore
import NIOSSL
import ServerKit
import ServiceLifecycle
import Testing

/// The certificate that the cloud makes for itself, and the folder that keeps it.
@Suite(.timeLimit(.minutes(10)))
struct CertificateTests {
    private static let now = CloudBench.start

    @Test func certificate_readsBack_withItsNamesAndPin() throws {
        let names: Set = ["pi.local", "192.168.1.5", "fd00::1"]

        let made = try ServerCertificate.make(.cloud, names: names, at: Self.now)
        let read = try ServerCertificate(certificatePEM: made.certificatePEM, keyPEM: made.keyPEM)

        #expect(made.names == names)
        #expect(read.names == names)
        #expect(read.pin == made.pin)
    }

    @Test func pin_isOfThePublicKey_asTheTLSLibrarySeesIt() throws {
        let made = try ServerCertificate.make(.cloud, names: ["localhost"], at: Self.now)

        let certificate = try NIOSSLCertificate(bytes: Array(made.certificatePEM.utf8), format: .pem)
        let key = try certificate.extractPublicKey().toSPKIBytes()

        #expect(key.count == 91)
        #expect(Array(try #require(Data(base64Encoded: Self.publicKey(of: made))).suffix(64)) == Array(key.suffix(64)))
        #expect("\(made.pin)".hasPrefix("sha256:"))
        #expect("\(made.pin)".count == 71)
    }

    /// The key's public half stands at the end of its private form.
    private static func publicKey(of certificate: ServerCertificate) -> String {
        certificate.keyPEM.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
    }

    @Test func newNames_makeANewCertificate_underTheSamePin() throws {
        let first = try ServerCertificate.make(.cloud, names: ["a"], at: Self.now)

        let second = try ServerCertificate.make(.cloud, names: ["b"], keyPEM: first.keyPEM, at: Self.now)

        #expect(second.pin == first.pin)
        #expect(second.certificatePEM != first.certificatePEM)
    }

    @Test(arguments: [WallTime(millisecondsSince1970: 0), WallTime(millisecondsSince1970: 4_000_000_000_000)])
    func clockThatIsWrong_makesACertificateAllTheSame(now: WallTime) throws {
        let made = try ServerCertificate.make(.cloud, names: ["a"], at: now)

        #expect(try ServerCertificate(certificatePEM: made.certificatePEM, keyPEM: made.keyPEM).names == ["a"])
    }

    @Test func certificateOfAnotherKey_isRefused() throws {
        let (one, other) = (
            try ServerCertificate.make(.cloud, names: ["a"], at: Self.now),
            try ServerCertificate.make(.cloud, names: ["a"], at: Self.now)
        )

        #expect(throws: CertificateError("the certificate is not of this key")) {
            try ServerCertificate(certificatePEM: one.certificatePEM, keyPEM: other.keyPEM)
        }
        #expect(throws: CertificateError.self) { try ServerCertificate(certificatePEM: "x", keyPEM: "y") }
    }

    /// As version 0.1.0 of November 2026 wrote them, by swift-certificates; the pin is what `openssl pkey -pubout -outform
    /// DER | sha256sum` makes of the key. Hosts that joined by it still know this cloud.
    @Test func certificateOfAnEarlierVersion_isReadUnderTheSamePin() throws {
        let read = try ServerCertificate(certificatePEM: Self.earlierCertificate, keyPEM: Self.earlierKey)
        let renewed = try ServerCertificate.make(.cloud, names: ["a"], keyPEM: Self.earlierKey, at: Self.now)

        let pin = "sha256:e829bafc12a67739f960927bb65ab28d161d2d3b6efe6f2d4fac42f2f9d5d044"
        #expect("\(read.pin)" == pin)
        #expect(
            read.names == [
                "127.0.0.1", "192.0.2.2", "192.168.1.5", "::1", "fd00::2", "localhost", "pi.local", "vm", "vm.local",
            ])
        #expect("\(renewed.pin)" == pin)
        #expect(renewed.keyPEM.filter { !$0.isNewline } == Self.earlierKey.filter { !$0.isNewline })
    }

    /// What another program reads in it. Addresses are as it writes them.
    @Test(.enabled(if: OpenSSLProgram.path != nil, "openssl is not installed: sudo apt-get install openssl"))
    func certificate_saysWhatAServerOfItsOwnSays() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/certificate.pem"
        let made = try ServerCertificate.make(
            .cloud, names: ["pi.local", "a,DNS:b", "192.168.1.5", "fd00::1"], at: Self.now)
        try Data(made.certificatePEM.utf8).write(to: URL(filePath: path))

        // OpenSSL 3.2 left out the blanks beside the equals sign.
        let text = try OpenSSLProgram.run(["x509", "-in", path, "-noout", "-text"]).replacing(" = ", with: "=")

        #expect(text.contains("Version: 3 (0x2)"))
        #expect(text.contains("Issuer: CN=metercloud"))
        #expect(text.contains("Subject: CN=metercloud"))
        #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256"))
        #expect(text.contains("NIST CURVE: P-256"))
        #expect(text.contains("X509v3 Basic Constraints: critical\n                CA:TRUE, pathlen:0"))
        #expect(text.contains("X509v3 Key Usage: critical\n                Digital Signature, Certificate Sign"))
        #expect(text.contains("TLS Web Server Authentication"))
        #expect(
            text.contains("IP Address:192.168.1.5, DNS:a,DNS:b, IP Address:FD00:0:0:0:0:0:0:1, DNS:pi.local"))
    }

    @Test(arguments: [
        "", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", CertificateTests.encryptedKey,
        CertificateTests.keyOfAnotherCurve,
    ])
    func keyThatIsNone_isRefused_andAsksNobody(pem: String) {
        #expect(throws: CertificateError.self) {
            try ServerCertificate.make(.cloud, names: ["a"], keyPEM: pem, at: Self.now)
        }
    }

    /// Made by `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes-256-cbc -pass pass:x`.
    private static let encryptedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAi84Q/SsBWQIgICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKm01IUP8s20FmQj66SEnygEgZCd
        CM0BnC1PmXbZ1Ns+tMQb/xTkfEFcphNK6NA2nZhDJghraxltxfZoqZhyJNsFZ5cB
        z3waocPrNNdtkTKXqYa2ADLk6cWOdXIgjXqU3ejPrKzFD5ur7OOs6RMO8GmSd1Em
        CH4OQtHjA37RYJt+QYrrpqa6Ty6ic2q2r02f/oyKXrx3YvJq4VjMzTmXtffsH/4=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// Made by `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384`.
    private static let keyOfAnotherCurve = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDs3HZdKtBdSO+JyuSi
        43dI37u2BZ4lLDT1bMM90KaeahOVMvoGaNvp1kJXVIoRfo2hZANiAARcuFuOQbiz
        YMy6yJPrXHCIihb3WRKM+RTp5py1w2ftVCyQThadIOtqGIbUSfmttd9nje6JHo03
        QuXYI/IT+oAsUHGVc+aDOQg7e5QJWY7KWH80uJ7y8BkjBBacgC0Vfi8=
        -----END PRIVATE KEY-----
        """

    private static let earlierCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBzTCCAXOgAwIBAgIUQjHcOoQrdYoirMlimdpoUb0ec1QwCgYIKoZIzj0EAwIw
        FTETMBEGA1UEAwwKbWV0ZXJjbG91ZDAeFw0yNjExMjYwNDM5MjlaFw00NjExMjYw
        NDM5MjlaMBUxEzARBgNVBAMMCm1ldGVyY2xvdWQwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAS1KarE+Ob546PgKFo9xFrGVQwBiIg9W79CsoeegzqbTkwb6EsQdYZb
        ImQgSnrocYbbYxIXXDnDlKuLldcLJMP5o4GgMIGdMBIGA1UdEwEB/wQIMAYBAf8C
        AQAwDgYDVR0PAQH/BAQDAgKEMBMGA1UdJQQMMAoGCCsGAQUFBwMBMGIGA1UdEQRb
        MFmHBH8AAAGHBMAAAgKHBMCoAQWHEAAAAAAAAAAAAAAAAAAAAAGHEP0AAAAAAAAA
        AAAAAAAAAAKCCWxvY2FsaG9zdIIIcGkubG9jYWyCAnZtggh2bS5sb2NhbDAKBggq
        hkjOPQQDAgNIADBFAiBox+Wg78fOJA7+MlGS4/oEQufjrfhPy2oLrurwSK5xMQIh
        ANl+Et5Z3nABY61hMqk3p3dcTFmYvuL/iG7Exo3daMMA
        -----END CERTIFICATE-----
        """

    private static let earlierKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgx429G3lRyCKz5pLj
        ORiv1q0dAYKeI2rS85TNEhnyXa6hRANCAAS1KarE+Ob546PgKFo9xFrGVQwBiIg9
        W79CsoeegzqbTkwb6EsQdYZbImQgSnrocYbbYxIXXDnDlKuLldcLJMP5
        -----END PRIVATE KEY-----
        """

    // MARK: The folder

    @Test func folder_keepsCertificateAndKey_forItsOwnerAlone() throws {
        let temporary = try TemporaryFolder()
        let folder = CloudFolder(path: temporary.path)

        let first = try folder.certificate(names: ["a", "b"], at: Self.now)
        let again = try folder.certificate(names: ["a"], at: Self.now)
        let more = try folder.certificate(names: ["a", "c"], at: Self.now)

        #expect(again.certificatePEM == first.certificatePEM)
        #expect(more.certificatePEM != first.certificatePEM)
        #expect(more.pin == first.pin)
        for path in [folder.certificatePath, folder.keyPath] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).count == 2)
    }

    @Test func firstStart_makesTheZone_andATokenThatJoins() async throws {
        let temporary = try TemporaryFolder()
        let folder = CloudFolder(path: temporary.path)
        let bench = try CloudBench()

        let isReady = try await folder.prepareFirstZone(of: bench.service, makeToken: CloudBench.makeToken)

        #expect(isReady)
        #expect(try await bench.service.zones().map(\.name) == ["home"])
        let text = try String(contentsOfFile: folder.enrolmentTokenPath, encoding: .utf8)
        let token = try #require(BearerToken(text: text.trimmingCharacters(in: .newlines)))
        #expect(try await bench.service.authenticate(hash: token.hash).credential.kind == .enrolment)
        let path = folder.enrolmentTokenPath
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func laterStart_keepsTheToken_andHealsACrashInBetween() async throws {
        let temporary = try TemporaryFolder()
        let folder = CloudFolder(path: temporary.path)
        let first = try CloudBench()
        _ = try await folder.prepareFirstZone(of: first.service, makeToken: CloudBench.makeToken)
        let text = try String(contentsOfFile: folder.enrolmentTokenPath, encoding: .utf8)

        let again = try await folder.prepareFirstZone(of: first.service, makeToken: CloudBench.makeToken)
        // The file was written, and the store never heard of it.
        let crashed = try CloudBench()
        let healed = try await folder.prepareFirstZone(of: crashed.service, makeToken: CloudBench.makeToken)

        #expect(again && healed)
        #expect(try await first.service.credentials(in: "home").count == 1)
        #expect(try await crashed.service.credentials(in: "home").count == 1)
        #expect(try String(contentsOfFile: folder.enrolmentTokenPath, encoding: .utf8) == text)
    }

    @Test func tokenThatWasRevokedOrRemoved_isNotMadeAgain() async throws {
        let temporary = try TemporaryFolder()
        let folder = CloudFolder(path: temporary.path)
        let bench = try CloudBench()
        _ = try await folder.prepareFirstZone(of: bench.service, makeToken: CloudBench.makeToken)
        let id = try #require(try await bench.service.credentials(in: "home").first?.id)
        try await bench.service.revokeCredential(id)

        let revoked = try await folder.prepareFirstZone(of: bench.service, makeToken: CloudBench.makeToken)
        try FileManager.default.removeItem(atPath: folder.enrolmentTokenPath)
        let removed = try await folder.prepareFirstZone(of: bench.service, makeToken: CloudBench.makeToken)

        #expect(!revoked)
        #expect(!removed)
        #expect(try await bench.service.credentials(in: "home").count == 1)
    }

    // MARK: TLS

    @Test func server_speaksTLS_andClientsThatKnowItsCertificateTrustIt() async throws {
        let bench = try CloudBench()
        let certificate = try ServerCertificate.make(.cloud, names: ["localhost", "127.0.0.1"], at: WallTime.today)
        let application = CloudApplication(
            routes: bench.routes, host: "127.0.0.1", port: 0,
            tls: try certificate.tlsConfiguration(), logger: bench.log.logger)
        let (ports, running) = AsyncStream.makeStream(of: Int.self)
        let group = ServiceGroup(
            services: [try application.service { running.yield($0) }],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let port = try #require(await ports.first { _ in true })

            #expect(try await Self.health(port, trusting: certificate).contains("ok"))
            await #expect(throws: (any Error).self) {
                let other = try ServerCertificate.make(.cloud, names: ["127.0.0.1"], at: WallTime.today)
                return try await Self.health(port, trusting: other)
            }

            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private static func health(_ port: Int, trusting certificate: ServerCertificate) async throws -> String {
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificatePEM.utf8)))
        configuration.tlsConfiguration = tls
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(configuration: configuration) { http in
            let request = HTTPClientRequest(url: "https://127.0.0.1:\(port)/v1/health")
            let answer = try await http.execute(request, timeout: .seconds(60))
            return String(buffer: try await answer.body.collect(upTo: 1 << 16))
        }
    }
}

extension WallTime {
    /// A certificate's dates are judged by the machine's own calendar.
    fileprivate static var today: WallTime {
        WallTime(millisecondsSince1970: Int64(Date(timeIntervalSinceNow: 0).timeIntervalSince1970 * 1000))
    }
}
