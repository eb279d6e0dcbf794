package import Domain

/// What is left of a moment: a reading, or what a second or a minute was summed up to.
package enum StoredPiece: Hashable, Sendable {
    case reading(StoredSample)
    // Four times as large as a reading, of which there may be thousands beside one of these.
    indirect case bucket(SampleBucket, SampleTier)

    package var time: WallTime {
        switch self {
        case .reading(let sample): sample.time
        case .bucket(let bucket, _): bucket.start
        }
    }

    /// The reading, or the means.
    package var reading: Reading {
        switch self {
        case .reading(let sample): sample.reading
        case .bucket(let bucket, _): bucket.means
        }
    }
}
