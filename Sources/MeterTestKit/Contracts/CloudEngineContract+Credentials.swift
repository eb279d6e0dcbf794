import Cloud
import CloudAPI
import CoreTestKit
import Domain

extension CloudEngineContract {
    static func credential(
        _ id: String, zone: String = zone, kind: Credential.Kind = .host, role: HostRole = .full
    ) -> Credential {
        Credential(
            id: id, hash: Array(repeating: UInt8(truncatingIfNeeded: id.hashed), count: 32), zone: zone, kind: kind,
            role: role, label: "label of \(id) – ü", createdAt: now + .seconds(id.utf8.count))
    }

    static func binding(_ host: UInt64, machine: String = "desk", name: String = "Desk") -> Credential.Binding {
        Credential.Binding(host: .numbered(host), hostName: name, machine: machine)
    }

    static var credentialClauses: [Clause] {
        [
            inZone("credential_isFound_byItsHash") { engine in
                let credential = credential("1", kind: .enrolment)
                try await engine.add(credential)
                try ContractViolation.requireEqual(
                    await engine.credential(hash: credential.hash), credential, "credential")
                try ContractViolation.requireEqual(
                    await engine.credential(hash: [1, 2, 3]), nil, "an unknown one")
            },
            inZone("credential_isRefused_whenItsIdOrHashIsTaken") { engine in
                try await engine.add(credential("1"))
                var sameHash = credential("2")
                sameHash.hash = credential("1").hash
                let twin = sameHash
                try await requireFailure(.badRequest, "the same id") { try await engine.add(credential("1")) }
                try await requireFailure(.badRequest, "the same hash") { try await engine.add(twin) }
                try ContractViolation.requireEqual(await engine.credentials(in: nil).count, 1, "credentials")
            },
            inZone("credential_keepsItsRole_whateverBecomesOfIt") { engine in
                let kinds: [(id: String, kind: Credential.Kind)] = [("1", .host), ("22", .enrolment)]
                for (id, kind) in kinds { try await engine.add(credential(id, kind: kind, role: .readOnly)) }
                try await engine.add(credential("333"))
                try await engine.bind(binding(1), to: "1")
                try await engine.bind(binding(1, name: "Bench"), to: "1")
                _ = try await engine.revoke(credential: "22", at: now)
                try ContractViolation.requireEqual(
                    await engine.credentials(in: zone).map(\.role), [.readOnly, .readOnly, .full], "listed")
                for (id, kind) in kinds {
                    let found = try await engine.credential(hash: credential(id).hash)
                    try ContractViolation.requireEqual(found?.role, .readOnly, "role of \(id)")
                    try ContractViolation.requireEqual(found?.kind, kind, "kind of \(id)")
                }
            },
            inZone("credentials_areListed_byZone") { engine in
                _ = try await engine.createZone("other", terms: .standard)
                for one in [credential("22"), credential("1"), credential("3", zone: "other")] {
                    try await engine.add(one)
                }
                try ContractViolation.requireEqual(
                    await engine.credentials(in: zone).map(\.id), ["1", "22"], "of one zone")
                try ContractViolation.requireEqual(
                    await engine.credentials(in: nil).map(\.id), ["1", "22", "3"], "of all")
            },
            inZone("credential_isRevokedOnce") { engine in
                try await engine.add(credential("1"))
                let first = try await engine.revoke(credential: "1", at: now)
                let again = try await engine.revoke(credential: "1", at: now + .seconds(9))
                let none = try await engine.revoke(credential: "2", at: now)
                try ContractViolation.requireEqual([first, again, none], [true, true, false], "answers")
                try ContractViolation.requireEqual(
                    await engine.credential(hash: credential("1").hash)?.revokedAt, now, "when")
            },
        ] + bindingClauses + enrolmentClauses
    }

    private static func enrolled(_ id: String, by enrolment: String = "e", role: HostRole = .full) -> Credential {
        var credential = credential(id, role: role).with(binding(1))
        credential.unusedFrom = enrolment
        return credential
    }

