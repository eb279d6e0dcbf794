import Domain

extension EtcdError {
    /// - Parameter isAuthenticating: whether the request contained the password.
    init(status: UInt, body: [UInt8], member: String, isAuthenticating: Bool = false) {
        let words = try? body.read { $0.faultWords() }
        self.init(words: words ?? "", status: status, member: member, isAuthenticating: isAuthenticating)
    }

    /// - Parameter words: etcd's error text; empty if the answer is not from etcd.
    init(words: String, status: UInt, member: String, isAuthenticating: Bool = false) {
        guard !words.isEmpty else {
            let code: Code = status == 503 || status == 504 ? .unreachable : .garbage
            self.init(
                code,
                "\(member) answered with the status \(status), and not as etcd does. "
                    + "Is that etcd 3.4 or newer, with its gateway?")
            return
        }
        if isAuthenticating {
            self.init(
                .notAuthenticated,
                "etcd refuses the user or the password (\(words.prefix(200))). Check both, and that etcd has "
                    + "authentication switched on")
            return
        }
        self = Self.known(words, member: member)
    }

    /// Classifies etcd's error text, because etcd's error codes are too coarse.
    private static func known(_ words: String, member: String) -> EtcdError {
        let advice = "\(member) says: \(words.prefix(200))"
        for (part, code, remedy) in meanings where words.contains(part) {
            return EtcdError(code, "\(advice). \(remedy)")
        }
        return EtcdError(.refused, "\(advice). See its log")
    }

    static let quotaRemedy =
        "etcd's quota is reached: compact and defragment it, disarm the alarm, or raise --quota-backend-bytes"

    private static let meanings: [(part: String, code: Code, remedy: String)] = [
        ("database space exceeded", .noSpace, quotaRemedy),
        ("has been compacted", .compacted, "Read again from now"),
        ("future revision", .wentBack, "It was restored, or is another etcd: see Docs/Scale.md"),
        ("no leader", .noLeader, "More than half of the members must be up and reach each other"),
        ("leader changed", .noLeader, "Try again"),
        ("not leader", .noLeader, "Try again"),
        ("request timed out", .noLeader, "More than half of the members must be up, and their disks quick enough"),
        ("server stopped", .unreachable, "Start it again"),
        ("unhealthy cluster", .noLeader, "See that all members are up"),
        ("too many requests", .overloaded, "Try again later"),
        ("request is too large", .tooLarge, "See --max-request-bytes of etcd"),
        ("too many operations", .tooLarge, "etcd's --max-txn-ops must be 128 or more"),
        ("permission denied", .permissionDenied, "Let the user read and write the keys of metercloud"),
        ("invalid auth token", .notAuthenticated, "Log in anew"),
        ("auth store is old", .notAuthenticated, "Log in anew"),
        ("user name is empty", .notAuthenticated, "etcd has users: give one, with its password"),
        ("user name not found", .notAuthenticated, "Make the user in etcd, or give another one"),
        ("corrupt", .refused, "A member found damage (alarm CORRUPT): remove it and add it anew"),
        ("connection refused", .unreachable, "The member's gateway does not reach the member"),
        ("transport is closing", .unreachable, "The member is stopping"),
        ("TransientFailure", .unreachable, "The member's gateway does not reach the member"),
        ("context deadline exceeded", .timedOut, "Try again"),
    ]

    init(unreadable error: JSONReader.Problem, from member: String) {
        self.init(.garbage, "the answer of \(member) is not etcd's (\(error)). Is another program on that port?")
    }
}
