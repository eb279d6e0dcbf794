import LinuxIO
import MeterTestKit
import Testing

struct FolderTests {
    @Test func make_makesWhatIsMissing_andIsHarmlessTwice() throws {
        let folder = try TemporaryFolder()
        let deep = "\(folder.path)/a/b/c"

        try Folder.make(deep)
        try Folder.make(deep)

        #expect(FileTree.names(in: "\(folder.path)/a/b") == ["c"])
    }

    @Test func make_saysWhy_whenAFileIsInTheWay() {
        #expect(throws: Errno.self) { try Folder.make("/dev/null/below") }
    }
}
