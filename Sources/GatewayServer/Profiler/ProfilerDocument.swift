import Domain
import NIOCore

/// Power tracks as the Firefox Profiler reads them: Gecko counters for Firefox, and a whole profile in the processed
/// format.
///
/// The formats are those of firefox-devtools/profiler at df31314e: `GeckoCounter` in src/types/gecko-profile.ts, and
/// version 61 of src/types/profile.ts by docs-developer/CHANGELOG-formats.md. A viewer upgrades earlier versions. Since
/// 62 a counter says how it is drawn, which the upgrade derives from the category `power`, in words of many languages.
struct ProfilerDocument {
    /// More are not marked. Their energy is unknown all the same.
    private static let gapsMax = 1000

    private struct Counter {
        /// In JSON.
        var head: String
        var gapName: String
        var samples: [EnergySamples.Sample]
    }

    /// Milliseconds since 1970: times count from here.
    private let start: Double
    private let length: Int64
    private var counters: [Counter] = []
    /// What was not measured, and in which counter.
    private var gaps: [(counter: Int, start: Int64, end: Int64)] = []

    init(start: Double, length: Int64) {
        self.start = start
        self.length = length
    }

    /// Adds a meter's track. A meter of which nothing was measured has no track.
    mutating func add(_ energy: EnergySamples, of meter: Profiler.Meter) {
        let samples = energy.samples
        guard !samples.isEmpty else { return }
        for (before, sample) in zip(samples, samples.dropFirst()) where sample.beginsRun && gaps.count < Self.gapsMax {
            gaps.append((counters.count, before.time, sample.time))
        }
        let description = meter.model + (energy.spacing > 0 ? ", added up over \(energy.spacing) ms" : "")
        // The viewer calls a track by its counter's name, and takes picowatt-hours of this category
        // (src/profile-logic/process-profile.ts, `deriveCounterDisplay`).
        counters.append(
            Counter(
                head: """
                    "name":\(Self.text(meter.name)),"category":"power","description":\(Self.text(description))
                    """, gapName: Self.text("\(meter.name): not measured"), samples: samples))
    }

    /// The answer to Firefox: an array of Gecko counters (fqueze/usb-power-profiling, README.md, "HTTP API").
    var tracks: ByteBuffer {
        ByteBuffer(
            string: Self.list(counters) { counter in
                let data = Self.list(counter.samples) { "[\(time($0.time)),\($0.energy)]" }
                return "{\(counter.head),\"samples\":{\"schema\":{\"time\":0,\"count\":1},\"data\":\(data)}}"
            })
    }

    /// A profile with one thread, which has no stacks; what was not measured is a marker.
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

    /// The viewer expects a first and a last sample (docs-developer/custom-importer.md, "Samples"). Phase 1 is an interval
    /// (`MarkerPhase`).
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

    /// `RawProfileSharedData` without a stack: tables and their columns.
    private static let emptyTables = [
        "stackTable": "frame prefix",
        "frameTable": "address inlineDepth category subcategory func nativeSymbol innerWindowID line column",
        "funcTable": "name isJS relevantForJS resource source lineNumber columnNumber",
        "resourceTable": "lib name host type", "nativeSymbols": "libIndex address name functionSize",
        "sources": "id filename startLine startColumn sourceMapURL",
    ].map { table, columns in
        "\"\(table)\":{\(columns.split(separator: " ").map { "\"\($0)\":[]," }.joined())\"length\":0},"
    }.sorted().joined()

    /// Milliseconds from the start, to the microsecond: Firefox's start has a fraction.
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