    private static var enrolmentClauses: [Clause] {
        [
            inZone("enrolment_replacesWhatNobodyUsed_orItsHostShows") { engine in
                try await engine.add(enrolled("1"))
                let second = try await engine.add(enrolled("22"), showing: [])
                try ContractViolation.requireEqual(second, ["1"], "the answer was lost")
                try ContractViolation.requireEqual(
                    await engine.noteUse(of: "1")?.revokedAt, enrolled("22").createdAt, "when it was revoked")
                try ContractViolation.requireEqual(await engine.noteUse(of: "22")?.unusedFrom, nil, "used")
                try ContractViolation.requireEqual(await engine.noteUse(of: "9"), nil, "no such credential")
                let third = try await engine.add(
                    enrolled("333", by: "f"), showing: [[7], credential("22").hash])
                try ContractViolation.requireEqual(third, ["22"], "its token was shown")
                try ContractViolation.requireEqual(
                    await engine.credentials(in: zone).filter { $0.revokedAt == nil }.map(\.id), ["333"], "valid")
            },
            inZone("enrolment_endsNothingElse") { engine in
                try await engine.add(credential("1", role: .readOnly).with(binding(2)))
                try await engine.add(enrolled("22"))
                try await requireFailure(.permissionDenied, "unused, of another enrolment") {
                    try await engine.add(enrolled("333", by: "f"))
                }
                try await requireFailure(.permissionDenied, "of more rights, though shown") {
                    try await engine.add(enrolled("333", role: .readOnly), showing: [credential("22").hash])
                }
                _ = try await engine.noteUse(of: "22")
                try await requireFailure(.permissionDenied, "used") { try await engine.add(enrolled("333")) }
                try await requireFailure(.permissionDenied, "another host's is shown") {
                    try await engine.add(enrolled("333"), showing: [credential("1").hash])
                }
                try await engine.add(credential("6666", role: .readOnly).with(binding(1)))
                try await requireFailure(.permissionDenied, "one of fewer rights is shown") {
                    try await engine.add(enrolled("333"), showing: [credential("6666").hash])
                }
                try ContractViolation.requireEqual(
                    await engine.credentials(in: zone).map { $0.revokedAt == nil ? $0.id : "" }, ["1", "22", "6666"],
                    "all are valid")
                for id in ["22", "6666"] { _ = try await engine.revoke(credential: id, at: now) }
                try ContractViolation.requireEqual(
                    await engine.add(enrolled("333"), showing: []), [], "nothing is left to replace")
            },
        ]
    }

    private static var bindingClauses: [Clause] {
        [
            inZone("credential_isBoundOnce_andTakesTheNewName") { engine in
                try await engine.add(credential("1"))
                try await engine.bind(binding(1), to: "1")
                try await engine.bind(binding(1, name: "Bench"), to: "1")
                try ContractViolation.requireEqual(
                    await engine.credentials(in: zone).first?.binding, binding(1, name: "Bench"), "binding")
                try await requireFailure(.permissionDenied, "another host") {
                    try await engine.bind(binding(2), to: "1")
                }
                try await requireFailure(.permissionDenied, "another machine") {
                    try await engine.bind(binding(1, machine: "copy"), to: "1")
                }
                try await requireFailure(.notFound, "no such credential") {
                    try await engine.bind(binding(1), to: "9")
                }
                try ContractViolation.requireEqual(
                    await engine.credentials(in: zone).first?.binding, binding(1, name: "Bench"), "binding after")
            },
            inZone("hostID_isRefused_whenAnotherMachineHasIt") { engine in
                for id in ["1", "2"] { try await engine.add(credential(id)) }
                try await engine.bind(binding(1), to: "1")
                let twin = credential("3").with(binding(1, machine: "copy"))
                try await requireFailure(.duplicateHost, "bind") {
                    try await engine.bind(binding(1, machine: "copy"), to: "2")
                }
                try await requireFailure(.duplicateHost, "add") { try await engine.add(twin) }
                _ = try await engine.revoke(credential: "1", at: now)
                try await engine.bind(binding(1, machine: "copy"), to: "2")
            },
            inZone("host_mayHaveTwoCredentials_onOneMachine") { engine in
                try await engine.add(credential("1").with(binding(1)))
                try await engine.add(credential("2").with(binding(1)))
                try ContractViolation.requireEqual(await engine.credentials(in: zone).count, 2, "credentials")
            },
            inZone("hostID_mayBeInTwoZones") { engine in
                _ = try await engine.createZone("other", terms: .standard)
                try await engine.add(credential("1").with(binding(1)))
                try await engine.add(credential("2", zone: "other").with(binding(1, machine: "copy")))
            },
            inZone("credential_isNotBound_onceRevoked") { engine in
                try await engine.add(credential("1"))
                _ = try await engine.revoke(credential: "1", at: now)
                try await requireFailure(.permissionDenied, "bind") { try await engine.bind(binding(1), to: "1") }
            },
        ]
    }
}

extension Credential {
    fileprivate func with(_ binding: Binding) -> Credential {
        var copy = self
        copy.binding = binding
        return copy
    }
}

extension String {
    /// Hash that depends only on the text, unlike `hashValue`.
    fileprivate var hashed: Int { utf8.reduce(7) { $0 &* 31 &+ Int($1) } }
}
