import Foundation
import Glibc
import LinuxIO
import Testing

struct LockFileTests {
    private let path = FileManager.default.temporaryDirectory.path + "/lock-\(UUID().uuidString)"

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    @Test func oneAtATime_andTheOtherIsTold() throws {
        defer { remove() }
        let lock = try LockFile(path, mode: 0o600)

        let refusal = #expect(throws: LockFile.Refusal.self) { try LockFile(path, mode: 0o600) }

        #expect(refusal == .held(owner: getpid()))
        lock.release()
        lock.release()
        #expect(throws: Never.self) { try LockFile(path, mode: 0o600) }
    }

    @Test func lockThatNobodyHolds_isFree() throws {
        defer { remove() }
        _ = try LockFile(path, mode: 0o600)

        #expect(throws: Never.self) { try LockFile(path, mode: 0o600) }
    }

    @Test func releasedLock_isFree_evenIfACopyOfItsDescriptorIsOpenStill() throws {
        defer { remove() }
        let lock = try LockFile(path, mode: 0o600)
        // What a process has that is being started at this moment.
        let copy = try #require(try copyOfDescriptor(of: path))
        defer { close(copy) }

        lock.release()

        #expect(throws: Never.self) { try LockFile(path, mode: 0o600) }
    }

    @Test func fileThatSaysNothing_namesNobody() throws {
        defer { remove() }
        let lock = try LockFile(path, mode: 0o600)
        try Data("no number\n".utf8).write(to: URL(filePath: path))

        let refusal = #expect(throws: LockFile.Refusal.self) { try LockFile(path, mode: 0o600) }

        #expect(refusal == .held(owner: nil))
        lock.release()
    }

    @Test func folderThatIsNotThere_isSaid() {
        let refusal = #expect(throws: LockFile.Refusal.self) { try LockFile(path + "/no/lock", mode: 0o600) }

        #expect(refusal == .unopened(Errno(ENOENT)))
    }

    /// Another descriptor of the same open file, which shares its lock.
    private func copyOfDescriptor(of path: String) throws -> Int32? {
        let folder = "/proc/self/fd"
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        // Those of other tests come and go meanwhile.
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            guard let number = Int32(name),
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")) == target
            else { continue }
            return dup(number)
        }
        return nil
    }
}
