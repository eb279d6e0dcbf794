/// Who asks: a credential that is good.
package struct Principal: Hashable, Sendable {
    package let credential: Credential

    package init(credential: Credential) { self.credential = credential }
}
