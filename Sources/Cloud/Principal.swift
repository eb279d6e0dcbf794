import CloudAPI
import Domain

package struct Principal: Hashable, Sendable {
    package let credential: Credential
    /// Zone of the request, read together with the credential; nil if not read.
    let zone: Zone?

    package init(credential: Credential, zone: Zone? = nil) {
        self.credential = credential
        self.zone = zone
    }
}

extension Principal {
    /// Checks permission for a change that affects other hosts of the zone. `CloudService.modify` instead checks each
    /// record.
    ///
    /// - Throws: `readOnly` for a read-only host.
    package func checkMayChange() throws(CloudFailure) {
        guard credential.kind == .host, credential.role == .readOnly else { return }
        throw CloudFailure(.readOnly, CloudFailure.mayOnlyLook)
    }
}
