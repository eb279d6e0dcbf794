import Foundation
import Glibc
import MeterTestKit
import Synchronization

/// A bus of its own (dbus-daemon), and on it what bluetoothd has of agents, or another daemon in Python. Gone with the value.
final class FakeBluetoothd: Sendable {
    /// Why the tests with a bus do not run here; nil where they do.
    static let missing: String? = {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon") else {
            return "dbus-daemon is not installed: sudo apt-get install dbus-daemon"
        }
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        python.arguments = ["-c", "import dbus.mainloop.glib; from gi.repository import GLib"]
        python.standardError = FileHandle.nullDevice
        guard (try? python.run()) != nil else { return "there is no /usr/bin/python3: sudo apt-get install python3" }
        python.waitUntilExit()
        return python.terminationStatus == 0
            ? nil : "Python's D-Bus is not installed: sudo apt-get install python3-dbus python3-gi"
    }()

    struct Problem: Error { var words: String }

    let address: String
    private let bus: Process
    private let folder: TemporaryFolder
    private let daemon = Mutex<(process: Process, input: FileHandle)?>(nil)
    private let lines: AsyncStream<String>
    private let line: AsyncStream<String>.Continuation

    /// A bus on which nobody is yet.
    init() throws {
        folder = try TemporaryFolder()
        let socket = "\(folder.path)/bus"
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><listen>unix:path=\(socket)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
            <allow user="*"/></policy></busconfig>
            """
        try configuration.write(toFile: "\(folder.path)/bus.conf", atomically: true, encoding: .utf8)
        address = "unix:path=\(socket)"
        bus = Process()
        bus.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        bus.arguments = ["--nofork", "--nopidfile", "--print-address", "--config-file=\(folder.path)/bus.conf"]
        let said = Pipe()
        bus.standardOutput = said
        try bus.run()
        // Its address is said once it listens.
        guard !said.fileHandleForReading.availableData.isEmpty else { throw Problem(words: "the bus does not start") }
        (lines, line) = AsyncStream.makeStream(of: String.self)
    }

    deinit {
        stop()
        Self.end(bus)
    }

    /// - Parameter options: `refusing`: has nobody for an agent; `paired`: knows every device's key.
    func start(_ options: String..., script: String = script) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-u", "-c", Self.beginning + script, address] + options
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        let rest = Mutex("")
        let line = line
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            guard !data.isEmpty else { return handle.readabilityHandler = nil }
            rest.withLock { rest in
                rest += String(decoding: data, as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    line.yield(String(rest[..<end]))
                    rest.removeSubrange(...end)
                }
            }
        }
        try process.run()
        daemon.withLock { $0 = (process, input.fileHandleForWriting) }
    }

    func stop() {
        daemon.withLock { daemon in
            if let daemon { Self.end(daemon.process) }
            daemon = nil
        }
    }

    /// A child starts with the signals blocked that a test's thread has blocked: SIGTERM may never reach it.
    private static func end(_ process: Process) {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Calls a method of the last agent's; what it answers comes as a line.
    func ask(_ method: String, _ device: String) throws {
        try daemon.withLock { try $0?.input.write(contentsOf: Data("\(method) \(device)\n".utf8)) }
    }

    /// The next that it says: `there`, `registered CAPABILITY`, `default`, `left`, `answer …`, `error …`.
    func next() async -> String? {
        var iterator = lines.makeAsyncIterator()
        return await iterator.next()
    }

    private static let beginning = """
        import sys, dbus, dbus.lowlevel, dbus.service, dbus.mainloop.glib
        from gi.repository import GLib
        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        bus = dbus.bus.BusConnection(sys.argv[1])

        """

    static let script = """
        refuses, paired = "refusing" in sys.argv, "paired" in sys.argv
        agent = None

        class Refusal(dbus.DBusException):
            _dbus_error_name = "org.freedesktop.DBus.Error.AccessDenied"

        class Manager(dbus.service.Object):
            @dbus.service.method("org.bluez.AgentManager1", "os", "", sender_keyword="sender")
            def RegisterAgent(self, path, capability, sender):
                global agent
                if refuses:
                    raise Refusal("not you")
                agent = sender, path
                print("registered", capability)

            @dbus.service.method("org.bluez.AgentManager1", "o", "")
            def RequestDefaultAgent(self, path):
                print("default")

            @dbus.service.method("org.bluez.AgentManager1", "o", "")
            def UnregisterAgent(self, path):
                print("left")

        class Device(dbus.service.FallbackObject):
            @dbus.service.method("org.freedesktop.DBus.Properties", "ss", "v")
            def Get(self, interface, name):
                return dbus.Boolean(paired)

        def asked(channel, condition):
            method, device = sys.stdin.readline().split()
            arguments = [dbus.ObjectPath(device)]
            if method == "RequestConfirmation":
                arguments.append(dbus.UInt32(123456))
            bus.call_async(agent[0], agent[1], "org.bluez.Agent1", method, None, arguments,
                           lambda *answer: print("answer", *answer), lambda error: print("error", error.get_dbus_name()))
            return True

        manager, device = Manager(bus, "/org/bluez"), Device(bus, "/org/bluez/hci0")
        bus.request_name("org.bluez")
        print("there")
        GLib.io_add_watch(sys.stdin, GLib.IO_IN, asked)
        GLib.MainLoop().run()
        """
}
