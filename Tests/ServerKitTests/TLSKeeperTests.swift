import Domain
import Foundation
import MeterTestKit
import ServerKit
import Synchronization
import Testing

/// The certificate of a listener: kept by somebody else or made here, and read again.
struct TLSKeeperTests {
    private static let start = WallTime(millisecondsSince1970: 1_795_000_000_000)
    private static let terms = CertificateTerms(commonName: "meterd", daysValid: 100, renewalDays: 30)

    private let folder: TemporaryFolder
    private let files: CertificateFiles
    private let log = LogBook()

    init() throws {
        folder = try TemporaryFolder()
        files = CertificateFiles(certificatePath: "\(folder.path)/c.pem", keyPath: "\(folder.path)/k.pem")
    }

    private func certificate() throws -> ServerCertificate {
        try ServerCertificate.make(Self.terms, names: ["pi"], at: Self.start)
    }

    /// Each is a new file, as ACME clients make them.
    private func write(_ certificate: String, _ key: String) throws {
        try Data(certificate.utf8).write(to: URL(filePath: files.certificatePath), options: .atomic)
        try Data(key.utf8).write(to: URL(filePath: files.keyPath), options: .atomic)
    }

    @Test func renewedFiles_areTaken_andBrokenOnesAreNot() throws {
        let (first, second) = (try certificate(), try certificate())
        let keeper = TLSKeeper(files, .given, wallNow: { Self.start }, logger: log.logger)

        #expect(keeper.context() == nil)
        #expect(keeper.report().error == "\(files.certificatePath) is missing")
        try write(first.certificatePEM, first.keyPEM)
        let good = keeper.report()
        #expect(keeper.context() != nil)
        #expect(good.error == nil)
        #expect(good.end == Self.start + .seconds(99 * 86_400))
        #expect(good.fingerprint?.wholeMatch(of: /([0-9A-F]{2}:){31}[0-9A-F]{2}/) != nil)

        // As an ACME client leaves them between its two writes, and other damage.
        for (certificate, key, problem) in [
            (second.certificatePEM, first.keyPEM, "the certificate is not of this key"),
            ("", first.keyPEM, "the certificate is not in PEM"),
            (first.certificatePEM, "-----BEGIN ENCRYPTED PRIVATE KEY-----", "the key is not in PEM, or encrypted"),
        ] {
            try write(certificate, key)
            let before = log.entries(saying: "old certificate stays in use").count
            for _ in 0..<2 {
                #expect(keeper.context() != nil)
                #expect(keeper.report().fingerprint == good.fingerprint)
                #expect(keeper.report().error?.hasSuffix(problem) == true)
            }
            #expect(log.entries(saying: "old certificate stays in use").count == before + 1)
        }
        try write(second.certificatePEM, second.keyPEM)
        #expect(keeper.report().error == nil)
        #expect(keeper.report().fingerprint != good.fingerprint)
    }

    @Test func ownCertificate_isRenewedBeforeItEnds_andForANewName_underItsKey() throws {
        let now = Mutex(Self.start)
        let names = Mutex<(Set<String>, more: Set<String>)>((["pi"], more: ["fd00::1"]))
        func make() -> TLSKeeper {
            TLSKeeper(
                files, .own(Self.terms) { names.withLock { $0 } }, wallNow: { now.withLock { $0 } }, logger: log.logger)
        }
        let keeper = make()
        let first = keeper.report()
        let key = try folder.bytes(of: files.keyPath)
        #expect(first.isOwn && first.error == nil)

        now.withLock { $0 = Self.start + .seconds(68 * 86_400) }
        #expect(keeper.report() == first)
        now.withLock { $0 = Self.start + .seconds(70 * 86_400) }
        let second = keeper.report()
        #expect(second.fingerprint != first.fingerprint)
        #expect(second.end == Self.start + .seconds(169 * 86_400))

        // An IPv6 address that went is no reason for another fingerprint, a name that came is.
        names.withLock { $0 = (["pi"], more: ["fd00::2"]) }
        #expect(make().report().fingerprint == second.fingerprint)
        names.withLock { $0 = (["pi", "pi.local"], more: ["fd00::2"]) }
        #expect(make().report().fingerprint != second.fingerprint)
        #expect(try folder.bytes(of: files.keyPath) == key)
    }
}
