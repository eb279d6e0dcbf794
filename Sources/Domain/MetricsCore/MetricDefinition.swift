/// Definition of a metric. A metrics page contains only defined metrics, so the definitions document all of them
/// (Docs/Metrics.md).
package struct MetricDefinition: Hashable, Sendable {
    /// Types in Prometheus' text format 0.0.4.
    package enum Kind: String, Hashable, Sendable {
        /// Only rises, or restarts from 0. The name ends in `_total`.
        case counter
        case gauge
        case histogram
    }

    /// Program, measure and base unit: `meterd_meter_voltage_volts`.
    package var name: String
    package var kind: Kind
    /// Label names, in the order of a sample's values. A label's values are a closed set, or one for each reported
    /// item.
    package var labels: [String]
    package var help: String

    package static func counter(_ name: String, _ labels: [String], _ help: String) -> Self {
        Self(name: name, kind: .counter, labels: labels, help: help)
    }

    package static func counter(_ name: String, _ help: String) -> Self { counter(name, [], help) }

    package static func gauge(_ name: String, _ labels: [String], _ help: String) -> Self {
        Self(name: name, kind: .gauge, labels: labels, help: help)
    }

    package static func gauge(_ name: String, _ help: String) -> Self { gauge(name, [], help) }

    package static func histogram(_ name: String, _ labels: [String], _ help: String) -> Self {
        Self(name: name, kind: .histogram, labels: labels, help: help)
    }
}
