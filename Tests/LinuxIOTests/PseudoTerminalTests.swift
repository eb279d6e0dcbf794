import Glibc
import LinuxIO
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PseudoTerminalTests {
    @Test func peer_isThere_onlyWhileTheSlaveIsOpen() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            try await terminal.peerLeaves(on: loop)
            #expect(!terminal.hasPeer)
            let slave = try FileDescriptor(opening: terminal.path, O_RDWR | O_NOCTTY)
            #expect(terminal.hasPeer)
            slave.close()
            try await terminal.peerLeaves(on: loop)
            #expect(!terminal.hasPeer)
        }
    }

    @Test func hangup_isReportedAtOnce_whenTheSlaveCloses() async throws {
        try await withLoop { loop in
            let terminal = try PseudoTerminal()
            let slave = try FileDescriptor(opening: terminal.path, O_RDWR | O_NOCTTY)
            let (ready, report) = AsyncStream.makeStream(of: Readiness.self)
            try await loop.perform {
                try loop.register(terminal.master, .readable) {
                    report.yield($0)
                    loop.unregister(terminal.master)
                }
                slave.close()
            }
            var iterator = ready.makeAsyncIterator()
            #expect(try #require(await iterator.next()).contains(.hangup))
        }
    }

    @Test func link_leadsToTheSlave_andGoesWithIt() throws {
        let folder = try TemporaryFolder()
        let link = folder.path + "/meter"
        let terminal = try PseudoTerminal(link: link)
        #expect(FileTree.canonical(link) == terminal.path)
        terminal.close()
        #expect(FileTree.names(in: folder.path).isEmpty)
    }

    @Test func link_replacesAnOlderOne_whichThenLeavesItAlone() throws {
        let folder = try TemporaryFolder()
        let link = folder.path + "/meter"
        let old = try PseudoTerminal(link: link)
        let new = try PseudoTerminal(link: link)
        #expect(FileTree.canonical(link) == new.path)
        old.close()
        #expect(FileTree.canonical(link) == new.path)
        #expect(FileTree.names(in: folder.path) == ["meter"])
    }

    @Test func file_isNotReplacedByALink() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/meter"
        try FileDescriptor(opening: path, O_RDWR | O_CREAT).close()
        #expect(throws: Errno(EEXIST)) { try PseudoTerminal(link: path) }
        #expect(FileTree.canonical(path) == path)
    }

    @Test func link_inAFolderThatIsNotThere_fails() {
        #expect(throws: Errno(ENOENT)) { try PseudoTerminal(link: "/no-such-folder/meter") }
    }
}
