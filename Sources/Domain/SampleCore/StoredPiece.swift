/// A stored reading, or the bucket of a second or minute that replaced several.
package enum StoredPiece: Hashable, Sendable {
    case reading(StoredSample)
    // Indirect, because a bucket is four times as large as a reading, and far rarer.
    indirect case bucket(SampleBucket, SampleTier)

    package var time: WallTime {
        switch self {
        case .reading(let sample): sample.time
        case .bucket(let bucket, _): bucket.start
        }
    }

    /// The reading, or the bucket's means.
    package var reading: Reading {
        switch self {
        case .reading(let sample): sample.reading
        case .bucket(let bucket, _): bucket.means
        }
    }
}
