package import Domain

/// A client's allowed rate of requests.
package struct Rate: Hashable, Sendable {
    /// Average number of requests a second; above 0.
    package var perSecond: Double
    /// Maximum number of requests in a burst; at least 1.
    package var burst: Double

    package init(perSecond: Double, burst: Double) {
        self.perSecond = max(perSecond, 0.001)
        self.burst = max(burst, 1)
    }
}

/// A token bucket for each client, all with the same rate.
///
/// Full buckets are not stored, so only recent clients use memory. Once `capacity` buckets exist, all clients without a
/// bucket share one.
package struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var tokens: Double
        var filledAt: MonotonicTime

        func tokens(_ rate: Rate, at now: MonotonicTime) -> Double {
            let seconds = Double(max(0, (now - filledAt).nanoseconds)) / 1e9
            return min(rate.burst, tokens + seconds * rate.perSecond)
        }

        /// Returns nil on success, otherwise the duration until a token is available. Must not read `buckets`: a second
        /// reference during the change would copy the whole dictionary.
        mutating func take(_ rate: Rate, at now: MonotonicTime) -> Duration? {
            tokens = tokens(rate, at: now)
            filledAt = max(filledAt, now)
            guard tokens >= 1 else { return .seconds((1 - tokens) / rate.perSecond) }
            tokens -= 1
            return nil
        }
    }

    private let rate: Rate
    private let capacity: Int
    private var buckets: [Key: Bucket] = [:]
    private var shared: Bucket
    private var sweptAt: MonotonicTime

    /// - Parameter capacity: maximum number of clients with their own buckets.
    package init(rate: Rate, capacity: Int = 20_000, at now: MonotonicTime) {
        self.rate = rate
        self.capacity = capacity
        shared = Bucket(tokens: rate.burst, filledAt: now)
        sweptAt = now
    }

    package var count: Int { buckets.count }

    /// Takes one token. Returns nil on success, otherwise the duration until a token is available.
    package mutating func take(_ key: Key, at now: MonotonicTime) -> Duration? {
        if buckets[key] == nil { makeRoom(at: now) }
        guard buckets[key] != nil || buckets.count < capacity else { return shared.take(rate, at: now) }
        return buckets[key, default: Bucket(tokens: rate.burst, filledAt: now)].take(rate, at: now)
    }

    /// Returns the duration until the client has a token; nil if it has one now. Takes none.
    package func wait(of key: Key, at now: MonotonicTime) -> Duration? {
        guard let bucket = buckets[key] else { return nil }
        let left = bucket.tokens(rate, at: now)
        return left >= 1 ? nil : .seconds((1 - left) / rate.perSecond)
    }

    /// Removes full buckets, at most once in the time in which an empty bucket fills, to spread the cost over many
    /// requests.
    private mutating func makeRoom(at now: MonotonicTime) {
        let isDue = now - sweptAt >= .seconds(rate.burst / rate.perSecond)
        guard buckets.count >= capacity || isDue, now > sweptAt else { return }
        guard isDue || now - sweptAt >= .seconds(1) else { return }
        sweptAt = now
        buckets = buckets.filter { $0.value.tokens(rate, at: now) < rate.burst }
    }
}
