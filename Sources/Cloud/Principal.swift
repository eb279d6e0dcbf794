import CloudAPI
import Domain

package struct Principal: Hashable, Sendable {
    package let credential: Credential
    /// Zone of the request as read together with the credential; nil if it was not read.
    let zone: Zone?

    package init(credential: Credential, zone: Zone? = nil) {
        self.credential = credential
        self.zone = zone
    }
}

extension Principal {
    /// To be called before a change of the zone for its other hosts. `CloudService.modify` checks records one by one.
    ///
    /// - Throws: `readOnly` for a read-only host. Enrolment tokens are checked elsewhere.
    package func checkMayChange() throws(CloudFailure) {
        guard credential.kind == .host, credential.role == .readOnly else { return }
        throw CloudFailure(.readOnly, CloudFailure.mayOnlyLook)
    }
}
