import CloudAPI
import CloudClient
import Foundation
import Gateway
import MeterTestKit
import Testing

@testable import meterd

struct MembershipFileTests {
    private let membership = CloudMembership(
        urls: ["https://pi:8643"], zone: "home", token: Secret("mgt_x"), pin: CertificatePin(digest: Array(0..<32)))

    @Test func file_readsWhatItWrote_andOnlyItsOwnerMay() throws {
        let folder = try TemporaryFolder()
        let file = MembershipFile(path: folder.path + "/cloud.json")

        try file.write(membership)
        try file.write(membership)
        let read = try file.read()

        #expect(read == membership)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cloud.json"])
    }

    @Test func missingFile_isNoMembership_andRemovingItIsNoError() throws {
        let folder = try TemporaryFolder()
        let file = MembershipFile(path: folder.path + "/cloud.json")

        try file.remove()

        #expect(try file.read() == nil)
    }

    /// A token is shown to the cloud that gave it, and to no other.
    @Test func leftMemberships_areKeptByCloudAndZone() throws {
        let folder = try TemporaryFolder()
        let file = MembershipFile(path: folder.path + "/cloud.json")
        var (lab, again, other) = (membership, membership, membership)
        lab.zone = "lab"
        again.token = Secret("mgt_y")
        other.pin = CertificatePin(digest: Array(1..<33))

        for one in [membership, lab, other, again] { try file.addLeft(one) }

        #expect(file.left == [again, other, lab])
        #expect(try file.read() == nil)
        #expect(file.left.map { $0.isOfCloud(at: ["https://moved"], pin: membership.pin) } == [true, false, true])
        let open = CloudMembership(urls: ["http://a", "http://b"], zone: "home", token: Secret("mgt_x"), pin: nil)
        #expect(open.isOfCloud(at: ["http://b"], pin: nil) && !open.isOfCloud(at: ["http://c"], pin: nil))
        #expect(!open.isOfCloud(at: ["http://b"], pin: membership.pin))
        for number in 1...9 {
            lab.zone = "zone \(number)"
            try file.addLeft(lab)
        }
        #expect(file.left.count == CloudLimits.oldTokens)
    }

    @Test func damagedFile_isSaid_andKept() throws {
        let folder = try TemporaryFolder()
        let file = MembershipFile(path: folder.path + "/cloud.json")
        try Data("{".utf8).write(to: URL(filePath: file.path))

        #expect(throws: GatewayError.self) { try file.read() }
        #expect(FileManager.default.fileExists(atPath: file.path))
    }
}
