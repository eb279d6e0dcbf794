import Foundation

/// What firefox-devtools/profiler documents of a processed profile of version 61 (src/types/profile.ts at df31314e, less
/// what docs-developer/CHANGELOG-formats.md has of 62 to 70) and of Gecko counters (src/types/gecko-profile.ts).
///
/// Strictly rising times are more than the types say: the viewer divides by the time between two samples
/// (src/profile-logic/profile-data.ts, `computeMaxCounterSampleCountPerMs`), and ignores the first count
/// (`processCounter`).
struct ProfilerFormat {
    typealias Object = [String: Any]

    private static let tables = [
        "stackTable": ["frame", "prefix"],
        "frameTable": [
            "address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line",
            "column",
        ],
        "funcTable": ["name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"],
        "resourceTable": ["lib", "name", "host", "type"],
        "nativeSymbols": ["libIndex", "address", "name", "functionSize"],
        "sources": ["id", "filename", "startLine", "startColumn", "sourceMapURL"],
    ]

    private(set) var faults: [String] = []

    /// - Parameter json: of a whole profile.
    init(profile json: String) {
        let profile = object(try? JSONSerialization.jsonObject(with: Data(json.utf8)), "the profile")
        let meta = object(profile["meta"], "meta")
        for key in ["interval", "startTime", "processType", "version"] { expect(meta[key] is NSNumber, "meta.\(key)") }
        expect(meta["preprocessedProfileVersion"] as? Int == 61, "meta.preprocessedProfileVersion")
        expect(meta["product"] is String && [0, 1].contains(meta["stackwalk"] as? Int), "meta.product or stackwalk")
        expect(meta["markerSchema"] is [Any] && profile["libs"] is [Any], "meta.markerSchema or libs")
        let categories = meta["categories"] as? [Object] ?? []
        expect(
            categories.contains { $0["color"] as? String == "grey" && $0["subcategories"] is [String] }, "categories")
        let shared = object(profile["shared"], "shared")
        for (name, columns) in Self.tables { table(shared[name], columns, "shared.\(name)") }
        let strings = shared["stringArray"] as? [String] ?? []
        expect(shared["stringArray"] is [String], "shared.stringArray")
        let range = (meta["profilingStartTime"] as? Double ?? 0)...(meta["profilingEndTime"] as? Double ?? 0)
        let threads = profile["threads"] as? [Object] ?? []
        expect(!threads.isEmpty, "threads")
        for thread in threads { self.thread(thread, strings: strings.count, categories: categories.count) }
        for counter in profile["counters"] as? [Object] ?? [] {
            names(of: counter)
            let main = counter["mainThreadIndex"] as? Int ?? -1
            expect(threads.indices.contains(main), "counter.mainThreadIndex")
            guard threads.indices.contains(main) else { continue }
            expect(threads[main]["isMainThread"] as? Bool == true, "counter's thread.isMainThread")
            expect(counter["pid"] as? String == threads[main]["pid"] as? String, "counter.pid")
            let samples = table(counter["samples"], ["time", "count"], "counter.samples")
            self.samples(samples["time"] as? [Double] ?? [], samples["count"] as? [Any] ?? [], within: range)
        }
    }

    /// - Parameter json: an array of Gecko counters, as Firefox takes it.
    init(tracks json: String, length: Double) {
        let counters = (try? JSONSerialization.jsonObject(with: Data(json.utf8))) as? [Object]
        expect(counters != nil, "the tracks")
        for counter in counters ?? [] {
            names(of: counter)
            let samples = object(counter["samples"], "counter.samples")
            expect(samples["schema"] as? [String: Int] == ["time": 0, "count": 1], "counter.samples.schema")
            let data = samples["data"] as? [[Any]] ?? []
            expect(data.allSatisfy { $0.count == 2 }, "counter.samples.data")
            self.samples(
                data.compactMap { $0.first as? Double }, data.compactMap(\.last), within: 0...length)
        }
    }

    private mutating func expect(_ isRight: Bool, _ what: String) { if !isRight { faults.append(what) } }

    private mutating func object(_ value: Any?, _ what: String) -> Object {
        expect(value is Object, what)
        return value as? Object ?? [:]
    }

    /// Columns of the length that the table says.
    @discardableResult
    private mutating func table(_ value: Any?, _ columns: [String], _ what: String) -> Object {
        let table = object(value, what)
        for column in columns {
            expect((table[column] as? [Any])?.count == table["length"] as? Int, "\(what).\(column)")
        }
        return table
    }

    private mutating func names(of counter: Object) {
        for key in ["name", "description"] { expect(counter[key] is String, "counter.\(key)") }
        expect(counter["category"] as? String == "power", "counter.category")
    }

    private mutating func samples(_ times: [Double], _ counts: [Any], within range: ClosedRange<Double>) {
        expect(!times.isEmpty && times.count == counts.count, "counter.samples.time")
        expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "counter.samples.time rises")
        expect(times.allSatisfy(range.contains), "counter.samples.time is in the profile")
        expect(counts.allSatisfy { $0 is Int }, "counter.samples.count is whole")
        expect(counts.first as? Int == 0, "counter.samples.count begins with 0")
    }

    private mutating func thread(_ thread: Object, strings: Int, categories: Int) {
        for key in ["processType", "name", "pid"] { expect(thread[key] is String, "thread.\(key)") }
        for key in ["processStartupTime", "registerTime", "tid"] { expect(thread[key] is NSNumber, "thread.\(key)") }
        for key in ["processShutdownTime", "unregisterTime"] { expect(thread[key] != nil, "thread.\(key)") }
        expect(thread["isMainThread"] is Bool && thread["pausedRanges"] is [Any], "thread.isMainThread or pausedRanges")
        let samples = table(thread["samples"], ["stack", "time"], "thread.samples")
        expect(samples["weightType"] as? String == "samples" && samples["weight"] is NSNull, "thread.samples.weight")
        // No stack is in the tables.
        expect((samples["stack"] as? [Any] ?? []).allSatisfy { $0 is NSNull }, "thread.samples.stack")
        let markers = table(
            thread["markers"], ["data", "name", "startTime", "endTime", "phase", "category"], "thread.markers")
        let names = markers["name"] as? [Int] ?? []
        expect(names.allSatisfy { (0..<strings).contains($0) }, "thread.markers.name")
        expect((markers["category"] as? [Int] ?? []).allSatisfy { (0..<categories).contains($0) }, "markers.category")
        expect((markers["phase"] as? [Int] ?? []).allSatisfy { $0 == 1 }, "thread.markers.phase")
        let (starts, ends) = (markers["startTime"] as? [Double] ?? [], markers["endTime"] as? [Double] ?? [])
        expect(starts.count == names.count && ends.count == names.count, "thread.markers' times")
        expect(zip(starts, ends).allSatisfy { $0 < $1 }, "thread.markers.endTime")
    }
}
