import CloudAPI
import Domain

/// The author of a request: a valid credential.
package struct Principal: Hashable, Sendable {
    package let credential: Credential
    /// The zone that the request is about, as it was read beside the credential; nil if that was not done.
    let zone: Zone?

    package init(credential: Credential, zone: Zone? = nil) {
        self.credential = credential
        self.zone = zone
    }
}

extension Principal {
    /// To be called before anything that changes the zone for its other hosts. Records are judged one by one
    /// (`CloudService.modify`).
    ///
    /// - Throws: `readOnly` for a host that may only look. Tokens for joining are judged elsewhere, as they are good for
    ///   less still.
    package func checkMayChange() throws(CloudFailure) {
        guard credential.kind == .host, credential.role == .readOnly else { return }
        throw CloudFailure(.readOnly, CloudFailure.mayOnlyLook)
    }
}
