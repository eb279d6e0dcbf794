import Foundation
import Glibc
import LinuxIO
import Testing

struct WholeFileTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/whole-\(UUID().uuidString)"

    private func bytes(of path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    @Test func file_isReplaced_withItsMode_andLeavesNothingBeside() throws {
        try Folder.make(folder)
        // In the folder of temporary files a leftover does no harm.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/secret"
        try Data("old, and open to all".utf8).write(to: URL(filePath: path))
        try Data("of a crash".utf8).write(to: URL(filePath: path + ".new"))

        try WholeFile.replace(path, with: [1, 2, 3])

        #expect(try bytes(of: path) == [1, 2, 3])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secret"])
    }

    @Test func folderThatIsNotThere_isSaid() {
        let error = #expect(throws: Errno.self) { try WholeFile.replace(folder + "/no/secret", with: [1]) }

        #expect(error == Errno(ENOENT))
        #expect(error?.words == "No such file or directory")
    }
}
