import Domain
import Glibc
import LinuxIO
import MeterCodec
import MeterSimulator
import SimulatedPort

/// Many simulated meters in a process of their own, so that their work is not counted: this program, called again with
/// `--simulate`.
final class SimulatedPorts: Sendable {
    /// The links to the ports.
    let paths: [String]
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// - Parameter refresh: how often a meter renews its values; for one that pushes, how often it does.
    init(_ count: Int, of model: ModelName, refresh: Duration) throws {
        let folder = try TemporaryFolder()
        let paths = (0..<count).map { "\(folder.path)/meter-\($0)" }
        self.folder = folder
        self.paths = paths
        process = try ChildProcess(
            OwnProgram.path,
            ["--simulate", model.rawValue, String(count), String(refresh.milliseconds), folder.path])
        let deadline = Clocks.wall + 20
        while !paths.allSatisfy({ access($0, F_OK) == 0 }) {
            guard Clocks.wall < deadline else { throw BenchmarkError("\(count) simulated ports did not come up") }
            Clocks.pause(0.05)
        }
    }

    var processorTime: Double { process.processorTime }

    func end() { process.end() }

    /// The other process: runs until it is ended.
    static func serve(_ arguments: [String]) async throws {
        let parent = getppid()
        guard arguments.count == 4, let model = MeterCatalogue.standard.model(named: arguments[0]),
            let count = Int(arguments[1]),
            let refresh = Int(arguments[2])
        else { throw BenchmarkError("--simulate takes MODEL COUNT REFRESH_MS FOLDER") }
        let loop = try IOLoop(name: "simulators")
        loop.start()
        var ports: [SimulatedPort] = []
        for index in 0..<count {
            let meter = SimulatorCatalogue.standard.meter(
                model, seed: UInt64(index + 1), refresh: .milliseconds(refresh))
            guard let meter else { throw BenchmarkError("nothing simulates a \(model.displayName)") }
            let port = SimulatedPort(meter: meter, loop: loop, link: "\(arguments[3])/meter-\(index)")
            try await port.start()
            ports.append(port)
        }
        // Runs until it is ended, or the one that wants it is gone.
        while getppid() == parent { Clocks.pause(1) }
        exit(0)
    }
}
