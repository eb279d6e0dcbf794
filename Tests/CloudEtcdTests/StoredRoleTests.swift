import Cloud
import Domain
import Foundation
import Testing

@testable import CloudEtcd

/// Roles as they lie in etcd, where copies of earlier versions may read them too.
struct StoredRoleTests {
    private func stored(_ kind: Credential.Kind, _ role: HostRole) throws -> [String: Any] {
        let credential = Credential(
            id: "1", hash: [1], zone: "home", kind: kind, role: role, label: "l",
            createdAt: WallTime(millisecondsSince1970: 1))
        let bytes = try StoredCredential(credential, writer: "w").bytes
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    /// Those copies read `kind`, refuse what is neither `host` nor `enrolment`, and know no other field.
    @Test(arguments: [Credential.Kind.host, .enrolment])
    func copyFromBeforeRoles_refusesAReadOnlyToken_andTakesTheOthers(kind: Credential.Kind) throws {
        let readOnly = try stored(kind, .readOnly)
        let full = try stored(kind, .full)

        #expect(readOnly["kind"] as? String == "readOnly \(kind.rawValue)")
        #expect(full["kind"] as? String == kind.rawValue)
        #expect(readOnly.keys.sorted() == full.keys.sorted())
    }

    @Test(arguments: ["", "readOnly", "readOnly ", "full host", "host readOnly", "readOnly  host", "newer host"])
    func unknownWord_isNoCredential(word: String) throws {
        let json = #"{"id":"1","hash":[1],"zone":"home","kind":"\#(word)","label":"l","created":1,"writer":"w"}"#

        let value = try JSONDecoder().decode(StoredCredential.self, from: Data(json.utf8))

        #expect(value.credential == nil)
    }
}
