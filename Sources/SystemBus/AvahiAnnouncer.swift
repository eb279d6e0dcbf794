package import Domain
package import LinuxIO

/// Announces services through Avahi, until the process exits.
///
/// Signatures: org.freedesktop.Avahi.EntryGroup.xml and …Server.xml of Avahi 0.8 and later (avahi-daemon/,
/// github.com/avahi/avahi).
package final class AvahiAnnouncer: Announcer, @unchecked Sendable {
    private static let server = "org.freedesktop.Avahi.Server"
    private static let group = "org.freedesktop.Avahi.EntryGroup"
    private static let pause = Duration.seconds(60)

    private let loop: IOLoop
    private let address: String?
    private let report: @Sendable (Announcement.State) -> Void
    private var machine: Announcement
    private var bus: SystemBus?
    private var timer: LoopTimer?
    private var reported = Announcement.State.idle
    /// Serial number of the current D-Bus connection. Answers from earlier connections are dropped.
    private var connection = 0

    /// - Parameters:
    ///   - address: D-Bus address; nil for the system bus.
    ///   - report: called on the loop at each change.
    package init(
        loop: IOLoop, bus address: String? = nil, name: String,
        report: @escaping @Sendable (Announcement.State) -> Void
    ) {
        (self.loop, self.address, self.report) = (loop, address, report)
        machine = Announcement(name: name)
    }

    package func announce(_ services: [OfferedService]) { loop.execute { [self] in receive(.wants(services)) } }

    package func state() async -> Announcement.State {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in continuation.resume(returning: machine.state) }
        }
    }

    private func receive(_ input: Announcement.Input) {
        for order in machine.receive(input) { carryOut(order) }
        guard ![reported, .registering, .collision].contains(machine.state) else { return }
        reported = machine.state
        report(reported)
    }

    private func carryOut(_ order: Announcement.Order) {
        switch order {
        case .connect: connect()
        case .disconnect: disconnect()
        case .makeGroup: send("/", Self.server, "EntryGroupNew")
        case .add(let service, let name, let group):
            // Arguments: every interface and protocol, no flags, Avahi's own domain and host
            // (avahi-daemon/dbus-entry-group.c).
            send(
                group, Self.group, "AddService",
                [
                    .int(-1), .int(-1), .uint(0), .text(name), .text(service.type), .text(""), .text(""),
                    .short(service.port), .list(service.text.map { .bytes(Array($0.utf8)) }),
                ])
        case .commit(let group): send(group, Self.group, "Commit")
        case .rename(let name): send("/", Self.server, "GetAlternativeServiceName", [.text(name)])
        case .wait:
            if let timer { loop.cancel(timer) }
            timer = loop.schedule(at: loop.now + Self.pause) { [weak self] in self?.receive(.retry) }
        }
    }

    private func disconnect() {
        bus?.close()
        bus = nil
        connection += 1
    }

    private func connect() {
        disconnect()
        let bus = SystemBus(
            loop: loop, address: address, daemon: "org.freedesktop.Avahi", signals: [Self.server, Self.group]
        ) { [weak self, connection] event in
            if let self, connection == self.connection { happened(event) }
        }
        self.bus = bus
        do throws(Errno) {
            try bus.open()
        } catch {
            receive(.lost(.noBus(error)))
        }
    }

    /// Calls a method of Avahi. Passes the answer to `receive` if it begins with a text or an object path.
    private func send(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []) {
        bus?.send(SystemBus.Call(path, interface, member, arguments)) { [weak self, connection] answer in
            guard let self, connection == self.connection else { return }
            switch answer {
            case .success(let values): if let text = values.first?.text { receive(.told(text)) }
            case .failure(let error): receive(.refused(error: error.name, words: "\(error)"))
            }
        }
    }

    private func happened(_ event: SystemBus.Event) {
        switch event {
        case .owner(let owner):
            bus?.forgetCalls()
            receive(.owner(owner))
        case .signal(let sender, let path, let member, let values):
            guard member == "StateChanged", values.count >= 2, case .int(let state) = values[0] else { return }
            receive(.changed(by: sender, path: path, state: state, error: values[1].text ?? ""))
        case .closed(let cause): receive(.lost(.noBus(cause)))
        }
    }
}
