import CloudServer
import Domain
import Foundation
import GatewayServer
import Testing

/// What both programs export, held against what is written about it.
struct CatalogueTests {
    private static let docs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs")

    private static let everything = GatewayMetrics.all + CloudMetrics.all

    @Test(arguments: [GatewayMetrics.all, CloudMetrics.all])
    func names_areUnique(all: [MetricDefinition]) {
        #expect(Set(all.map(\.name)).count == all.count)
    }

    /// What promtool would say too, and that nothing which changes hands or stays secret becomes a label.
    @Test(arguments: everything)
    func definition_followsTheConventions(metric: MetricDefinition) {
        #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter))
        #expect(metric.name.wholeMatch(of: /(meterd|metercloud|process)(_[a-z0-9]+)+/) != nil)
        #expect(metric.help.hasSuffix("."))
        let known = [
            "meter", "model", "name", "transport", "state", "adapter", "end", "route", "status", "version", "commit",
            "build", "zone", "alert", "target", "group",
        ]
        #expect(metric.labels.allSatisfy(known.contains))
        #expect(metric.labels.contains("name") == (metric.labels.contains("name") && metric.name.hasSuffix("_info")))
    }

    /// The failure shows a missing line as the file needs it.
    @Test func documentation_hasALineForEach_andNoOther() throws {
        let text = try String(contentsOf: Self.docs.appending(path: "Metrics.md"), encoding: .utf8)
        let lines = Set(text.split(separator: "\n").filter { $0.hasPrefix("- `") }.map(String.init))
        let expected = Set(Self.everything.map(\.line))

        #expect(expected.subtracting(lines).sorted() == [])
        #expect(lines.subtracting(expected).sorted() == [])
    }

    @Test func dashboard_asksOnlyForWhatThereIs() throws {
        let data = try Data(contentsOf: Self.docs.appending(path: "Examples/grafana-dashboard.json"))
        let expressions = Self.expressions(in: try JSONSerialization.jsonObject(with: data))
        let names = expressions.flatMap {
            $0.matches(of: /\b(?:meterd|metercloud|process)_\w+/).map { String($0.output) }
        }

        #expect(expressions.count > 15)
        #expect(Set(names).subtracting(Self.everything.flatMap(\.series)).sorted() == [])
    }

    /// A check that cannot fail is worth nothing: this one finds what it looks for.
    @Test func expressions_areFound_howeverDeep() {
        let object: [String: Any] = [
            "panels": [["targets": [["expr": "a"], ["expr": "b"]]], ["query": "c"]], "expr": 1,
        ]

        #expect(Self.expressions(in: object).sorted() == ["a", "b", "c"])
    }

    private static func expressions(in value: Any) -> [String] {
        if let list = value as? [Any] { return list.flatMap(expressions) }
        guard let object = value as? [String: Any] else { return [] }
        return object.flatMap { key, inner in
            if ["expr", "query"].contains(key), let text = inner as? String { return [text] }
            return expressions(in: inner)
        }
    }
}

extension MetricDefinition {
    fileprivate var line: String {
        "- `\(name)\(labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")`: \(help)"
    }

    /// The names that its samples have.
    fileprivate var series: [String] {
        kind == .histogram ? ["_bucket", "_sum", "_count"].map { name + $0 } : [name]
    }
}
