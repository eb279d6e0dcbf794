import CBluetooth
import Domain
import Glibc
import LinuxIO

/// A connection to the system bus, used only for talking to bluetoothd. To be used only on the loop.
final class SystemBus: @unchecked Sendable {
    // Unchecked: loop only.

    /// Receives events. Never called from within a call to the bus.
    struct Listener: Sendable {
        /// bluetoothd's own name on the bus; empty if it is not there.
        var owner: @Sendable (String) -> Void
        /// - Parameter error: nil if the call succeeded.
        var answered: @Sendable (_ call: UInt32, _ error: BusError?, _ value: Bool) -> Void
        var asked: @Sendable (_ sender: String, _ member: String, _ device: String?) -> Answer
        /// The connection is gone. This is the last event.
        var closed: @Sendable (Errno) -> Void
    }

    enum Answer: Sendable {
        case rejected, agreed
        case text(String)
    }

    struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
        var name: String
        var message: String

        var description: String { message.isEmpty ? name : "\(name): \(message)" }
    }

    enum Call: Sendable {
        case registerAgent(capability: String), requestDefaultAgent, unregisterAgent
        case getPaired(String)
    }

    private let loop: IOLoop
    private let listener: Listener
    private var bus: OpaquePointer?
    /// Belongs to sd-bus, which closes it.
    private var descriptor: FileDescriptor?
    private var timer: LoopTimer?
    private var isDirty = false

    /// Where the bus listens. Nil for the system bus.
    private let address: String?

    init(loop: IOLoop, address: String?, listener: Listener) {
        self.loop = loop
        self.address = address
        self.listener = listener
    }

    func open() throws(Errno) {
        var made: OpaquePointer?
        var listener = cb_bus_listener(
            context: Unmanaged.passUnretained(self).toOpaque(),
            owner: { context, owner in SystemBus.from(context).owner(SystemBus.text(owner)) },
            answered: { context, call, error, message, value in
                let failure = error.map { BusError(name: String(cString: $0), message: SystemBus.text(message)) }
                SystemBus.from(context).answered(call, failure, value != 0)
            },
            asked: { context, sender, member, device, place in
                let device = device.map { String(cString: $0) }
                let answer = SystemBus.from(context).asked(SystemBus.text(sender), SystemBus.text(member), device)
                return SystemBus.put(answer, at: place)
            })
        let result = cb_bus_open(&made, address, &listener)
        guard result == 0, let made else { throw Errno(-result) }
        bus = made
        // A duplicate for the same connection: each of the two is closed by its owner.
        let copy = fcntl(cb_bus_descriptor(made), F_DUPFD_CLOEXEC, 0)
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

    func close() {
        if let timer { loop.cancel(timer) }
        timer = nil
        if let descriptor {
            loop.unregister(descriptor)
            descriptor.close()
        }
        descriptor = nil
        if let bus { cb_bus_close(bus) }
        bus = nil
    }

    /// - Parameter number: identifies the call in `answered`; not the number of a call still waiting for its answer.
    func send(_ call: Call, _ number: UInt32) {
        guard let bus else { return }
        let result =
            switch call {
            case .registerAgent(let capability): cb_bus_register_agent(bus, number, capability)
            case .requestDefaultAgent: cb_bus_request_default_agent(bus, number)
            case .unregisterAgent: cb_bus_unregister_agent(bus, number)
            case .getPaired(let device): cb_bus_get_paired(bus, number, device)
            }
        if result < 0 {
            let error = BusError(name: "\(Errno(-result))", message: "")
            loop.execute { [weak self] in self?.answered(number, error, false) }
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
            let result = cb_bus_process(bus)
            if result < 0 {
                close()
                return listener.closed(Errno(-result))
            }
            if result == 0 { return waitOn() }
        }
        processSoon()
    }

    private func waitOn() {
        guard let bus, let descriptor else { return }
        let events = cb_bus_events(bus)
        let interest: Readiness = events > 0 && events & Int32(POLLOUT) != 0 ? [.readable, .writable] : .readable
        // It is registered and open, so only memory can be lacking.
        try? loop.modify(descriptor, interest)
        if let timer { loop.cancel(timer) }
        let wait = cb_bus_wait_ms(bus)
        timer =
            wait < 0
            ? nil : loop.schedule(at: loop.now + .milliseconds(wait)) { [weak self] in self?.process() }
    }

    // MARK: Incoming events

    private func owner(_ owner: String) {
        let listener = listener
        loop.execute { listener.owner(owner) }
    }

    private func answered(_ call: UInt32, _ error: BusError?, _ value: Bool) {
        let listener = listener
        loop.execute { listener.answered(call, error, value) }
    }

    /// Answered at once: the library sends the result.
    private func asked(_ sender: String, _ member: String, _ device: String?) -> Answer {
        listener.asked(sender, member, device)
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> SystemBus {
        guard let context else { preconditionFailure("The C part hands on what it was given") }
        return Unmanaged<SystemBus>.fromOpaque(context).takeUnretainedValue()
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }

    private static func put(_ answer: Answer, at place: UnsafeMutablePointer<CChar>?) -> Int32 {
        switch answer {
        case .rejected: return Int32(cb_bus_reject)
        case .agreed: return Int32(cb_bus_agree)
        case .text(let text):
            guard let place else { return Int32(cb_bus_reject) }
            // At most sixteen characters, followed by the terminating zero.
            for (offset, byte) in text.utf8.prefix(16).enumerated() { place[offset] = CChar(bitPattern: byte) }
            return Int32(cb_bus_text)
        }
    }
}
