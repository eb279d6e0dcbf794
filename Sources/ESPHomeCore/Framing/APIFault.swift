import Domain

/// Reason why a connection to an ESPHome node ended.
package enum APIFault: Error, Hashable, Sendable {
    /// The node requires a key, but this host uses plain text.
    case wantsEncryption
    /// This host has a key, but the node uses plain text.
    case hasNoKey
    case wrongKey
    /// The node refused the handshake for another reason. Text: the node's message.
    case refused(String)
    case malformed(String)
    /// An encrypted frame was changed in transit, or encrypted with another key.
    case damaged
    /// This is another node than configured, or it lacks a required function. Text: whole sentences for users.
    case unsuitable(String)
    /// The node ended the connection or exceeded a time limit. Text: a verb phrase such as "ended the connection".
    case ended(String)
}

extension APIFault {
    package func words(of target: NodeSettings) -> String {
        let node = target.display
        return switch self {
        case .wantsEncryption:
            "\(node) encrypts, and its \(target.table) has no key-file. Put the key under api: encryption: of its ESPHome"
                + " configuration into a file, and name that as key-file."
        case .hasNoKey:
            "\(node) has no key, and its \(target.table) has one. Give it the key (api: encryption: in its ESPHome"
                + " configuration), or say plaintext = true."
        case .wrongKey:
            "\(node) has another key. Compare the file named by key-file with api: encryption: in its ESPHome"
                + " configuration."
        case .refused(let reason): "\(node) refused the connection: \(reason.visible)."
        case .malformed(let what): "\(node) does not speak ESPHome's native API: \(what). Is host the right one?"
        case .damaged: "a message of \(node) was changed on its way. meterd connects again."
        case .unsuitable(let what): what
        case .ended(let what): "\(node) \(what). meterd connects again."
        }
    }

    package var needsAPerson: Bool {
        switch self {
        case .wantsEncryption, .hasNoKey, .wrongKey, .refused, .malformed, .unsuitable: true
        case .damaged, .ended: false
        }
    }
}
