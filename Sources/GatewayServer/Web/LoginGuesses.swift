package import Domain
import ServerKit

/// How often a wrong token may be presented. A value: the time is passed in.
///
/// Each address has its own guesses. All addresses of an IPv6 network, of which one machine may have any number, share
/// a looser limit, which keeps the table of addresses small; beyond it wrong tokens are refused uncounted, while the
/// right one is still accepted. So somebody who guesses locks out only their own address.
package struct LoginGuesses: Sendable {
    /// Ten at once, then one every ten seconds: too few to find one of 2²⁵⁶ tokens.
    static let addressRate = Rate(perSecond: 0.1, burst: 10)
    static let networkRate = Rate(perSecond: 1, burst: 100)

    private var ofAddress: TokenBuckets<String>
    private var ofNetwork: TokenBuckets<String>

    package init(at now: MonotonicTime) {
        ofAddress = TokenBuckets(rate: Self.addressRate, capacity: 10_000, at: now)
        ofNetwork = TokenBuckets(rate: Self.networkRate, capacity: 10_000, at: now)
    }

    /// How long until a token from this address is checked, if not now.
    package func wait(of address: String, at now: MonotonicTime) -> Duration? { ofAddress.wait(of: address, at: now) }

    /// Counts a wrong token.
    ///
    /// - Returns: how long until the next one is counted, if there were too many.
    package mutating func take(_ address: String, in network: String, at now: MonotonicTime) -> Duration? {
        ofNetwork.take(network, at: now) ?? ofAddress.take(address, at: now)
    }
}
