import Glibc

// Benchmarks [decode] [path] [fast] [radios] [gatt] [disk] [series] [export] [daemon] [throughput] [web] [listeners] [alerts]
//            [cloud | leases | records | sync | visibility | copies | relay]
//
// All of them where none is named; `cloud` is the last six, `gatt` one of `radios`.
//
// Benchmarks fleet [--sizes 1000,10000,100000] [--seconds 60] [--engine sqlite|etcd] [--streams 1000] [--no-expiry]
//
// How a cloud carries many hosts (make load).
//
// Benchmarks fill STORE METER
//
// Makes a store with a month of a meter, for Tests/Web/run speed.
//
// Absolute figures mean something on a quiet machine only; the ratios hold on a busy one, too.

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--simulate" {
    try await SimulatedPorts.serve(Array(arguments.dropFirst()))
}
func isWanted(_ part: String, of whole: String? = nil) -> Bool {
    arguments.isEmpty || arguments.contains(part) || arguments.contains { $0 == whole }
}

let began = Clocks.wall
Report.machine()
do {
    if arguments.first == "fill" { try await StoreFilling.run(Array(arguments.dropFirst())) }
    if arguments.first == "fleet" { try await FleetBenchmark.run(.init(Array(arguments.dropFirst()))) }
    if isWanted("decode") { DecodeBenchmark.run() }
    if isWanted("path") { try await PathBenchmark.run() }
    if isWanted("fast") { try await FastBenchmark.run() }
    if isWanted("radios") { try await RadioBenchmark.run() }
    if isWanted("gatt", of: "radios") { try GATTBenchmark.run() }
    if isWanted("disk") { try await DiskBenchmark.run() }
    if isWanted("series") { try await SeriesBenchmark.run() }
    if isWanted("export") { try await ExportBenchmark.run() }
    if isWanted("daemon") { try DaemonBenchmark.runScaling() }
    if isWanted("throughput") { try DaemonBenchmark.runThroughput() }
    if isWanted("web") { try await WebBenchmark.run() }
    if isWanted("listeners") { try await ListenersBenchmark.run() }
    if isWanted("alerts") { try AlertBenchmark.run() }
    if isWanted("leases", of: "cloud") { try await LeaseBenchmark.run() }
    if isWanted("records", of: "cloud") { try await RecordBenchmark.run() }
    if isWanted("sync", of: "cloud") { try await SyncBenchmark.run() }
    if isWanted("visibility", of: "cloud") { try await VisibilityBenchmark.run() }
    if isWanted("copies", of: "cloud") { try await CopiesBenchmark.run() }
    if isWanted("relay", of: "cloud") { try await RelayBenchmark.run() }
} catch {
    Report.line("Benchmarks: error: \(error)")
    exit(1)
}
Report.line("")
Report.load()
Report.line("took \((Clocks.wall - began).fixed(0)) s")
