import Domain
import Glibc
package import LinuxIO

/// A connection to the D-Bus system bus for one daemon. Use it only on the loop.
package final class SystemBus: @unchecked Sendable {
    /// Event on the bus. Never reported during a call of this class.
    package enum Event: Sendable {
        /// The daemon's unique bus name; empty if it does not run. Reported at the start and at each change.
        case owner(String)
        /// A signal of one of the `signals` interfaces, from any sender.
        case signal(from: String, path: String, member: String, [BusValue])
        /// The connection is closed; the last event.
        case closed(Errno)
    }

    package struct Call: Sendable {
        var (path, interface, member): (String, String, String)
        var arguments: [BusValue]

        package init(_ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []) {
            (self.path, self.interface, self.member, self.arguments) = (path, interface, member, arguments)
        }
    }

    /// Handler of calls to this program's D-Bus object.
    package typealias Question =
        @Sendable (_ sender: String, _ member: String, [BusValue]) -> Result<
            [BusValue], BusError
        >
    package typealias Answer = @Sendable (Result<[BusValue], BusError>) -> Void

    private let loop: IOLoop
    private let daemon: String
    private let address: String?
    private let signals: [String]
    private let object: (interface: String, asked: Question)?
    private let handle: @Sendable (Event) -> Void
    private var bus: OpaquePointer?
    private var descriptor: FileDescriptor?
    private var timer: LoopTimer?
    private var isDirty = false
    private var waiting: [UInt64: Answer] = [:]

    private static let valuesMax = 1024

    package init(
        loop: IOLoop, address: String?, daemon: String, signals: [String] = [],
        object: (interface: String, asked: Question)? = nil, handle: @escaping @Sendable (Event) -> Void
    ) {
        (self.loop, self.address, self.daemon) = (loop, address, daemon)
        (self.signals, self.object, self.handle) = (signals, object, handle)
    }

    /// - Throws: `ELIBACC` without libsystemd.
    package func open() throws(Errno) {
        guard BusLibrary.isThere else { throw Errno(ELIBACC) }
        do throws(Errno) {
            try Self.check(address == nil ? BusLibrary.openSystem(&bus) : BusLibrary.new(&bus))
            if let address {
                try Self.check(BusLibrary.setAddress(bus, address))
                try Self.check(BusLibrary.setClient(bus, 1))
                try Self.check(BusLibrary.start(bus))
            }
            try Self.check(BusLibrary.addFilter(bus, nil, Self.received, context))
            // Duplicate the descriptor, because sd-bus closes its own.
            let number = BusLibrary.descriptor(bus)
            let copy = FileDescriptor(owning: try Errno.check { fcntl(number, F_DUPFD_CLOEXEC, 0) })
            try loop.register(copy, .readable) { [weak self] _ in self?.process() }
            descriptor = copy
        } catch {
            close()
            throw error
        }
        watch()
        process()
    }

    private static func check(_ result: Int32) throws(Errno) {
        if result < 0 { throw Errno(-result) }
    }

    package func close() {
        if let timer { loop.cancel(timer) }
        timer = nil
        if let descriptor {
            loop.unregister(descriptor)
            descriptor.close()
        }
        descriptor = nil
        if let bus { _ = BusLibrary.close(bus) }
        (bus, waiting) = (nil, [:])
    }

    /// Calls the daemon. Does not call `answer` after the bus is closed.
    package func send(_ call: Call, then answer: @escaping Answer) { send(call, to: daemon, then: answer) }

    package func forgetCalls() { waiting = [:] }

    private func send(_ call: Call, to destination: String, then answer: @escaping Answer) {
        guard let bus else { return }
        var (message, number): (OpaquePointer?, UInt64) = (nil, 0)
        var result = BusLibrary.newCall(bus, &message, destination, call.path, call.interface, call.member)
        if result >= 0 { result = BusLibrary.append(call.arguments, to: message) }
        if result >= 0 { result = BusLibrary.call(bus, nil, message, Self.answered, context, 0) }
        if result >= 0 { result = BusLibrary.cookie(message, &number) }
        if let message { _ = BusLibrary.unref(message) }
        if result >= 0 {
            waiting[number] = answer
        } else {
            let failure = BusError("\(Errno(-result))")
            loop.execute { answer(.failure(failure)) }
        }
        processSoon()
    }

    /// Subscribes to changes of the daemon's owner and to its signals, then requests the present owner. The bus answers
    /// in order, so no change is missed.
    private func watch() {
        let bus = "org.freedesktop.DBus"
        let place = "/org/freedesktop/DBus"
        var rules = [
            "type='signal',sender='\(bus)',path='\(place)',interface='\(bus)',member='NameOwnerChanged',arg0='\(daemon)'"
        ]
        rules += signals.map { "type='signal',sender='\(daemon)',interface='\($0)'" }
        for rule in rules { send(Call(place, bus, "AddMatch", [.text(rule)]), to: bus) { _ in } }
        send(Call(place, bus, "GetNameOwner", [.text(daemon)]), to: bus) { [handle] answer in
            handle(.owner((try? answer.get().first?.text) ?? ""))
        }
    }

    // MARK: The loop

    /// Processes messages in the loop's next turn, because sd-bus may be calling this code.
    private func processSoon() {
        guard !isDirty else { return }
        isDirty = true
        loop.execute { [weak self] in self?.process() }
    }

    private func process() {
        isDirty = false
        // Limit the messages per turn, so that a busy bus leaves time for the meters on the loop.
        for _ in 0..<32 {
            guard let bus else { return }
            let result = BusLibrary.process(bus, nil)
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
        let events = BusLibrary.events(bus)
        let interest: Readiness = events > 0 && events & Int32(POLLOUT) != 0 ? [.readable, .writable] : .readable
        try? loop.modify(descriptor, interest)
        if let timer { loop.cancel(timer) }
        timer = nil
        // Deadline in microseconds on the monotonic clock, which stops during suspend.
        var until = UInt64.max
        guard BusLibrary.timeout(bus, &until) >= 0, until != .max else { return }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let wait = Int64(clamping: until) - Int64(now.tv_sec) * 1_000_000 - Int64(now.tv_nsec) / 1000
        timer = loop.schedule(at: loop.now + .milliseconds(max(0, wait / 1000 + 1))) { [weak self] in self?.process() }
    }

    // MARK: Incoming messages

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private static func from(_ context: UnsafeMutableRawPointer?) -> SystemBus {
        guard let context else { preconditionFailure("sd-bus hands on what it was given") }
        return Unmanaged<SystemBus>.fromOpaque(context).takeUnretainedValue()
    }

    private static let answered: BusLibrary.Handler = { message, context, _ in
        SystemBus.from(context).answered(message)
        return 1
    }

    private static let received: BusLibrary.Handler = { message, context, _ in
        SystemBus.from(context).received(message) ? 1 : 0
    }

    private func answered(_ message: OpaquePointer?) {
        var number: UInt64 = 0
        guard BusLibrary.replyCookie(message, &number) >= 0, let answer = waiting.removeValue(forKey: number)
        else { return }
        let result: Result<[BusValue], BusError> =
            if let error = BusLibrary.error(message) {
                .failure(BusError(Self.text(error[0]), Self.text(error[1])))
            } else {
                .success(values(of: message))
            }
        loop.execute { answer(result) }
    }

    /// Returns whether the message is handled. The library answers all others, such as calls of an unknown method.
    private func received(_ message: OpaquePointer?) -> Bool {
        let (sender, member) = (Self.text(BusLibrary.sender(message)), Self.text(BusLibrary.member(message)))
        if let object, BusLibrary.isCall(message, object.interface, nil) > 0 {
            reply(object.asked(sender, member, values(of: message)), to: message)
            return true
        }
        if signals.contains(where: { BusLibrary.isSignal(message, $0, nil) > 0 }) {
            let path = Self.text(BusLibrary.path(message))
            tell(.signal(from: sender, path: path, member: member, values(of: message)))
        } else if sender == "org.freedesktop.DBus", member == "NameOwnerChanged" {
            tell(.owner(values(of: message).last?.text ?? ""))
        }
        return false
    }

    private func tell(_ event: Event) { loop.execute { [handle] in handle(event) } }

    private func values(of message: OpaquePointer?) -> [BusValue] {
        var left = Self.valuesMax
        return BusLibrary.values(of: message, &left)
    }

    private func reply(_ answer: Result<[BusValue], BusError>, to question: OpaquePointer?) {
        var message: OpaquePointer?
        switch answer {
        case .success(let values):
            guard BusLibrary.newReturn(question, &message) >= 0, BusLibrary.append(values, to: message) >= 0 else {
                break
            }
            _ = BusLibrary.send(bus, message, nil)
        case .failure(let error):
            let result = error.name.withCString { name in
                error.message.withCString { words in
                    // Layout of an `sd_bus_error`. Its third member is 0, so the library frees nothing.
                    withUnsafeBytes(of: (name, words, 0)) {
                        $0.baseAddress.map { BusLibrary.newError(question, &message, $0) }
                    }
                }
            }
            if result ?? -1 >= 0 { _ = BusLibrary.send(bus, message, nil) }
        }
        if let message { _ = BusLibrary.unref(message) }
    }

    private static func text(_ text: BusLibrary.Text) -> String { text.map { String(cString: $0) } ?? "" }
}
