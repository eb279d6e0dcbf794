import BluetoothCore
import Foundation
import GatewayAPI
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization
import Testing

@testable import BlueZTransport

/// A folder as sysfs has it on a Raspberry Pi, and what is done with it by meterd and by root's helper.
@Suite(.timeLimit(.minutes(10)))
struct SerialDeviceTests {
    private let tree: SerialTree
    private var sysfs: String { tree.sysfs }
    private var driver: String { tree.driver }
    private var requests: String { tree.requests }

    init() throws { tree = try SerialTree() }

    private func make(_ path: String) throws { try SerialTree.make(path) }

    private func link(_ path: String, to target: String) throws { try SerialTree.link(path, to: target) }

    private func said(_ file: String) throws -> String { try tree.said(file) }

    private func files(requests: String? = nil) -> AdapterFiles { tree.files(requests: requests) }

    // MARK: meterd

    @Test func chipBehindAUART_isKnown_byItsSerialDevice() throws {
        let device = try #require(files().serialDevice(of: "hci0"))
        #expect(device.name == "serial0-0")
        #expect(device.driver.hasSuffix("/bus/serial/drivers/hci_uart_bcm"))
        #expect(files().chipReset(of: "hci0") == .serialDevice)
        #expect(files().serialDevice(of: "hci1") == nil)
        #expect(files().serialDevice(of: "hci2") == nil)
        #expect(files().chipReset(of: "hci1") == nil)
    }

    @Test func deviceWithoutADriver_cannotBeBoundAnew() throws {
        try FileManager.default.removeItem(atPath: "\(sysfs)/class/bluetooth/hci0/device/driver")
        #expect(files().serialDevice(of: "hci0") == nil)
    }

    @Test func rebind_unbindsAndBinds_whereThatIsAllowed() throws {
        let device = try #require(files().serialDevice(of: "hci0"))
        #expect(files().rebind(device, of: "hci0"))
        #expect(try said("unbind") == "serial0-0")
        #expect(try said("bind") == "serial0-0")
    }

    @Test func rebind_fails_whereTheDriverRefuses() throws {
        let device = try #require(files().serialDevice(of: "hci0"))
        try FileManager.default.removeItem(atPath: "\(driver)/bind")
        try make("\(driver)/bind")
        #expect(!files().rebind(device, of: "hci0"))
    }

    /// As for a meterd that is not root: here nobody may write there, not even root.
    private func forbid() throws {
        try FileManager.default.removeItem(atPath: "\(driver)/unbind")
    }

    @Test func request_isLeft_forWhoeverPerformsIt_andWithdrawnWhereNobodyDoes() throws {
        try forbid()
        let device = try #require(files().serialDevice(of: "hci0"))
        #expect(!files().canRebind(device))
        #expect(files(requests: requests).canRebind(device))
        #expect(!files(requests: requests).rebind(device, of: "hci0"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: requests).isEmpty)
        #expect(try said("bind").isEmpty)
    }

    @Test func request_isPerformedByTheHelper() async throws {
        try forbid()
        let device = try #require(files().serialDevice(of: "hci0"))
        var files = files(requests: requests)
        files.requestLooks = 600
        // As systemd would run it, on a thread of its own: the request blocks this one until it is taken.
        let (ends, end) = AsyncStream.makeStream(of: Never.self)
        let isOver = Atomic(false)
        BackgroundThread.run {
            while !isOver.load(ordering: .relaxed), (try? said("bind")) == "" { _ = try? runHelper() }
            end.finish()
        }
        #expect(files.rebind(device, of: "hci0"))
        isOver.store(true, ordering: .relaxed)
        for await _ in ends {}
        #expect(try said("bind") == "serial0-0")
    }

