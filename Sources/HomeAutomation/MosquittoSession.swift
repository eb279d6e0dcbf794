import CMosquitto
import Domain
import Glibc

/// One connection attempt and the resulting link, on a single thread, which also runs libmosquitto's callbacks.
final class MosquittoSession {
    /// Maximum size of a packet from the broker, in bytes.
    private static let packetMax: UInt32 = 8192
    /// select(2), which the library uses, cannot handle this descriptor number or higher ones.
    private static let descriptorMax = 1024

    /// Milliseconds between calls of the library, which send its pings while the link is idle. Must be under 15 s: a
    /// broker disconnects after 1.5 times `keepAlive` (30 s).
    private static let lookInterval: Int32 = 5000

    private let client: OpaquePointer
    private let orders: MosquittoOrders
    private let tell: @Sendable (BrokerEvent) -> Void
    private var numbers: [Int32: PacketNumber] = [:]
    private var isClosed = false
    private var isOpen = false
    /// The broker's refusal, or its reason for ending the connection.
    private var refusal: MosquittoFault?
    /// The library's last message: the only explanation of certificate errors.
    private var complaint: String?

    private static let isReady: Bool = mosquitto_lib_init() == MosquittoCode.success

    static func run(
        _ settings: MosquittoLink.Settings, will: BrokerMessage?, orders: MosquittoOrders,
        tell: @escaping @Sendable (BrokerEvent) -> Void
    ) -> BrokerTrouble {
        guard isReady, let client = mosquitto_new(settings.clientID, true, nil) else {
            return BrokerTrouble(
                "libmosquitto cannot be used: \(MosquittoCode.systemText(errno))",
                next: "is there memory left, and libmosquitto 2.0 or later?")
        }
        defer { mosquitto_destroy(client) }
        let session = MosquittoSession(client, orders, tell)
        do throws(HomeAutomationError) {
            try session.prepare(settings, will)
        } catch {
            return BrokerTrouble(error.message, next: error.next)
        }
        return session.run(settings)
    }

    private init(
        _ client: OpaquePointer, _ orders: MosquittoOrders, _ tell: @escaping @Sendable (BrokerEvent) -> Void
    ) {
        self.client = client
        self.orders = orders
        self.tell = tell
    }

    // MARK: Before the link

