import Domain
import LinuxIO
import Testing

struct ProcessFiguresTests {
    @Test func figures_areThoseOfThisProcess() throws {
        let held = try [FileDescriptor(opening: "/dev/null", 0), FileDescriptor(opening: "/dev/null", 0)]
        let figures = try #require(ProcessFigures.current)
        let now = Double(LinuxClock.wallNow.millisecondsSince1970) / 1000

        #expect(figures.residentBytes > 1 << 20)
        #expect(figures.virtualBytes > figures.residentBytes)
        #expect(figures.threads >= 1)
        // Standard input, output, error, and those two.
        #expect(figures.openDescriptors >= held.count)
        #expect(figures.descriptorsMax >= UInt64(figures.openDescriptors))
        // The kernel's moment of the boot is in whole seconds.
        #expect(try #require(figures.startSeconds) <= now + 1)
    }
}
