import Domain
import NIOCore

/// Builds power tracks for the Firefox Profiler: Gecko counters for Firefox, or a whole profile in the processed
/// format.
///
/// Formats of firefox-devtools/profiler at df31314e: `GeckoCounter` in src/types/gecko-profile.ts, and version 61 of
/// src/types/profile.ts by docs-developer/CHANGELOG-formats.md. Version 62 adds translated labels for graphs; viewers
/// derive those of version 61 from the category `power`.
struct ProfilerDocument {
    /// Maximum number of gaps with a marker. Further gaps show only as time without energy.
    private static let gapsMax = 1000

    private struct Counter {
        var head: String
        var gapName: String
        var samples: [EnergySamples.Sample]
    }

    /// Origin of times, milliseconds since 1970.
    private let start: Double
    private let length: Int64
    private var counters: [Counter] = []
    private var gaps: [(counter: Int, start: Int64, end: Int64)] = []

    init(start: Double, length: Int64) {
        self.start = start
        self.length = length
    }

    mutating func add(_ energy: EnergySamples, of meter: Profiler.Meter) {
        let samples = energy.samples
        guard !samples.isEmpty else { return }
        for (before, sample) in zip(samples, samples.dropFirst()) where sample.beginsRun && gaps.count < Self.gapsMax {
            gaps.append((counters.count, before.time, sample.time))
        }
        let description = meter.model + (energy.spacing > 0 ? ", added up over \(energy.spacing) ms" : "")
        // The viewer names a track after its counter. In this category, it interprets counts as picowatt-hours
        // (src/profile-logic/process-profile.ts, `deriveCounterDisplay`).
        counters.append(
            Counter(
                head: """
                    "name":\(Self.text(meter.name)),"category":"power","description":\(Self.text(description))
                    """, gapName: Self.text("\(meter.name): not measured"), samples: samples))
    }

    /// Answer to Firefox: an array of Gecko counters (fqueze/usb-power-profiling, README.md, "HTTP API").
    var tracks: ByteBuffer {
        ByteBuffer(
            string: Self.list(counters) { counter in
                let data = Self.list(counter.samples) { "[\(time($0.time)),\($0.energy)]" }
                return "{\(counter.head),\"samples\":{\"schema\":{\"time\":0,\"count\":1},\"data\":\(data)}}"
            })
    }

    /// Profile in the processed format, with markers for gaps in the readings.
    var profile: ByteBuffer {
        let tracks = Self.list(counters) { counter in
            """
            {\(counter.head),"pid":"0","mainThreadIndex":0,"samples":{"time":\
            \(Self.list(counter.samples) { time($0.time) }),"count":\(Self.list(counter.samples) { "\($0.energy)" }),\
            "length":\(counter.samples.count)}}
            """
        }
        return ByteBuffer(
            string: """
                {"meta":{"interval":1,"startTime":\(Int64(start)),"profilingStartTime":0,"profilingEndTime":\(length),\
                "processType":0,"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],\
                "product":"meterd","importedFrom":"meterd","stackwalk":0,"version":36,"preprocessedProfileVersion":61,\
                "symbolicationNotSupported":true,"markerSchema":[]},"libs":[],\
                "shared":{\(Self.emptyTables)"stringArray":\(Self.list(counters, \.gapName))},\
                "threads":[\(thread)],"counters":\(tracks)}
                """)
    }

    /// The only thread. Contains the first and last sample that the viewer expects (docs-developer/custom-importer.md,
    /// "Samples"). Phase 1 is an interval (`MarkerPhase`).
    private var thread: String {
        """
        {"processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":0,\
        "unregisterTime":null,"pausedRanges":[],"name":"GeckoMain","processName":"USB meters","isMainThread":true,\
        "pid":"0","tid":0,"samples":{"stack":[null,null],"time":[0,\(length)],"weight":null,"weightType":"samples",\
        "length":2},"markers":{"data":\(Self.list(gaps) { _ in "null" }),"name":\(Self.list(gaps) { "\($0.counter)" }),\
        "startTime":\(Self.list(gaps) { time($0.start) }),"endTime":\(Self.list(gaps) { time($0.end) }),\
        "phase":\(Self.list(gaps) { _ in "1" }),"category":\(Self.list(gaps) { _ in "0" }),"length":\(gaps.count)}}
        """
    }

    /// Empty tables of `RawProfileSharedData` with their columns: the profile contains no stacks.
    private static let emptyTables = [
        "stackTable": "frame prefix",
        "frameTable": "address inlineDepth category subcategory func nativeSymbol innerWindowID line column",
        "funcTable": "name isJS relevantForJS resource source lineNumber columnNumber",
        "resourceTable": "lib name host type", "nativeSymbols": "libIndex address name functionSize",
        "sources": "id filename startLine startColumn sourceMapURL",
    ].map { table, columns in
        "\"\(table)\":{\(columns.split(separator: " ").map { "\"\($0)\":[]," }.joined())\"length\":0},"
    }.sorted().joined()

    /// Converts to milliseconds since `start`, rounded to microseconds, because the start in Firefox's request has a
    /// fraction.
    private func time(_ milliseconds: Int64) -> String {
        let time = ((Double(milliseconds) - start) * 1000).rounded() / 1000
        return Int64(exactly: time).map { "\($0)" } ?? "\(time)"
    }

    private static func list<Element>(_ elements: [Element], _ text: (Element) -> String) -> String {
        "[" + elements.map(text).joined(separator: ",") + "]"
    }

    private static func text(_ string: String) -> String {
        var bytes: [UInt8] = []
        JSONText.write(string, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
