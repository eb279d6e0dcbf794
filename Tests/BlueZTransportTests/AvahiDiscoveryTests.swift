import Domain
import MeterTestKit
import SystemBus
import Testing

/// Services in the network, as an Avahi in Python tells of them on a bus of its own.
@Suite(.enabled(if: FakeBluetoothd.missing == nil, "\(FakeBluetoothd.missing ?? "")"), .timeLimit(.minutes(5)))
struct AvahiDiscoveryTests {
    private static let garage = FoundService(
        name: "garage", host: "garage.local", port: 6053, text: [5] + Array("a=\u{1B}!".utf8) + [0xFF])

    /// - Parameters:
    ///   - manner: of the daemon; nil for none on the bus.
    ///   - bus: another than the daemon's.
    private func look(_ manner: String?, bus: String? = nil) async throws -> Result<FoundServices, DiscoveryFault> {
        let daemon = try FakeBluetoothd()
        if let manner {
            try daemon.start(manner, script: Self.script)
            #expect(await daemon.next() == "there")
        }
        return try await withLoop { loop in
            do throws(DiscoveryFault) {
                let discovery = AvahiDiscovery(loop: loop, bus: bus ?? daemon.address)
                return .success(try await discovery.services(of: "_esphomelib._tcp"))
            } catch {
                return .failure(error)
            }
        }
    }

    /// One comes over two protocols, one is gone when it is asked for, one is of somebody who is not Avahi.
    @Test func services_areFoundOnce_andOnlyThoseOfAvahi() async throws {
        #expect(try await look("good") == .success(FoundServices([Self.garage])))
    }

    @Test func tenThousandServices_areCut_andTheLookEnds() async throws {
        let found = try await look("flooding").get()
        #expect(found.isCut && found.services.count == 64)
    }

    @Test func daemonThatNeverEndsTelling_hasTwoSeconds() async throws {
        #expect(try await look("slow") == .success(FoundServices([Self.garage])))
    }

    @Test(arguments: [
        (nil, nil, "Avahi does not run here"), ("leaving", nil, "ended meanwhile"),
        ("refusing", nil, "TooManyObjects"), ("failing", nil, "it ended the search"),
        ("good", "unix:path=/nowhere", "no system bus"),
    ])
    func daemonThatDoesNotLook_isSaid(manner: String?, bus: String?, words: String) async throws {
        let result = try await look(manner, bus: bus)
        guard case .failure(let fault) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(fault.message.contains(words) && !fault.next.isEmpty, "\(fault)")
    }

    private static let script = """
        manner = sys.argv[2]
        stranger = dbus.bus.BusConnection(sys.argv[1])

        class Refusal(dbus.DBusException):
            _dbus_error_name = "org.freedesktop.Avahi.TooManyObjectsError"

        def signal(client, member, *values, by=bus):
            message = dbus.lowlevel.SignalMessage(
                "/Client1/ServiceBrowser1", "org.freedesktop.Avahi.ServiceBrowser", member)
            message.set_destination(client)
            if member == "ItemNew":
                message.append(signature="iisssu", *values)
            by.send_message(message)

        def tell(client):
            def item(name, protocol=0, by=bus):
                signal(client, "ItemNew", 1, protocol, name, "_esphomelib._tcp", "local", 0, by=by)
            if manner == "flooding":
                for number in range(10000):
                    item(f"node{number}")
                return
            if manner == "failing":
                return signal(client, "Failure")
            item("garage")
            item("garage", 1)
            item("gone")
            if manner == "leaving":
                bus.flush()
                bus.release_name("org.freedesktop.Avahi")
                return
            item("forged", by=stranger)
            stranger.flush()
            if manner == "good":
                # The other connection's signal goes first.
                GLib.timeout_add(200, signal, client, "AllForNow")

        class Server(dbus.service.Object):
            @dbus.service.method("org.freedesktop.Avahi.Server", "iissu", "o", sender_keyword="sender")
            def ServiceBrowserNew(self, interface, protocol, type, domain, flags, sender):
                if manner == "refusing" or (interface, protocol, type, domain) != (-1, -1, "_esphomelib._tcp", ""):
                    raise Refusal("no")
                GLib.idle_add(tell, sender)
                return dbus.ObjectPath("/Client1/ServiceBrowser1")

            @dbus.service.method("org.freedesktop.Avahi.Server", "iisssiu", "iissssisqaayu")
            def ResolveService(self, interface, protocol, name, type, domain, kind, flags):
                if name in ("gone", "forged") and flags == 8:
                    raise Refusal("it is not there") if name == "gone" else SystemExit
                text = [dbus.ByteArray(b"x" * 300), dbus.ByteArray(b""), dbus.ByteArray(b"a=\\x1b!\\xff")]
                return 1, 0, name, type, domain, f"{name}.local", 0, "", 6053, text, 0

        server = Server(bus, "/")
        bus.request_name("org.freedesktop.Avahi")
        print("there")
        GLib.MainLoop().run()
        """
}
