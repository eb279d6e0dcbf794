import CMosquitto
import Domain
import Glibc

enum MosquittoFault: Hashable {
    case refused(Int32)
    case dismissed(Int32)
    /// - Parameters:
    ///   - system: the kernel's `errno`, which matters with some codes.
    ///   - complaint: the library's last message.
    ///   - wasOpen: whether the broker had accepted the connection.
    case failed(code: Int32, system: Int32, complaint: String?, wasOpen: Bool)

    func trouble(_ settings: MosquittoLink.Settings) -> BrokerTrouble {
        switch self {
        case .refused(let reason): Self.refusal(reason, settings)
        case .dismissed(let reason):
            BrokerTrouble(
                "the broker closed the link: \(MosquittoCode.reason(reason))",
                next: reason == Int32(MQTT_RC_SESSION_TAKEN_OVER.rawValue)
                    ? "two clients are called \(settings.clientID): does a copy of this host's state run elsewhere?"
                    : Self.brokersLog)
        case .failed(let code, let system, let complaint, let wasOpen):
            switch code {
            case MosquittoCode.lookupError:
                BrokerTrouble(
                    "the broker's host \(settings.address.host) is not found",
                    next: "is the name in [mqtt] url right? what is known of it: getent hosts \(settings.address.host)")
            case MosquittoCode.systemError: Self.failure(system, settings.address)
            case MosquittoCode.tlsError, MosquittoCode.handshakeError:
                Self.mistrust(complaint.map { String($0.prefix(200)) } ?? MosquittoCode.words(code), settings)
            case _ where wasOpen:
                BrokerTrouble(
                    code == MosquittoCode.success ? "the broker closed the link" : MosquittoCode.words(code),
                    next: Self.brokersLog)
            default: Self.silence(code, settings.address)
            }
        }
    }

    private static let brokersLog = "meterd tries again by itself; the broker's log may say why"

    private static func refusal(_ reason: Int32, _ settings: MosquittoLink.Settings) -> BrokerTrouble {
        guard !MosquittoCode.isUnknownProtocol(reason) else {
            return BrokerTrouble(
                "the broker does not speak MQTT 5", next: "use one that does, as Mosquitto since 1.6")
        }
        let message = "the broker refuses us: \(MosquittoCode.reason(reason))"
        guard MosquittoCode.isAboutCredentials(reason) else { return BrokerTrouble(message, next: brokersLog) }
        return BrokerTrouble(
            message,
            next: settings.credentialsPath.map {
                "correct user and password in \($0), which is read at each attempt, or the broker's access rules"
            } ?? "the broker wants a user: name a file with user and password as [mqtt] credentials-file")
    }

    private static func failure(_ system: Int32, _ address: BrokerAddress) -> BrokerTrouble {
        let words = MosquittoCode.systemText(system)
        switch system {
        case ECONNREFUSED:
            return BrokerTrouble(
                "nothing listens at \(address): \(words)",
                next: "is the broker running, and does it listen on that port, and to other machines?")
        case ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN:
            return BrokerTrouble(
                "\(address.host) cannot be reached: \(words)",
                next: "is it on, and on this network? a firewall may stand between")
        default: return BrokerTrouble(words, next: brokersLog)
        }
    }

    private static func mistrust(_ complaint: String, _ settings: MosquittoLink.Settings) -> BrokerTrouble {
        let next: String
        if complaint.contains("verif") {
            let authority =
                settings.certificatePath.map { "\($0) has to hold the authority that signed the broker's certificate" }
                ?? "name the authority that signed the broker's certificate as [mqtt] ca-file"
            next = "\(authority), and the certificate has to be for \(settings.address.host)"
        } else {
            next = "does the broker speak TLS on port \(settings.address.port)? without TLS the url begins with mqtt://"
        }
        return BrokerTrouble("TLS: \(complaint)", next: next)
    }

    private static func silence(_ code: Int32, _ address: BrokerAddress) -> BrokerTrouble {
        let isCut = code == MosquittoCode.success || code == MosquittoCode.connectionLost
        return BrokerTrouble(
            isCut ? "\(address) closed the connection without a word" : MosquittoCode.words(code),
            next: address.isEncrypted
                ? "does a broker speak TLS on port \(address.port)? without TLS the url begins with mqtt://"
                : "does a broker listen on port \(address.port)? where it wants TLS the url begins with mqtts://")
    }
}

enum MosquittoCode {
    static let success = Int32(MOSQ_ERR_SUCCESS.rawValue)
    static let noConnection = Int32(MOSQ_ERR_NO_CONN.rawValue)
    static let connectionLost = Int32(MOSQ_ERR_CONN_LOST.rawValue)
    static let systemError = Int32(MOSQ_ERR_ERRNO.rawValue)
    static let lookupError = Int32(MOSQ_ERR_EAI.rawValue)
    static let tlsError = Int32(MOSQ_ERR_TLS.rawValue)
    static let handshakeError = Int32(MOSQ_ERR_TLS_HANDSHAKE.rawValue)

    static func words(_ code: Int32) -> String { text(mosquitto_strerror(code)) }

    static func reason(_ code: Int32) -> String { text(mosquitto_reason_string(code)) }

    static func systemText(_ number: Int32) -> String { text(strerror(number)) }

    /// Returns whether the broker refused the protocol version: reason code of MQTT 5, or return code 1 of an older
    /// broker.
    static func isUnknownProtocol(_ code: Int32) -> Bool {
        code == Int32(MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue) || code == 1
    }

    static func isAboutCredentials(_ code: Int32) -> Bool {
        [MQTT_RC_BAD_USERNAME_OR_PASSWORD, MQTT_RC_NOT_AUTHORIZED, MQTT_RC_BANNED]
            .contains { Int32($0.rawValue) == code }
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        let text = pointer.map { String(cString: $0) } ?? "unknown error"
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
