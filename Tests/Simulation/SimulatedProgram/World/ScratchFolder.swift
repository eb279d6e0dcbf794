import FoundationEssentials
import Glibc
import Synchronization

/// A folder for the stores of one run, in memory where the machine has a file system there, and gone with the run.
enum ScratchFolder {
    private static let count = Atomic<Int>(0)

    static func with<Value>(_ body: (String) throws -> Value) throws -> Value {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        let path = "\(parent)/meter-simulation-\(getpid())-\(number)"
        guard mkdir(path, 0o700) == 0 else { throw Failure(path: path, code: errno) }
        // What is left of it is in memory, and small.
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    struct Failure: Error {
        var path: String
        var code: Int32
    }
}
