import Domain
import MeterTestKit
import SystemBus
import Testing

/// Services that are announced through an Avahi in Python, on a bus of its own.
@Suite(.enabled(if: FakeBluetoothd.missing == nil, "\(FakeBluetoothd.missing ?? "")"), .timeLimit(.minutes(5)))
struct AvahiAnnouncerTests {
    private static let services = [
        OfferedService("_http._tcp", port: 8642, text: ["path=/"]),
        OfferedService("_meterd._tcp", port: 8642, text: ["version=1", "", "https=0"]),
    ]

    private func announced(_ manner: String, until: String, on bus: String? = nil) async throws -> [String] {
        let daemon = try FakeBluetoothd()
        var said: [String] = []
        return try await withLoop { loop in
            let (states, sink) = AsyncStream.makeStream(of: Announcement.State.self)
            let announcer = AvahiAnnouncer(loop: loop, bus: bus ?? daemon.address, name: "meterd on pi") {
                sink.yield($0)
            }
            announcer.announce(Self.services)
            var state = states.makeAsyncIterator()
            if bus == nil {
                // It comes later, and is not missed.
                #expect(await state.next() == .absent)
                try daemon.start(manner, script: Self.script)
            }
            guard let last = await state.next() else { return said }
            #expect("\(last)".contains(until), "\(last)")
            while case .established = last, let line = await daemon.next() {
                said.append(line)
                if line.hasPrefix("committed") { break }
            }
            announcer.announce([])
            #expect(await state.next() == .idle)
            return said
        }
    }

    /// The first name belongs to somebody else in the manner of "taken" by a signal, of "local" by an error.
    @Test(arguments: [("good", ""), ("taken", " #2"), ("local", " #2")])
    func services_areAnnounced_underANameThatIsFree(manner: String, suffix: String) async throws {
        let said = try await announced(manner, until: "meterd on pi\(suffix)")
        #expect(
            said.suffix(3) == [
                "-1 -1 0 meterd on pi\(suffix) _http._tcp '' '' 8642 ['path=/']",
                "-1 -1 0 meterd on pi\(suffix) _meterd._tcp '' '' 8642 ['version=1', '', 'https=0']", "committed",
            ])
    }

    @Test(arguments: [
        ("refusing", String?.none, "NotPermittedError"), ("", "unix:path=/nowhere", "no system bus"),
    ])
    func failure_isReported(manner: String, bus: String?, words: String) async throws {
        #expect(try await announced(manner, until: words, on: bus).isEmpty)
    }

    private static let script = """
        manner, groups = sys.argv[2], 0

        class Refusal(dbus.DBusException):
            def __init__(self, name):
                super().__init__("no")
                self._dbus_error_name = "org.freedesktop.Avahi." + name

        class Group(dbus.service.Object):
            @dbus.service.signal("org.freedesktop.Avahi.EntryGroup", "is")
            def StateChanged(self, state, error):
                pass

            @dbus.service.method("org.freedesktop.Avahi.EntryGroup", "iiussssqaay", "")
            def AddService(self, interface, protocol, flags, name, type, domain, host, port, text):
                if manner == "local" and "#" not in name:
                    raise Refusal("CollisionError")
                strings = [bytes(string).decode() for string in text]
                if manner == "good" or "#" in name:
                    print(interface, protocol, flags, name, type, repr(str(domain)), repr(str(host)), port, strings)

            @dbus.service.method("org.freedesktop.Avahi.EntryGroup", "", "")
            def Commit(self):
                is_taken = manner == "taken" and groups == 1
                if not is_taken and (manner == "good" or groups == 2):
                    print("committed")
                for state in (1, 3 if is_taken else 2):
                    GLib.idle_add(self.StateChanged, state, "")

        class Server(dbus.service.Object):
            @dbus.service.method("org.freedesktop.Avahi.Server", "", "o")
            def EntryGroupNew(self):
                global groups, group
                if manner == "refusing":
                    raise Refusal("NotPermittedError")
                groups += 1
                group = Group(bus, f"/Client1/EntryGroup{groups}")
                return dbus.ObjectPath(f"/Client1/EntryGroup{groups}")

            @dbus.service.method("org.freedesktop.Avahi.Server", "s", "s")
            def GetAlternativeServiceName(self, name):
                return name + " #2"

        server = Server(bus, "/")
        bus.request_name("org.freedesktop.Avahi")
        GLib.MainLoop().run()
        """
}
