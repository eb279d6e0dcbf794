import Domain
import Glibc
import LinuxIO
import MeterTestKit
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SerialLineTests {
    private func failure(opening path: String, baudRate: Int = 9600) -> ChannelFailure? {
        do {
            SerialLineTests.close(try SerialLine(opening: path, baudRate: baudRate))
            return nil
        } catch {
            return error
        }
    }

    private static func close(_ line: SerialLine) { line.close(discardingOutput: true) }

    private func read(_ descriptor: FileDescriptor) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = try bytes.withUnsafeMutableBytes { try descriptor.read(into: $0) }
        return count.map { Array(bytes.prefix($0)) }
    }

    @Test func missingPath_isMissing_andNamesIt() {
        let failure = failure(opening: "/dev/no-such-meter")
        #expect(failure?.code == .missing)
        #expect(failure?.message.contains("/dev/no-such-meter") == true)
    }

    @Test func regularFile_isRefused_asNoSerialPort() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try FileDescriptor(opening: path, O_RDWR | O_CREAT).close()
        let failure = failure(opening: path)
        #expect(failure?.code == .system)
        #expect(failure?.message.contains("not a serial port") == true)
    }

    @Test(.enabled(if: geteuid() != 0, "root may open everything: make test, not as root"))
    func portOfOthers_isRefused_withTheGroupToJoin() throws {
        let terminal = try PseudoTerminal()
        try #require(chmod(terminal.path, 0) == 0)
        let failure = failure(opening: terminal.path)
        #expect(failure?.code == .permission)
        #expect(failure?.message.contains("dialout") == true)
    }

    @Test func portOpenHere_isBusy_untilClosed() throws {
        let terminal = try PseudoTerminal()
        let first = try SerialLine(opening: terminal.path, baudRate: 9600)
        let failure = failure(opening: terminal.path)
        #expect(failure?.code == .busy)
        #expect(failure?.message.contains("fuser") == true)
        first.close(discardingOutput: false)
        #expect(self.failure(opening: terminal.path) == nil)
    }

    @Test func closedPort_isFree_evenIfACopyOfItIsOpenStill() throws {
        let terminal = try PseudoTerminal()
        let line = try SerialLine(opening: terminal.path, baudRate: 9600)
        // What a process has that is being started at this moment.
        let copy = FileDescriptor(owning: dup(line.descriptor.raw))
        line.close(discardingOutput: false)
        #expect(failure(opening: terminal.path) == nil)
        copy.close()
    }

    @Test func portThatAnotherProgramClaimed_isBusy_evenForRoot() throws {
        let terminal = try PseudoTerminal()
        let other = try FileDescriptor(opening: terminal.path, O_RDWR | O_NOCTTY)
        try #require(ioctl(other.raw, UInt(TIOCEXCL)) == 0)
        #expect(failure(opening: terminal.path)?.code == .busy)
    }

    @Test func unknownRate_isRefused_withThoseThatThereAre() throws {
        let failure = failure(opening: "/dev/null", baudRate: 12_345)
        #expect(failure?.code == .system)
        #expect(failure?.message.contains("12345") == true)
        #expect(failure?.message.contains("9600") == true)
    }

    @Test(arguments: [(9600, B9600), (115_200, B115200)])
    func rate_isSetOnTheLine(baudRate: Int, speed: Int32) throws {
        let terminal = try PseudoTerminal()
        let line = try SerialLine(opening: terminal.path, baudRate: baudRate)
        var settings = termios()
        try #require(tcgetattr(line.descriptor.raw, &settings) == 0)
        #expect(cfgetospeed(&settings) == speed_t(speed))
        #expect(cfgetispeed(&settings) == speed_t(speed))
    }

    @Test func everyByte_passesUnchanged_bothWays() throws {
        let terminal = try PseudoTerminal()
        let line = try SerialLine(opening: terminal.path, baudRate: 115_200)
        let bytes = (0...255).map(UInt8.init)

        #expect(try line.descriptor.write(all: bytes) == 256)
        #expect(try read(terminal.master) == bytes)
        #expect(try terminal.master.write(all: bytes) == 256)
        #expect(try read(line.descriptor) == bytes)
        #expect(try read(line.descriptor) == nil)
    }

    @Test func bytesFromBeforeOpening_areThrownAway() throws {
        let terminal = try PseudoTerminal()
        #expect(try terminal.master.write(all: [1, 2, 3]) == 3)
        let line = try SerialLine(opening: terminal.path, baudRate: 9600)
        #expect(try read(line.descriptor) == nil)
    }

    @Test func errno_saysWhatAndWhichNumber() {
        #expect(Errno(ENOENT).description == "No such file or directory (errno 2)")
    }

    @Test func closedDescriptor_failsInsteadOfMeetingAnother() throws {
        let file = try FileDescriptor(opening: "/dev/null", O_RDWR)
        file.close()
        let stranger = try FileDescriptor(opening: "/dev/zero", O_RDWR)
        file.close()
        #expect(throws: Errno(EBADF)) { try self.read(file) }
        #expect(try read(stranger)?.count == 512)
    }
}
