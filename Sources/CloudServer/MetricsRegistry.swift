import Synchronization

/// What happened so far, in the text format of Prometheus. No backend of swift-metrics is needed for a page of numbers.
///
/// The label sets are closed: routes are those of `CloudRoute`, statuses those that the routes answer; nothing that a
/// client sends becomes a label.
package final class MetricsRegistry: Sendable {
    /// A number as it is when the page is asked for.
    package struct Gauge: Hashable, Sendable {
        /// `metercloud_…`, with its unit.
        package var name: String
        package var help: String
        package var value: Double
        /// Only ever rises while the program runs.
        package var isCounter: Bool

        package init(_ name: String, help: String, value: Double, isCounter: Bool = false) {
            self.name = name
            self.help = help
            self.value = value
            self.isCounter = isCounter
        }
    }

    private struct Request: Hashable {
        var route: String
        var status: Int
    }

    private struct Durations {
        var counts = [UInt64](repeating: 0, count: MetricsRegistry.bounds.count + 1)
        var seconds = 0.0
    }

    private struct State {
        var requests: [Request: UInt64] = [:]
        var durations: [String: Durations] = [:]
    }

    /// Upper ends of the histogram's buckets, in seconds.
    static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

    private let state = Mutex(State())

    package init() {}

    /// One answered request.
    ///
    /// - Parameters:
    ///   - route: nil for a path that is none of ours.
    ///   - duration: until the answer's head; a stream goes on after it.
    package func count(_ route: CloudRoute?, status: Int, duration: Duration) {
        let name = route?.rawValue ?? "none"
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
        state.withLock { state in
            state.requests[Request(route: name, status: status), default: 0] += 1
            state.durations[name, default: Durations()].counts[bucket] += 1
            state.durations[name]?.seconds += seconds
        }
    }

    /// The whole page.
    package func page(_ gauges: [Gauge]) -> String {
        let (requests, durations) = state.withLock { ($0.requests, $0.durations) }
        var page = "# HELP metercloud_requests_total Requests that were answered.\n"
        page += "# TYPE metercloud_requests_total counter\n"
        let order: (Request, Request) -> Bool = { ($0.route, $0.status) < ($1.route, $1.status) }
        for request in requests.keys.sorted(by: order) {
            page += "metercloud_requests_total{route=\"\(request.route)\",status=\"\(request.status)\"} "
            page += "\(requests[request, default: 0])\n"
        }
        page += "# HELP metercloud_request_duration_seconds Time until the head of the answer.\n"
        page += "# TYPE metercloud_request_duration_seconds histogram\n"
        for (route, durations) in durations.sorted(by: { $0.key < $1.key }) {
            page += Self.histogram("metercloud_request_duration_seconds", route: route, durations)
        }
        for gauge in gauges {
            page += "# HELP \(gauge.name) \(gauge.help)\n"
            page += "# TYPE \(gauge.name) \(gauge.isCounter ? "counter" : "gauge")\n\(gauge.name) \(gauge.value)\n"
        }
        return page
    }

    private static func histogram(_ name: String, route: String, _ durations: Durations) -> String {
        var text = ""
        var total: UInt64 = 0
        for (bound, count) in zip(bounds.map { "\($0)" } + ["+Inf"], durations.counts) {
            total += count
            text += "\(name)_bucket{route=\"\(route)\",le=\"\(bound)\"} \(total)\n"
        }
        text += "\(name)_sum{route=\"\(route)\"} \(durations.seconds)\n"
        return text + "\(name)_count{route=\"\(route)\"} \(total)\n"
    }
}
