package import MeterModel
package import ServerKit

/// How often a wrong token may be shown. A value: the time is passed in.
///
/// An address has its own guesses. All addresses of an IPv6 network, of which one machine has as many as it likes, share a
/// looser limit, which keeps the table of addresses small; past it wrong tokens are refused unseen, and the right one is
/// taken still. So whoever guesses locks out nobody but its own address.
package struct LoginGuesses: Sendable {
    /// Ten at once, then one in ten seconds: of 2²⁵⁶ tokens that finds none.
    package static let addressRate = Rate(perSecond: 0.1, burst: 10)
    package static let networkRate = Rate(perSecond: 1, burst: 100)

    private var ofAddress: TokenBuckets<String>
    private var ofNetwork: TokenBuckets<String>

    package init(at now: MonotonicTime) {
        ofAddress = TokenBuckets(rate: Self.addressRate, capacity: 10_000, at: now)
        ofNetwork = TokenBuckets(rate: Self.networkRate, capacity: 10_000, at: now)
    }

    /// How long until a token of this address is looked at; nil where it is now.
    package func wait(of address: String, at now: MonotonicTime) -> Duration? { ofAddress.wait(of: address, at: now) }

    /// Counts a wrong token.
    ///
    /// - Returns: how long until the next one is counted, where there were too many; else nil.
    package mutating func take(_ address: String, in network: String, at now: MonotonicTime) -> Duration? {
        ofNetwork.take(network, at: now) ?? ofAddress.take(address, at: now)
    }
}
