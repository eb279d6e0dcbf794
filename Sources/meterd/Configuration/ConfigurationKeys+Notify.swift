import Domain
import MeterCodec
import Notifications

/// A `[notify.NAME]`, before its keys are checked against each other.
struct NotifyKeys: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case webhook, ntfy, gotify, exec
    }

    var kind: Kind?
    var address: NotificationAddress?
    var command: [String]?
    var tokenPath: String?
    var limit = NotificationTarget.limitDefault
}

extension ConfigurationKeys {
    static let notify = ConfigurationTable(
        "notify", heading: "[notify.phone]",
        "A target of alerts for meterctl alert add --notify (Docs/Alerts.md). Up to 32, each under its name.",
        defaults: NotifyKeys(),
        keys: [
            .init(
                "kind", optional: \.kind, .choice, example: #""ntfy""#,
                "\"ntfy\" or \"gotify\": such a server. \"webhook\": POST of JSON. \"exec\": a program."),
            .init(
                "url", optional: \.address, .address, example: #""https://ntfy.sh/a-topic-nobody-guesses""#,
                "Address of ntfy's topic, of Gotify's server or of the webhook. Logs show only its server."),
            .init("command", optional: \.command, .command),
            .init("token-file", optional: \.tokenPath, .file, example: #""/etc/meterd/ntfy-token""#, tokenExplanation),
            .init("timeout", \.limit, .time(attempt), "Timeout of an attempt. {range}."),
        ])

    /// Example of a notification by a program instead of a URL.
    static let notifyProgram = ConfigurationReference.Block(
        heading: "[notify.lamp]",
        explanation: "A program has command in place of url. It runs as meterd's user, never as root.",
        lines: [
            .init(key: "kind", value: #""exec""#),
            .init(
                key: "command", value: #"["/usr/local/bin/lamp", "red"]"#,
                explanation:
                    "A program's path and its arguments, without a shell. The environment says what happened."),
            .init(
                key: "timeout", value: #""10s""#,
                explanation: "After this it is killed. \(ConfigurationType<Duration>.time(attempt).range)."),
        ])
}

extension NotificationTarget {
    init(name: String, _ table: [String: DescriptionValue]) throws(ConfigurationError) {
        guard (1...32).contains(name.count), name.allSatisfy(\.isOfTargetName) else {
            throw ConfigurationError(
                "[notify.\(name.visible)] cannot be called that",
                next: "a name has 1 to 32 letters, digits, \"-\" and \"_\"")
        }
        var keys = NotifyKeys()
        try ConfigurationKeys.notify.read(table, prefix: "notify.\(name).", into: &keys)
        guard let kind = keys.kind else {
            throw ConfigurationError(
                "[notify.\(name)] has no kind", next: "it takes \(ConfigurationType<NotifyKeys.Kind>.quoted)")
        }
        let misplaced: [(key: String, isGiven: Bool)] =
            kind == .exec
            ? [("url", keys.address != nil), ("token-file", keys.tokenPath != nil)]
            : [("command", keys.command != nil)]
        for key in misplaced where key.isGiven {
            throw ConfigurationError(
                "notify.\(name).\(key.key) is of no use with kind = \"\(kind.rawValue)\"", next: "take it away")
        }
        let way: Way? =
            switch kind {
            case .webhook: keys.address.map(Way.webhook)
            case .ntfy: keys.address.map(Way.ntfy)
            case .gotify: keys.address.map(Way.gotify)
            case .exec: keys.command.map(Way.program)
            }
        guard let way else {
            throw kind == .exec
                ? ConfigurationError(
                    "[notify.\(name)] has no command",
                    next: "give it a program and its arguments: command = [\"/usr/local/bin/alert\"]")
                : ConfigurationError(
                    "notify.\(name).url is missing",
                    next: "give it an address, for example url = \"https://ntfy.sh/topic\"")
        }
        self.init(name: name, way: way, tokenPath: keys.tokenPath, limit: keys.limit)
    }
}

extension ConfigurationType<NotificationAddress> {
    fileprivate static var address: Self {
        .secret(
            "an address", takes: "http:// or https:// with a host, without a user; a token goes into token-file",
            NotificationAddress.init)
    }
}

extension ConfigurationType<[String]> {
    fileprivate static var command: Self {
        Self(read: { entry throws(ConfigurationError) in
            let words = try Self.list(of: "texts: a program's path and its arguments", each: "a text", next: "quote it")
            {
                $0.contains("\0") ? nil : $0
            }.read(entry)
            guard words.first?.hasPrefix("/") == true else {
                throw ConfigurationError(
                    "\(entry.key) names no program by its path",
                    next: "give it one, for example command = [\"/usr/local/bin/alert\"]; no shell reads it")
            }
            return words
        })
    }
}

extension Character {
    var isOfTargetName: Bool { isASCII && (isLetter || isNumber || self == "-" || self == "_") }
}
