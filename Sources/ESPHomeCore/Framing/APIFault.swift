import Domain

/// Why a connection to an ESPHome node cannot go on.
package enum APIFault: Error, Hashable, Sendable {
    /// We speak in plain text, and the node has a key.
    case wantsEncryption
    /// We have a key, and the node speaks in plain text.
    case hasNoKey
    /// The node does not know our key.
    case wrongKey
    /// The node refused the handshake for another reason, in its words.
    case refused(String)
    /// The bytes are not those of ESPHome's native API.
    case malformed(String)
    /// A sealed frame was changed on its way, or its key is another.
    case damaged
    /// It is not the node that is meant, or cannot do what is needed: what a person should know, in whole sentences.
    case unsuitable(String)
    /// Anything else ended it: what the node did, as in "does not answer".
    case ended(String)
}

extension APIFault {
    /// What went wrong, and where a person can do something about it, what.
    ///
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

    /// Whether only a person can do something about it.
    package var needsAPerson: Bool {
        switch self {
        case .wantsEncryption, .hasNoKey, .wrongKey, .refused, .malformed, .unsuitable: true
        case .damaged, .ended: false
        }
    }
}
