/// The author of a request: a valid credential.
package struct Principal: Hashable, Sendable {
    package let credential: Credential

    package init(credential: Credential) { self.credential = credential }
}
