import Synchronization

/// How long each of many calls took.
struct CallTimes: Sendable {
    /// In ascending order; seconds.
    let each: [Double]
    /// From the first call's beginning to the last one's end; seconds.
    let total: Double

    init(_ each: [Double], total: Double) {
        self.each = each.sorted()
        self.total = total
    }

    var perSecond: Double { Double(each.count) / total }

    /// - Parameter part: 0.5 is the median.
    func quantile(_ part: Double) -> Double {
        each.isEmpty ? 0 : each[min(each.count - 1, Int(part * Double(each.count)))]
    }

    var words: String { "p50 \(quantile(0.5).milliseconds), p99 \(quantile(0.99).milliseconds)" }
}

/// Makes calls, and takes their times.
enum Load {
    typealias Call = @Sendable (_ number: Int) async throws -> Void

    /// As many as so many workers can make, each one after the other.
    static func closed(workers: Int, seconds: Double, _ call: @escaping Call) async throws -> CallTimes {
        let begin = Clocks.wall
        return try await withThrowingTaskGroup(of: [Double].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var times: [Double] = []
                    while Clocks.wall < begin + seconds {
                        let sent = Clocks.wall
                        try await call(times.count * workers + worker)
                        times.append(Clocks.wall - sent)
                    }
                    return times
                }
            }
            let times = try await group.reduce(into: []) { $0 += $1 }
            return CallTimes(times, total: Clocks.wall - begin)
        }
    }

    /// So many a second, whether those before have been answered or not. A call's time counts from when it was due, so
    /// that a server that is behind cannot hide it.
    static func paced(perSecond: Double, seconds: Double, _ call: @escaping Call) async throws -> CallTimes {
        let begin = Clocks.wall
        return try await withThrowingTaskGroup(of: Double.self) { group in
            for number in 0..<Int(perSecond * seconds) {
                let due = begin + Double(number) / perSecond
                try await Clocks.wait(until: due)
                group.addTask {
                    try await call(number)
                    return Clocks.wall - due
                }
            }
            let times = try await group.reduce(into: []) { $0.append($1) }
            return CallTimes(times, total: Clocks.wall - begin)
        }
    }
}

/// Counts from any task.
final class CallCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }
    func add(_ more: Int = 1) { count.wrappingAdd(more, ordering: .relaxed) }
}

extension Array<Double> {
    /// The middle one; of two, the greater.
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

extension Array<CallTimes> {
    /// The one with the middle median.
    var middle: CallTimes {
        isEmpty ? CallTimes([], total: 1) : sorted { $0.quantile(0.5) < $1.quantile(0.5) }[count / 2]
    }
}

extension Double {
    /// Of seconds.
    var milliseconds: String { "\((self * 1000).fixed(self < 0.01 ? 2 : 1)) ms" }
}