    /// From silence to the driver's files, and from there to what people are told.
    @Test func silentChip_isBoundAnew_andItsGoingIsExplained() async throws {
        var timing = AdapterTiming()
        timing.silenceLimitNever = .milliseconds(20)
        let silent = FakeKernel.Adapter(0x001A_7DDA_7113)
        try await withRadios([0: silent], timing: timing, files: tree.files()) { bench in
            // A status from before the third step, read just before the book, is not taken.
            let status = try await bench.status {
                $0.recoveries >= 3 && !bench.book.entries(saying: "adapter chip reset").isEmpty
            }
            // Silent for another 20 ms, it has failed: the last step was the last.
            #expect([.recovering, .failed].contains(status.state))
            #expect(status.recoveries == 3)
            #expect(try said("unbind") == "serial0-0")
            #expect(try said("bind") == "serial0-0")
            #expect(await bench.radios.support().adapters.first?.reset == "serial")
            try await bench.perform { $0.unplug(0) }
            let gone = try await bench.status { $0.state == .gone }
            #expect(gone.error?.hasPrefix("Its serial device is being unbound and bound.") == true)
        }
    }

    // MARK: The helper

    private static let helper = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Packaging/rebind-adapter")

    private func ask(_ name: String) throws {
        try Data("anything".utf8).write(to: URL(filePath: "\(requests)/rebind-\(name)"))
    }

    private func runHelper() throws -> (status: Int32, words: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [Self.helper.path, sysfs, requests]
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let words = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, words)
    }

    @Test func helper_unbindsAndBinds_andTakesTheRequestAway() throws {
        try ask("hci0")
        let (status, words) = try runHelper()
        #expect(status == 0)
        #expect(words == "hci0: hci_uart_bcm is unbound from serial0-0 and bound to it\n")
        #expect(try said("unbind") == "serial0-0")
        #expect(try said("bind") == "serial0-0")
        #expect(try FileManager.default.contentsOfDirectory(atPath: requests).isEmpty)
    }

    @Test func helper_doesNothing_unasked() throws {
        let (status, words) = try runHelper()
        #expect(status == 0)
        #expect(words.isEmpty)
        #expect(try said("unbind").isEmpty)
    }

    /// Names that are no adapter's, with what a shell might make of them. None is said aloud.
    @Test(arguments: [
        "hci", "hci0;id", "hci0\nhci0", "$(id)", "../hci0", "*", "-rf", "hci00000001", "eth0", "hci0 hci0",
    ])
    func helper_ignoresWhatIsNoAdaptersName(name: String) throws {
        let path = "\(requests)/rebind-\(name.replacing("/", with: ":"))"
        try Data().write(to: URL(filePath: path))
        let (status, words) = try runHelper()
        #expect(status == 0)
        #expect(words.isEmpty)
        #expect(try said("unbind").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: requests).isEmpty)
    }

    @Test(arguments: ["hci1", "hci2"])
    func helper_refusesAnAdapterThatIsBehindNoSerialDevice(name: String) throws {
        try ask(name)
        let (status, words) = try runHelper()
        #expect(status == 1)
        #expect(words == "\(name) is not behind a serial device with a driver\n")
        #expect(try said("unbind").isEmpty)
    }

    @Test func helper_followsNoLink_andReadsNothing() throws {
        let secret = "\(sysfs)/secret"
        try Data("kept".utf8).write(to: URL(filePath: secret))
        try link("\(requests)/rebind-hci7", to: secret)
        #expect(mkfifo("\(requests)/rebind-hci8", 0o600) == 0)
        let (_, words) = try runHelper()
        #expect(!words.contains("kept"))
        #expect(try String(contentsOfFile: secret, encoding: .utf8) == "kept")
        #expect(try FileManager.default.contentsOfDirectory(atPath: requests).isEmpty)
    }

    /// A folder cannot be removed as a file is: it is not acted on, and the unit's limit ends the path unit.
    @Test func requestThatStays_isNotPerformed() throws {
        try make("\(requests)/rebind-hci0/inside")
        let (status, _) = try runHelper()
        #expect(status == 1)
        #expect(try said("unbind").isEmpty)
    }

    @Test func helper_saysThatItFailed_whereTheDriverRefuses() throws {
        try FileManager.default.removeItem(atPath: "\(driver)/unbind")
        try make("\(driver)/unbind")
        try ask("hci0")
        let (status, words) = try runHelper()
        #expect(status == 1)
        #expect(words.hasSuffix("hci0: that failed\n"))
        #expect(try said("bind").isEmpty)
    }
}
