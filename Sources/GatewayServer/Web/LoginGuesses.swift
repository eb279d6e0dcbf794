package import Domain
import ServerKit

/// Limits the rate of wrong access tokens.
///
/// Each address has its own limit, so that guessers lock out only themselves. All addresses of an IPv6 network share a
/// higher limit, which keeps the table small. Above the shared limit, wrong tokens are refused without counting them,
/// and the right one still works.
package struct LoginGuesses: Sendable {
    /// Rate of wrong tokens per address: too low to find one of 2²⁵⁶.
    static let addressRate = Rate(perSecond: 0.1, burst: 10)
    static let networkRate = Rate(perSecond: 1, burst: 100)

    private var ofAddress: TokenBuckets<String>
    private var ofNetwork: TokenBuckets<String>

    package init(at now: MonotonicTime) {
        ofAddress = TokenBuckets(rate: Self.addressRate, capacity: 10_000, at: now)
        ofNetwork = TokenBuckets(rate: Self.networkRate, capacity: 10_000, at: now)
    }

    /// Returns the time until an access token from this address may be checked; nil if it may be checked now.
    package func wait(of address: String, at now: MonotonicTime) -> Duration? { ofAddress.wait(of: address, at: now) }

    /// Counts a wrong access token. Returns the time until the next attempt is allowed; nil below the limit.
    package mutating func take(_ address: String, in network: String, at now: MonotonicTime) -> Duration? {
        ofNetwork.take(network, at: now) ?? ofAddress.take(address, at: now)
    }
}
