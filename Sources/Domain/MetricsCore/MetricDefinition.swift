/// What a metric is: its name, its kind, the names of its labels, and what it tells. Every page is made of these, so
/// that a list of them is a whole account of what a program exports (Docs/Metrics.md).
package struct MetricDefinition: Hashable, Sendable {
    /// The words of Prometheus' text format, 0.0.4.
    package enum Kind: String, Hashable, Sendable {
        /// Only ever rises, or begins anew from 0. Its name ends in `_total`.
        case counter
        case gauge
        case histogram
    }

    /// The program, what is measured, and last the base unit: `meterd_meter_voltage_volts`.
    package var name: String
    package var kind: Kind
    /// In the order in which values are given. Closed sets, or as many values as there are things to tell about.
    package var labels: [String]
    /// One sentence.
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
