import Glibc

/// libsystemd's sd-bus, loaded at run time, because a machine may lack it. The declarations are those of systemd's
/// src/systemd/sd-bus.h (symbol versions LIBSYSTEMD_221 to 241), a versioned interface that never changes. Functions
/// with variable arguments are missing, because Swift cannot call them.
enum BusLibrary {
    typealias Bus = OpaquePointer?
    typealias Message = OpaquePointer?
    typealias Made = UnsafeMutablePointer<OpaquePointer?>
    typealias Text = UnsafePointer<CChar>?
    typealias Slot = UnsafeMutableRawPointer?
    typealias Number = UnsafeMutablePointer<UInt64>
    typealias Context = UnsafeMutableRawPointer
    typealias Handler = @convention(c) (Message, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32

    static let openSystem: @Sendable @convention(c) (Made) -> Int32 = find("open_system")
    static let new: @Sendable @convention(c) (Made) -> Int32 = find("new")
    static let setAddress: @Sendable @convention(c) (Bus, Text) -> Int32 = find("set_address")
    static let setClient: @Sendable @convention(c) (Bus, Int32) -> Int32 = find("set_bus_client")
    static let start: @Sendable @convention(c) (Bus) -> Int32 = find("start")
    static let close: @Sendable @convention(c) (Bus) -> Bus = find("close_unref")
    static let descriptor: @Sendable @convention(c) (Bus) -> Int32 = find("get_fd")
    static let events: @Sendable @convention(c) (Bus) -> Int32 = find("get_events")
    static let timeout: @Sendable @convention(c) (Bus, Number) -> Int32 = find("get_timeout")
    static let process: @Sendable @convention(c) (Bus, Made?) -> Int32 = find("process")
    static let addFilter: @Sendable @convention(c) (Bus, Slot, Handler, Context) -> Int32 = find("add_filter")
    static let newCall: @Sendable @convention(c) (Bus, Made, Text, Text, Text, Text) -> Int32 = find(
        "message_new_method_call")
    static let call: @Sendable @convention(c) (Bus, Slot, Message, Handler, Context, UInt64) -> Int32 = find(
        "call_async")
    static let newReturn: @Sendable @convention(c) (Message, Made) -> Int32 = find("message_new_method_return")
    static let newError: @Sendable @convention(c) (Message, Made, UnsafeRawPointer) -> Int32 = find(
        "message_new_method_error")
    static let send: @Sendable @convention(c) (Bus, Message, Number?) -> Int32 = find("send")
    static let unref: @Sendable @convention(c) (Message) -> Message = find("message_unref")
    static let append: @Sendable @convention(c) (Message, CChar, UnsafeRawPointer?) -> Int32 = find(
        "message_append_basic")
    static let appendArray: @Sendable @convention(c) (Message, CChar, UnsafeRawPointer?, Int) -> Int32 = find(
        "message_append_array")
    static let openContainer: @Sendable @convention(c) (Message, CChar, Text) -> Int32 = find("message_open_container")
    static let closeContainer: @Sendable @convention(c) (Message) -> Int32 = find("message_close_container")
    static let cookie: @Sendable @convention(c) (Message, Number) -> Int32 = find("message_get_cookie")
    static let replyCookie: @Sendable @convention(c) (Message, Number) -> Int32 = find("message_get_reply_cookie")
    static let error: @Sendable @convention(c) (Message) -> UnsafePointer<Text>? = find("message_get_error")
    static let sender: @Sendable @convention(c) (Message) -> Text = find("message_get_sender")
    static let member: @Sendable @convention(c) (Message) -> Text = find("message_get_member")
    static let path: @Sendable @convention(c) (Message) -> Text = find("message_get_path")
    static let isSignal: @Sendable @convention(c) (Message, Text, Text) -> Int32 = find("message_is_signal")
    static let isCall: @Sendable @convention(c) (Message, Text, Text) -> Int32 = find("message_is_method_call")
    static let peek:
        @Sendable @convention(c) (Message, UnsafeMutablePointer<CChar>, UnsafeMutablePointer<Text>) -> Int32 = find(
            "message_peek_type")
    static let read: @Sendable @convention(c) (Message, CChar, Context) -> Int32 = find("message_read_basic")
    static let readArray:
        @Sendable @convention(c) (Message, CChar, UnsafeMutablePointer<UnsafeRawPointer?>, UnsafeMutablePointer<Int>) ->
            Int32 = find("message_read_array")
    static let enter: @Sendable @convention(c) (Message, CChar, Text) -> Int32 = find("message_enter_container")
    static let leave: @Sendable @convention(c) (Message) -> Int32 = find("message_exit_container")

    /// Whether the library is installed, in version LIBSYSTEMD_241 or later.
    static let isThere = symbol("close_unref") != nil

    private static func find<Function>(_ name: String) -> Function {
        guard let symbol = symbol(name) else { preconditionFailure("`isThere` comes first") }
        return unsafeBitCast(symbol, to: Function.self)
    }

    private static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
        // Never close the library: its per-thread data is still needed after a bus is closed.
        dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL).flatMap { dlsym($0, "sd_bus_\(name)") }
    }
}

package struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    package var name: String
    package var message: String

    package init(_ name: String, _ message: String = "") { (self.name, self.message) = (name, message) }

    package var description: String { message.isEmpty ? name : "\(name): \(message)" }
}

package enum BusValue: Hashable, Sendable {
    case text(String)
    case path(String)
    case int(Int32)
    /// Received: a Boolean, or any number of up to 32 bits that is not an `int`. Sent: an unsigned number of 32 bits.
    case uint(UInt32)
    /// A number of 16 bits, only for sending.
    case short(UInt16)
    case bytes([UInt8])
    /// Received: an array, a structure or a variant. Sent: an array of `bytes`.
    case list([BusValue])

    package var text: String? {
        switch self {
        case .text(let text), .path(let text): text
        case .int, .uint, .short, .bytes, .list: nil
        }
    }

    package var number: Int? { if case .uint(let number) = self { Int(number) } else { nil } }
    package var list: [BusValue] { if case .list(let values) = self { values } else { [] } }
}

extension BusLibrary {
    /// - Returns: 0, or a negative errno for an invalid value, such as a malformed path.
    static func append(_ values: [BusValue], to message: Message) -> Int32 {
        func basic(_ type: Unicode.Scalar, _ value: UnsafeRawPointer) -> Int32 {
            append(message, CChar(truncatingIfNeeded: type.value), value)
        }
        for value in values {
            let result =
                switch value {
                case .text(let text): basic("s", text)
                case .path(let path): basic("o", path)
                case .int(let number): withUnsafeBytes(of: number) { $0.baseAddress.map { basic("i", $0) } ?? 0 }
                case .uint(let number): withUnsafeBytes(of: number) { $0.baseAddress.map { basic("u", $0) } ?? 0 }
                case .short(let number): withUnsafeBytes(of: number) { $0.baseAddress.map { basic("q", $0) } ?? 0 }
                case .bytes(let bytes): bytes.withUnsafeBytes { appendArray(message, 0x79, $0.baseAddress, $0.count) }
                case .list(let values): appendList(values, to: message)
                }
            if result < 0 { return result }
        }
        return 0
    }

    private static func appendList(_ values: [BusValue], to message: Message) -> Int32 {
        let result = openContainer(message, 0x61, "ay")
        let appended = result < 0 ? result : append(values, to: message)
        return appended < 0 ? appended : closeContainer(message)
    }

    /// Reads at most `left` values, and subtracts their number from `left`. Any program can send messages, so their
    /// size must be limited.
    static func values(of message: Message, _ left: inout Int) -> [BusValue] {
        var values: [BusValue] = []
        var (type, contents): (CChar, Text) = (0, nil)
        while left > 0, peek(message, &type, &contents) > 0 {
            left -= 1
            var (number, text, count): (UInt32, Text, Int) = (0, nil, 0)
            var bytes: UnsafeRawPointer?
            switch Unicode.Scalar(UInt8(truncatingIfNeeded: type)) {
            case "s", "o", "g":
                guard read(message, type, &text) > 0, let text else { return values }
                let string = String(cString: text)
                values.append(type == 0x6F ? .path(string) : .text(string))
            case "y", "q", "u", "b", "n", "i":
                guard read(message, type, &number) > 0 else { return values }
                values.append(type == 0x69 ? .int(Int32(bitPattern: number)) : .uint(number))
            case "a" where contents.map { String(cString: $0) } == "y":
                guard readArray(message, 0x79, &bytes, &count) >= 0 else { return values }
                values.append(.bytes(Array(UnsafeRawBufferPointer(start: bytes, count: count))))
            case "a", "v", "r", "e":
                guard enter(message, type, contents) > 0 else { return values }
                values.append(.list(self.values(of: message, &left)))
                guard leave(message) >= 0 else { return values }
            default: return values
            }
        }
        return values
    }
}