    private func prepare(_ settings: MosquittoLink.Settings, _ will: BrokerMessage?) throws(HomeAutomationError) {
        mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        setCallbacks()
        try check("MQTT 5", mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5))
        try check("no delay", mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1))
        if let will {
            try check(
                "will",
                mosquitto_will_set_v5(
                    client, will.topic, Int32(will.payload.count), will.payload, 1, will.isRetained, nil))
        }
        if let path = settings.credentialsPath {
            // Read at each attempt, so that a new password needs no restart.
            let credentials = try BrokerCredentials(file: path)
            try check("credentials", mosquitto_username_pw_set(client, credentials.user, credentials.password))
        }
        guard settings.address.isEncrypted else { return }
        // With 1, the library verifies the broker's certificate, including its name.
        try check("TLS 1.2", mosquitto_tls_opts_set(client, 1, "tlsv1.2", nil))
        if let path = settings.certificatePath {
            guard mosquitto_tls_set(client, path, nil, nil, nil, nil) == MosquittoCode.success else {
                throw HomeAutomationError(
                    "the certificates cannot be read from \(path)", next: "check the path, and that it is PEM")
            }
        } else {
            try check("the system's certificates", mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
        }
    }

    private func check(_ what: String, _ code: Int32) throws(HomeAutomationError) {
        guard code != MosquittoCode.success else { return }
        throw HomeAutomationError(
            "libmosquitto does not take \(what): \(MosquittoCode.words(code))", next: "is it version 2.0 or later?")
    }

    private func setCallbacks() {
        mosquitto_connect_v5_callback_set(client) { _, object, code, _, _ in
            MosquittoSession.from(object)?.connected(code)
        }
        mosquitto_disconnect_v5_callback_set(client) { _, object, code, _ in
            MosquittoSession.from(object)?.disconnected(code)
        }
        mosquitto_publish_v5_callback_set(client) { _, object, number, code, _ in
            MosquittoSession.from(object)?.published(number, code)
        }
        mosquitto_subscribe_v5_callback_set(client) { _, object, _, count, granted, _ in
            MosquittoSession.from(object)?.subscribed(
                Array(UnsafeBufferPointer(start: granted, count: Int(max(count, 0)))))
        }
        mosquitto_message_v5_callback_set(client) { _, object, message, _ in
            if let message { MosquittoSession.from(object)?.received(message.pointee) }
        }
        mosquitto_log_callback_set(client) { _, object, level, text in
            guard level & Int32(MOSQ_LOG_ERR) != 0, let text else { return }
            MosquittoSession.from(object)?.complaint = String(cString: text)
        }
    }

    private static func from(_ object: UnsafeMutableRawPointer?) -> MosquittoSession? {
        object.map { Unmanaged<MosquittoSession>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: The link

    private func run(_ settings: MosquittoLink.Settings) -> BrokerTrouble {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        _ = mosquitto_property_add_int32(&properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), Self.packetMax)
        var code = mosquitto_connect_bind_v5(
            client, settings.address.host, Int32(settings.address.port), Int32(settings.keepAlive.components.seconds),
            nil, properties)
        while code == MosquittoCode.success {
            carryOut()
            let socket = mosquitto_socket(client)
            guard !isClosed, socket >= 0 else { break }
            guard socket < Self.descriptorMax else {
                return BrokerTrouble(
                    "more than \(Self.descriptorMax) files are open, too many for libmosquitto",
                    next: "serve fewer meters and pages from this host")
            }
            orders.wait(beside: socket, wantsToWrite: mosquitto_want_write(client), milliseconds: Self.lookInterval)
            code = mosquitto_loop(client, 0, 1)
        }
        let system = errno
        if isClosed { return BrokerTrouble("closed") }
        let fault = refusal ?? .failed(code: code, system: system, complaint: complaint, wasOpen: isOpen)
        return fault.trouble(settings)
    }

    private func carryOut() {
        for order in orders.take() {
            switch order {
            case .publish(let messages): for next in messages { publish(next.number, next.message) }
            case .subscribe(let topics): subscribe(topics)
            case .close:
                isClosed = true
                // With this code, the broker publishes the will even after an orderly disconnect.
                if isOpen { _ = mosquitto_disconnect_v5(client, Int32(MQTT_RC_DISCONNECT_WITH_WILL_MSG.rawValue), nil) }
            }
        }
    }

    private func publish(_ number: PacketNumber, _ message: BrokerMessage) {
        var libraryNumber: Int32 = 0
        let code = mosquitto_publish_v5(
            client, &libraryNumber, message.topic, Int32(clamping: message.payload.count), message.payload, 1,
            message.isRetained, nil)
        switch code {
        case MosquittoCode.success: numbers[libraryNumber] = number
        case MosquittoCode.noConnection, MosquittoCode.connectionLost: break
        default: tell(.acknowledged(number, refusal: MosquittoCode.words(code)))
        }
    }

    private func subscribe(_ topics: [String]) {
        for topic in topics {
            let code = mosquitto_subscribe_v5(client, nil, topic, 1, 0, nil)
            if code != MosquittoCode.success { tell(.subscriptionRefused(MosquittoCode.words(code))) }
        }
    }

    // MARK: Callbacks of the library

    private func connected(_ code: Int32) {
        guard code == 0 else {
            refusal = .refused(code)
            return
        }
        isOpen = true
        tell(.opened)
    }

    private func disconnected(_ code: Int32) {
        // Codes below 128 are the library's own, and `run` receives them too.
        if code >= 128, refusal == nil { refusal = .dismissed(code) }
    }

    private func published(_ libraryNumber: Int32, _ code: Int32) {
        guard let number = numbers.removeValue(forKey: libraryNumber) else { return }
        tell(.acknowledged(number, refusal: code >= 128 ? MosquittoCode.reason(code) : nil))
    }

    private func subscribed(_ granted: [Int32]) {
        for code in granted where code >= 128 { tell(.subscriptionRefused(MosquittoCode.reason(code))) }
    }

    private func received(_ message: mosquitto_message) {
        guard let topic = message.topic else { return }
        // The broker sends no packet longer than `packetMax`.
        let count = min(Int(max(message.payloadlen, 0)), Int(Self.packetMax))
        let payload = message.payload.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
        tell(.received(BrokerMessage(String(cString: topic), payload, isRetained: message.retain)))
    }
}
