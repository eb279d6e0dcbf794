/// A page in Prometheus' text format 0.0.4.
///
/// Metrics appear in the order of their first addition. Each request makes a new page, so that removed meters, for
/// example, have no samples.
package struct MetricsPage: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private var families: [(definition: MetricDefinition, lines: String)] = []
    private var places: [String: Int] = [:]

    package init() {}

    /// - Parameter labels: values of all labels, in the definition's order.
    package mutating func add(_ definition: MetricDefinition, _ labels: [String] = [], _ value: Double) {
        add(definition, suffix: "", Self.labels(definition.labels, labels), value)
    }

    package mutating func add(_ definition: MetricDefinition, _ labels: [String] = [], _ value: Double?) {
        if let value { add(definition, labels, value) }
    }

    package mutating func add(_ definition: MetricDefinition, _ labels: [String] = [], count: some BinaryInteger) {
        add(definition, labels, Double(count))
    }

    /// Adds a sample of value 1, whose labels are the information.
    package mutating func addInfo(_ definition: MetricDefinition, _ labels: [String]) {
        add(definition, labels, 1)
    }

    /// Adds a sample for each state: 1 for the present one, otherwise 0. The last label is the state.
    ///
    /// - Parameter present: raw value; if unknown, all samples are 0.
    package mutating func addStates<State: CaseIterable & RawRepresentable>(
        _ definition: MetricDefinition, _ labels: [String] = [], of _: State.Type, present: String
    ) where State.RawValue == String {
        for state in State.allCases {
            add(definition, labels + [state.rawValue], state.rawValue == present ? 1 : 0)
        }
    }

    package mutating func add(_ definition: MetricDefinition, _ labels: [String] = [], _ histogram: MetricHistogram) {
        var total: UInt64 = 0
        let bounds = histogram.bounds.map(Self.number) + ["+Inf"]
        for (bound, count) in zip(bounds, histogram.counts) {
            total &+= count
            let all = Self.labels(definition.labels + ["le"], labels + [bound])
            add(definition, suffix: "_bucket", all, Double(total))
        }
        let own = Self.labels(definition.labels, labels)
        add(definition, suffix: "_sum", own, histogram.sum)
        add(definition, suffix: "_count", own, Double(total))
    }

    package var text: String {
        var text = ""
        for (definition, lines) in families {
            text += "# HELP \(definition.name) \(Self.escaped(definition.help, quotes: false))\n"
            text += "# TYPE \(definition.name) \(definition.kind.rawValue)\n"
            text += lines
        }
        return text
    }

    private mutating func add(_ definition: MetricDefinition, suffix: String, _ labels: String, _ value: Double) {
        let line = "\(definition.name)\(suffix)\(labels) \(Self.number(value))\n"
        guard let place = places[definition.name] else {
            places[definition.name] = families.count
            return families.append((definition, line))
        }
        families[place].lines += line
    }

    private static func labels(_ names: [String], _ values: [String]) -> String {
        precondition(names.count == values.count, "\(names) do not get the values \(values)")
        guard !names.isEmpty else { return "" }
        let pairs = zip(names, values).map { "\($0)=\"\(escaped($1, quotes: true))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return "\(whole)" }
        return "\(value)"
    }

    /// Escapes backslashes, line ends and, in a label's value, quotation marks.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        guard text.unicodeScalars.contains(where: { $0 == "\\" || $0 == "\n" || $0 == "\"" }) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
