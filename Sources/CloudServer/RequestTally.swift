import Domain
import Synchronization

/// Counts responses and their durations. Labels contain no client input, only values of `CloudRoute` and statuses.
package final class RequestTally: Sendable {
    private struct Request: Hashable {
        var route: String
        var status: Int
    }

    private struct State {
        var requests: [Request: UInt64] = [:]
        var durations: [String: MetricHistogram] = [:]
    }

    /// Upper bounds of the histogram's buckets, in seconds.
    private static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

    private let state = Mutex(State())

    package init() {}

    /// - Parameters:
    ///   - route: nil for an unknown path.
    ///   - duration: time until the response's head; a stream continues after it.
    package func count(_ route: CloudRoute?, status: Int, duration: Duration) {
        let name = route?.rawValue ?? "none"
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        state.withLock { state in
            state.requests[Request(route: name, status: status), default: 0] += 1
            state.durations[name, default: MetricHistogram(bounds: Self.bounds)].observe(seconds)
        }
    }

    func tell(_ page: inout MetricsPage) {
        let (requests, durations) = state.withLock { ($0.requests, $0.durations) }
        let order: (Request, Request) -> Bool = { ($0.route, $0.status) < ($1.route, $1.status) }
        for request in requests.keys.sorted(by: order) {
            page.add(
                CloudMetrics.requests, [request.route, "\(request.status)"], count: requests[request, default: 0])
        }
        for (route, histogram) in durations.sorted(by: { $0.key < $1.key }) {
            page.add(CloudMetrics.durations, [route], histogram)
        }
    }
}
