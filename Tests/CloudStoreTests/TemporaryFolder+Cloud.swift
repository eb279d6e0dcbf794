import CloudStore
import Foundation
import MeterModel
import MeterTestKit

extension TemporaryFolder {
    /// Where the test's cloud lies.
    var cloud: String { path + "/cloud" }

    /// Opens the test's cloud.
    func openCloud(
        _ directory: String? = nil, now: MonotonicTime = .origin, options: SQLiteCloudEngine.Options = .init()
    ) throws(CloudStoreError) -> SQLiteCloudEngine {
        var dice = CountingDice()
        return try SQLiteCloudEngine.open(
            directory: directory ?? cloud, now: now, dice: &dice, options: options)
    }
}

/// Dice that a test can foresee.
struct CountingDice: RandomNumberGenerator {
    var last: UInt64 = 0

    mutating func next() -> UInt64 {
        last += 1
        return last
    }
}
