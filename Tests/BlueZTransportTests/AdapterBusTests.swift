import BlueZTransport
import Glibc
import MeterTestKit
import Testing

/// Which adapters are chips on the board, by the links in /sys.
struct AdapterBusTests {
    /// - Parameter subsystem: of the adapter's parent, as the kernel links it.
    private func isOnBoard(_ subsystem: String?) throws -> Bool {
        var name = Array("/tmp/adapter-bus-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&name).map { String(cString: $0) })
        var made = [folder]
        defer { for path in made.reversed() where unlink(path) != 0 { rmdir(path) } }
        func make(_ path: String) {
            made.append("\(folder)/\(path)")
            mkdir("\(folder)/\(path)", 0o700)
        }
        func link(_ path: String, to target: String) {
            made.append("\(folder)/\(path)")
            symlink("\(folder)/\(target)", "\(folder)/\(path)")
        }
        for path in ["class", "class/hci0", "bus", "parent"] { make(path) }
        if let subsystem {
            make("bus/\(subsystem)")
            link("class/hci0/device", to: "parent")
            link("parent/subsystem", to: "bus/\(subsystem)")
        }
        return AdapterFiles(bluetoothClass: "\(folder)/class").isOnBoard("hci0")
    }

    @Test(arguments: ["serial", "tty"])
    func chipBehindAUART_isOnTheBoard(subsystem: String) throws {
        #expect(try isOnBoard(subsystem))
    }

    @Test(arguments: ["usb", "pci", nil])
    func otherAdapter_isNot(subsystem: String?) throws {
        #expect(try !isOnBoard(subsystem))
    }
}
