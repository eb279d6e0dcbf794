import BluetoothCore
import Foundation
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization
import Testing

@testable import BlueZTransport

/// A folder as sysfs has it on a Raspberry Pi, and what is done with it by meterd and by root's helper.
struct SerialDeviceTests {
    private let folder: TemporaryFolder
    private var sysfs: String { "\(folder.path)/sys" }
    private var driver: String { "\(sysfs)/bus/serial/drivers/hci_uart_bcm" }
    private var requests: String { "\(folder.path)/run" }

    init() throws {
        folder = try TemporaryFolder()
        let serial = "\(sysfs)/devices/platform/soc/fe201000.serial/serial0/serial0-0"
        try make("\(serial)/bluetooth/hci0")
        try make("\(sysfs)/class/bluetooth")
        try make(driver)
        try make(requests)
        try link("\(sysfs)/class/bluetooth/hci0", to: "\(serial)/bluetooth/hci0")
        try link("\(serial)/bluetooth/hci0/device", to: serial)
        try link("\(serial)/driver", to: driver)
        try link("\(serial)/subsystem", to: "\(sysfs)/bus/serial")
        for file in ["unbind", "bind"] { try Data().write(to: URL(filePath: "\(driver)/\(file)")) }
        // One on USB, whose driver is a USB interface's.
        let usb = "\(sysfs)/devices/pci/usb1/1-1/1-1:1.0"
        try make("\(usb)/bluetooth/hci1")
        try make("\(sysfs)/bus/usb/drivers/btusb")
        try link("\(sysfs)/class/bluetooth/hci1", to: "\(usb)/bluetooth/hci1")
        try link("\(usb)/bluetooth/hci1/device", to: usb)
        try link("\(usb)/driver", to: "\(sysfs)/bus/usb/drivers/btusb")
        try link("\(usb)/subsystem", to: "\(sysfs)/bus/usb")
    }

    private func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    private func said(_ file: String) throws -> String {
        try String(contentsOfFile: "\(driver)/\(file)", encoding: .utf8)
    }

    private func files(requests: String? = nil) -> AdapterFiles {
        var files = AdapterFiles(
            bluetoothClass: "\(sysfs)/class/bluetooth", usbNodes: "\(folder.path)/usb",
            serialBus: "\(sysfs)/bus/serial", requests: requests)
        files.requestLooks = 1
        return files
    }

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
        let secret = "\(folder.path)/secret"
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
