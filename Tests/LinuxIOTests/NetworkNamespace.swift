import Domain
import Gateway
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization
import Testing

/// A network of its own for one test: the loop's thread leaves for a new namespace, and so do its sockets and the
/// programs that it starts. Gone with the thread.
final class NetworkNamespace: Sendable {
    /// What keeps these tests from running; nil: nothing.
    static let obstacle: String? = {
        if geteuid() != 0 { return "a network namespace needs root: sudo make test" }
        if access(program, X_OK) != 0 { return "\(program) is missing: sudo apt-get install iproute2" }
        return nil
    }()

    private static let program = "/sbin/ip"
    private let loop: IOLoop
    private let watches = Mutex<[Task<Void, Never>]>([])

    init(_ loop: IOLoop) async throws {
        self.loop = loop
        try await loop.perform {
            // Declared only under _GNU_SOURCE, which the Glibc module is built without.
            typealias Unshare = @convention(c) (Int32) -> Int32
            let symbol = try #require(dlsym(nil, "unshare"))
            let unshare = unsafeBitCast(symbol, to: Unshare.self)
            let newNetwork: Int32 = 0x4000_0000
            try #require(unshare(newNetwork) == 0, "unshare: errno \(errno)")
        }
        try await ip("link set lo up")
    }

    /// Two ends of a cable, `here` with an address.
    func addLink() async throws {
        try await ip("link add here type veth peer name there")
        try await ip("address add 10.7.0.1/24 dev here")
        try await ip("link set there up")
        try await ip("link set here up")
    }

    /// Runs `ip` in the namespace, and waits for its end.
    func ip(_ arguments: String) async throws {
        try await loop.perform { try Self.run(arguments.split(separator: " ").map(String.init)) }
    }

    /// Makes the kernel say much while the loop is busy: that many changes of one link.
    func flood(links count: Int) async throws {
        let lines = (0..<count).map { "link set there alias a\($0)" }.joined(separator: "\n") + "\n"
        let folder = try TemporaryFolder()
        let path = folder.path + "/batch"
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT)
        try file.write(all: Array(lines.utf8))
        file.close()
        try await loop.perform { try Self.run(["-batch", path]) }
    }

    func watch(host: String) -> AsyncStream<NetworkPath>.Iterator {
        let (paths, report) = AsyncStream.makeStream(of: NetworkPath.self)
        // Longer than any test: what is reported was told by the kernel, not found by looking.
        let watcher = NetworkWatcher(loop: loop, host: host, recheck: .seconds(3600))
        let task = Task { await watcher.run { report.yield($0) } }
        watches.withLock { $0.append(task) }
        return paths.makeAsyncIterator()
    }

    func leave() async {
        for task in watches.withLock({ $0 }) {
            task.cancel()
            await task.value
        }
    }

    private static func run(_ arguments: [String]) throws {
        var pid = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var none: [UnsafeMutablePointer<CChar>?] = [nil]
        try #require(posix_spawn(&pid, program, nil, nil, words, &none) == 0)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) == -1 { try #require(errno == EINTR) }
        try #require(status == 0, "ip \(arguments.prefix(6).joined(separator: " ")): status \(status)")
    }
}
