import Domain
import Testing

/// What is asked of Avahi so that services are announced.
struct AnnouncementTests {
    private static let page = OfferedService("_http._tcp", port: 8642, text: ["path=/"])
    private static let taken = Announcement.Input.refused(error: "org.freedesktop.Avahi.CollisionError", words: "taken")

    private func state(_ state: Int32, by sender: String = ":1.7", at path: String = "/g") -> Announcement.Input {
        .changed(by: sender, path: path, state: state, error: "org.freedesktop.Avahi.TimeoutError")
    }

    /// One that wants the page announced, and got this far.
    private func begun(_ inputs: [Announcement.Input] = [.owner(":1.7"), .told("/g")]) -> Announcement {
        var machine = Announcement(name: "meterd on pi")
        #expect(machine.receive(.wants([Self.page])) == [.connect])
        for input in inputs { _ = machine.receive(input) }
        return machine
    }

    @Test func service_isAddedAndCommitted_onceAvahiIsThere() {
        var machine = begun([])
        #expect(machine.state == .registering)
        #expect(machine.receive(.owner(":1.7")) == [.makeGroup])
        #expect(
            machine.receive(.told("/g")) == [
                .add(Self.page, name: "meterd on pi", group: "/g"), .commit(group: "/g"),
            ])
        #expect(machine.receive(state(1)).isEmpty && machine.state == .registering)
        #expect(machine.receive(state(2)).isEmpty && machine.state == .established(name: "meterd on pi"))
        #expect(machine.receive(.wants([])) == [.disconnect])
        // What the connection still had to tell.
        #expect(machine.receive(.owner("")).isEmpty && machine.state == .idle)
    }

    /// Of a stranger on the bus, or of another group of Avahi's.
    @Test func signal_ofSomethingElse_changesNothing() {
        var machine = begun()
        #expect(machine.receive(state(2, by: ":1.8")).isEmpty && machine.receive(state(2, at: "/other")).isEmpty)
        #expect(machine.state == .registering)
    }

    @Test func avahi_thatIsAbsent_isWaitedFor_andOneThatRestarts_isAskedAnew() {
        var machine = begun([.owner("")])
        #expect(machine.state == .absent && machine.state.fault == .noAvahi)
        #expect(machine.receive(.owner(":1.7")) == [.makeGroup])
        _ = machine.receive(.told("/g"))
        _ = machine.receive(state(2))
        #expect(machine.receive(.owner("")).isEmpty && machine.state == .absent)
        #expect(machine.receive(.owner(":1.9")) == [.makeGroup])
        // The last one's group has the same path.
        #expect(machine.receive(state(2)).isEmpty && machine.state == .registering)
    }

    /// By another machine, as a signal, or by a program of this one, as the answer to both services.
    @Test(arguments: [[Announcement.Input.changed(by: ":1.7", path: "/g", state: 3, error: "")], [taken, taken]])
    func nameThatIsTaken_isReplaced(inputs: [Announcement.Input]) {
        var machine = begun()
        #expect(inputs.flatMap { machine.receive($0) } == [.rename("meterd on pi")])
        #expect(machine.state == .collision)
        // The rest of the group may have been registered meanwhile.
        #expect(machine.receive(state(2)).isEmpty)
        #expect(machine.receive(.told("meterd on pi #2")) == [.connect])
        _ = machine.receive(.owner(":1.7"))
        #expect(machine.receive(.told("/g")).first == .add(Self.page, name: "meterd on pi #2", group: "/g"))
    }

    @Test func strangerWhoTakesEveryName_getsAPause() {
        var machine = begun([])
        var orders: [Announcement.Order] = []
        for number in 0..<21 {
            _ = machine.receive(.owner(":1.7"))
            _ = machine.receive(.told("/g"))
            orders = machine.receive(state(3))
            guard orders == [.rename(number == 0 ? "meterd on pi" : "pi #\(number)")] else { break }
            _ = machine.receive(.told("pi #\(number + 1)"))
        }
        #expect(orders == [.disconnect, .wait])
        #expect(machine.state.fault?.message.contains("\"pi #20\" and names like it are taken") == true)
        #expect(machine.receive(.retry) == [.connect] && machine.state == .registering)
    }

    @Test(arguments: [
        (
            Announcement.Input.changed(by: ":1.7", path: "/g", state: 4, error: "org.freedesktop.Avahi.TimeoutError"),
            "TimeoutError"
        ),
        (.refused(error: "org.freedesktop.Avahi.NotPermittedError", words: "not permitted"), "not permitted"),
        (.lost(DiscoveryFault("no system bus", next: "n")), "no system bus"),
    ])
    func failure_isSaid_andRetriedAfterAPause(input: Announcement.Input, words: String) {
        var machine = begun()
        #expect(machine.receive(.retry).isEmpty)
        #expect(machine.receive(input) == [.disconnect, .wait])
        #expect(machine.state.fault?.message.contains(words) == true)
        #expect(machine.receive(.retry) == [.connect])
    }

    /// Each service has the machine's name in it.
    @Test func machineWithANewName_announcesAnew() {
        var machine = begun()
        _ = machine.receive(state(2))
        #expect(machine.receive(state(3, at: "/")).isEmpty)
        #expect(machine.receive(state(2, at: "/")) == [.connect])
    }

    /// At most 63 bytes (RFC 6763, section 4.1.1), and whole characters.
    @Test func longName_isCut() {
        var machine = Announcement(name: String(repeating: "é", count: 40))
        for input in [Announcement.Input.wants([Self.page]), .owner(":1.7")] { _ = machine.receive(input) }
        let name = String(repeating: "é", count: 31)
        #expect(machine.receive(.told("/g")).first == .add(Self.page, name: name, group: "/g"))
    }

    /// Strings of TXT have a byte for their length (RFC 6763, section 6.1).
    @Test func offer_hasNoStringThatIsTooLong() {
        let long = String(repeating: "a", count: 256)
        #expect(OfferedService("_x._tcp", port: 70_000, text: [long, "path=/"]).text == ["path=/"])
    }
}
