import Cloud
import Domain
import Foundation
import MeterTestKit
import Testing

@testable import CloudEtcd

/// A real etcd behind TLS, with certificates that openssl makes.
@Suite(
    .enabled(
        if: EtcdServer.program != nil && OpenSSLProgram.path != nil,
        "etcd or openssl is missing: sudo apt-get install etcd-server openssl"))
struct EtcdTLSTests {
    @Test func engine_knowsEtcdByItsCertificate_andIsKnownByItsOwn() async throws {
        let folder = try TemporaryFolder()
        try OpenSSLProgram.makeCertificate(in: folder.path)
        let (certificate, key) = ("\(folder.path)/cert.pem", "\(folder.path)/key.pem")
        let server = try EtcdServer(
            scheme: "https",
            options: [
                "--cert-file", certificate, "--key-file", key, "--client-cert-auth", "--trusted-ca-file", certificate,
            ])
        try server.start()
        var settings = server.settings
        (settings.authorities, settings.certificate, settings.key) = (certificate, certificate, key)

        let engine = try await EtcdCloudEngine.open(settings)
        #expect(try await engine.createZone("home", terms: .standard).name == "home")
        await engine.close()

        settings.answerTimeout = .seconds(2)
        settings.patience = .seconds(1)
        for change in [\EtcdSettings.authorities, \.certificate] {
            var strange = settings
            strange[keyPath: change] = nil
            if change == \.certificate { strange.key = nil }
            await #expect(throws: EtcdError.self) { _ = try await EtcdCloudEngine.open(strange) }
        }
        settings.authorities = "\(folder.path)/none.pem"
        let error = await #expect(throws: EtcdError.self) { _ = try await EtcdCloudEngine.open(settings) }
        #expect(error?.code == .badSetting)
    }
}

extension OpenSSLProgram {
    /// `cert.pem` and `key.pem`, for 127.0.0.1, signed by itself.
    static func makeCertificate(in folder: String) throws {
        try run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj",
            "/CN=etcd", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "extendedKeyUsage=serverAuth,clientAuth",
            "-keyout", "\(folder)/key.pem", "-out", "\(folder)/cert.pem",
        ])
    }
}
