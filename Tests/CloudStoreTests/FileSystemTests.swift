import Foundation
import Glibc
import MeterTestKit
import Testing

@testable import CloudStore

struct FileSystemTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func message(_ body: () throws(CloudStoreError) -> Void) -> String {
        do throws(CloudStoreError) { try body() } catch { return error.message }
        return "nothing"
    }

    @Test func failures_nameThePath_andWhatWasNotDone() throws {
        let (here, gone) = (folder.path + "/here", folder.path + "/gone")
        try folder.write([1, 2, 3], to: here)

        #expect(
            message { () throws(CloudStoreError) in try FileSystem.sync(gone) }.hasPrefix("\(gone) cannot be opened"))
        #expect(
            message { () throws(CloudStoreError) in try FileSystem.sync("/dev/null") }
                .hasPrefix("/dev/null cannot be written to the disk"))
        #expect(
            message { () throws(CloudStoreError) in try FileSystem.move(gone, to: gone + "2") }
                .hasPrefix("\(gone) cannot be renamed to"))
        #expect(
            message { () throws(CloudStoreError) in try FileSystem.move(here, to: here) }
                .hasPrefix("\(here) is there already"))
        #expect(
            message { () throws(CloudStoreError) in try FileSystem.remove(folder.path) }
                .hasPrefix("\(folder.path) cannot be removed"))
        #expect(message { () throws(CloudStoreError) in try FileSystem.remove(gone) } == "nothing")
        #expect(FileSystem.size(here) == 3)
        #expect(FileSystem.size(gone) == nil)
    }

    @Test func sync_leavesNoDescriptorBehind() throws {
        try FileSystem.sync(folder.path)

        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(!open.contains(folder.path))
    }
}
