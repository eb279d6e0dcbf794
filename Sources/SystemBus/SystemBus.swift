import CSystemBus
package import Domain
import Glibc
package import LinuxIO

/// A connection to the system bus, used only for talking to one daemon. To be used only on the loop.
package final class SystemBus: @unchecked Sendable {
    // Unchecked: loop only.

    /// What happens on the bus. Never told from within a call to it.
    package enum Event: Sendable {
        /// The daemon's own name on the bus; empty if it is not there.
        case owner(String)
        /// `error` is nil if the call succeeded; `value` is that of a property.
        case answered(_ call: UInt32, error: BusError?, value: Bool)
        /// Avahi's service browser has news; only `ItemNew` names a service.
        case browsed(by: String, member: String, name: String, domain: String)
        /// Avahi knows where a service is, in place of `answered`.
        case resolved(_ call: UInt32, FoundService)
        /// The connection is gone. This is the last event.
        case closed(Errno)
    }

    /// bluetoothd asks its agent.
    package typealias Question = @Sendable (_ sender: String, _ member: String, _ device: String?) -> Answer

    package enum Daemon: Sendable { case bluetoothd, avahi }

    package enum Answer: Sendable {
        case rejected, agreed
        case text(String)
    }

    package struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
        package var name: String
        package var message: String

        package var description: String { message.isEmpty ? name : "\(name): \(message)" }
    }

    package enum Call: Sendable {
        case registerAgent(capability: String), requestDefaultAgent, unregisterAgent
        case getPaired(String)
        case browse(String)
        case resolve(name: String, type: String, domain: String)
    }

    private let loop: IOLoop
    private let daemon: Daemon
    private let question: Question
    private let handle: @Sendable (Event) -> Void
    private var bus: OpaquePointer?
    /// Belongs to sd-bus, which closes it.
    private var descriptor: FileDescriptor?
    private var timer: LoopTimer?
    private var isDirty = false

    /// Where the bus listens. Nil for the system bus.
    private let address: String?

    package init(
        loop: IOLoop, address: String?, daemon: Daemon, asked question: @escaping Question = { _, _, _ in .rejected },
        handle: @escaping @Sendable (Event) -> Void
    ) {
        (self.loop, self.address, self.daemon) = (loop, address, daemon)
        (self.question, self.handle) = (question, handle)
    }

    package func open() throws(Errno) {
        var made: OpaquePointer?
        var listener = cs_bus_listener(
            context: Unmanaged.passUnretained(self).toOpaque(),
            owner: { context, owner in SystemBus.from(context).tell(.owner(SystemBus.text(owner))) },
            answered: { context, call, error, message, value in
                let failure = error.map { BusError(name: String(cString: $0), message: SystemBus.text(message)) }
                SystemBus.from(context).tell(.answered(call, error: failure, value: value != 0))
            },
            asked: { context, sender, member, device, place in
                let device = device.map { String(cString: $0) }
                let answer = SystemBus.from(context).question(SystemBus.text(sender), SystemBus.text(member), device)
                return SystemBus.put(answer, at: place)
            },
            browsed: { context, sender, member, name, domain in
                SystemBus.from(context).tell(
                    .browsed(
                        by: SystemBus.text(sender), member: SystemBus.text(member), name: SystemBus.text(name),
                        domain: SystemBus.text(domain)))
            },
            resolved: { context, call, name, host, port, text, length in
                let service = FoundService(
                    name: SystemBus.text(name), host: SystemBus.text(host), port: Int(port),
                    text: Array(UnsafeBufferPointer(start: text, count: length)))
                SystemBus.from(context).tell(.resolved(call, service))
            })
        let result = cs_bus_open(&made, address, daemon == .avahi ? cs_bus_avahi : cs_bus_bluetoothd, &listener)
        guard result == 0, let made else { throw Errno(-result) }
        bus = made
        // A duplicate for the same connection: each of the two is closed by its owner.
        let copy = fcntl(cs_bus_descriptor(made), F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else {
            let reason = Errno(errno)
            close()
            throw reason
        }
        let descriptor = FileDescriptor(owning: copy)
        do throws(Errno) {
            try loop.register(descriptor, .readable) { [weak self] _ in self?.process() }
        } catch {
            close()
            throw error
        }
        self.descriptor = descriptor
        process()
    }

    package func close() {
        if let timer { loop.cancel(timer) }
        timer = nil
        if let descriptor {
            loop.unregister(descriptor)
            descriptor.close()
        }
        descriptor = nil
        if let bus { cs_bus_close(bus) }
        bus = nil
    }

    /// - Parameter number: identifies the call in `answered`; not the number of a call still waiting for its answer.
    package func send(_ call: Call, _ number: UInt32) {
        guard let bus else { return }
        let result =
            switch call {
            case .registerAgent(let capability): cs_bus_register_agent(bus, number, capability)
            case .requestDefaultAgent: cs_bus_request_default_agent(bus, number)
            case .unregisterAgent: cs_bus_unregister_agent(bus, number)
            case .getPaired(let device): cs_bus_get_paired(bus, number, device)
            case .browse(let type): cs_bus_browse(bus, number, type)
            case .resolve(let name, let type, let domain): cs_bus_resolve(bus, number, name, type, domain)
            }
        if result < 0 {
            tell(.answered(number, error: BusError(name: "\(Errno(-result))", message: ""), value: false))
        }
        processSoon()
    }

    // MARK: The loop

    /// Not from within a call by the library.
    private func processSoon() {
        guard !isDirty else { return }
        isDirty = true
        loop.execute { [weak self] in self?.process() }
    }

    private func process() {
        isDirty = false
        // Bounded, so that a busy bus shares the loop with meters.
        for _ in 0..<32 {
            guard let bus else { return }
            let result = cs_bus_process(bus)
            if result < 0 {
                close()
                return handle(.closed(Errno(-result)))
            }
            if result == 0 { return waitOn() }
        }
        processSoon()
    }

    private func waitOn() {
        guard let bus, let descriptor else { return }
        let events = cs_bus_events(bus)
        let interest: Readiness = events > 0 && events & Int32(POLLOUT) != 0 ? [.readable, .writable] : .readable
        // It is registered and open, so only memory can be lacking.
        try? loop.modify(descriptor, interest)
        if let timer { loop.cancel(timer) }
        let wait = cs_bus_wait_ms(bus)
        timer =
            wait < 0
            ? nil : loop.schedule(at: loop.now + .milliseconds(wait)) { [weak self] in self?.process() }
    }

    // MARK: Incoming events

    private func tell(_ event: Event) { loop.execute { [handle] in handle(event) } }

    private static func from(_ context: UnsafeMutableRawPointer?) -> SystemBus {
        guard let context else { preconditionFailure("The C part hands on what it was given") }
        return Unmanaged<SystemBus>.fromOpaque(context).takeUnretainedValue()
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }

    private static func put(_ answer: Answer, at place: UnsafeMutablePointer<CChar>?) -> Int32 {
        switch answer {
        case .rejected: return Int32(cs_bus_reject)
        case .agreed: return Int32(cs_bus_agree)
        case .text(let text):
            guard let place else { return Int32(cs_bus_reject) }
            // At most sixteen characters, followed by the terminating zero.
            for (offset, byte) in text.utf8.prefix(16).enumerated() { place[offset] = CChar(bitPattern: byte) }
            return Int32(cs_bus_text)
        }
    }
}
