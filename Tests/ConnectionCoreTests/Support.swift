import MeterModel

extension MonotonicTime {
    static func seconds(_ seconds: Int) -> Self { Self(sinceOrigin: .seconds(seconds)) }
    static func milliseconds(_ milliseconds: Int) -> Self { Self(sinceOrigin: .milliseconds(milliseconds)) }
}

/// Repeatable random numbers, so that a failing seed replays.
typealias SeededRNG = SplitMix64
