import Glibc

// Benchmarks [decode] [path] [disk] [daemon] [throughput]   all of them where none is named
//
// Absolute figures mean something on a quiet machine only; the ratios hold on a busy one, too.

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--simulate" {
    try await SimulatedPorts.serve(Array(arguments.dropFirst()))
}
func isWanted(_ part: String) -> Bool { arguments.isEmpty || arguments.contains(part) }

let began = Clocks.wall
Report.machine()
do {
    if isWanted("decode") { DecodeBenchmark.run() }
    if isWanted("path") { try await PathBenchmark.run() }
    if isWanted("disk") { try await DiskBenchmark.run() }
    if isWanted("daemon") { try DaemonBenchmark.runScaling() }
    if isWanted("throughput") { try DaemonBenchmark.runThroughput() }
} catch {
    Report.line("Benchmarks: error: \(error)")
    exit(1)
}
Report.line("")
Report.load()
Report.line("took \((Clocks.wall - began).fixed(0)) s")
