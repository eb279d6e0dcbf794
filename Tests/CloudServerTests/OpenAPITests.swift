import CloudAPI
import CloudServer
import Domain
import Foundation
import Hummingbird
import HummingbirdTesting
import ServerKit
import Testing
import YAMLDocument

extension CloudRoute {
    /// What copies of the cloud say to each other is for nobody else.
    fileprivate static let forHosts = allCases.filter { !$0.isForCopies }
}

/// Holds Docs/openapi.yaml against the program: its routes, its bodies, its answers.
struct OpenAPITests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/openapi.yaml")

    private let document: YAML

    init() throws { document = try YAMLReader.read(try String(contentsOf: Self.file, encoding: .utf8)) }

    // MARK: Routes

    @Test func document_hasEveryRoute_andNoOther() throws {
        let documented = (document["paths"]?.map ?? [:]).flatMap { path, methods in
            methods.map.keys.map { "\($0.uppercased()) \(path)" }
        }

        #expect(Set(documented) == Set(CloudRoute.forHosts.map { "\($0.method) \($0.path)" }))
        #expect(documented.count == CloudRoute.forHosts.count)
    }

    @Test(arguments: CloudRoute.forHosts)
    func operation_isNamedAsTheRoute_andSaysWhetherItNeedsAToken(route: CloudRoute) throws {
        let operation = try operation(of: route)

        #expect(operation["operationId"]?.text == route.rawValue)
        #expect((operation["security"] == nil) == route.needsToken)
        #expect(operation["summary"]?.text?.isEmpty == false)
    }

    @Test(arguments: CloudRoute.forHosts)
    func operation_declaresItsPathParameters_andWhatEveryCallMayAnswer(route: CloudRoute) throws {
        let operation = try operation(of: route)

        let names = try (operation["parameters"]?.list ?? []).map { try resolve($0) }
            .filter { $0["in"]?.text == "path" }.compactMap { $0["name"]?.text }
        let wanted = route.path.split(separator: "/").filter { $0.hasPrefix("{") }
            .map { String($0.dropFirst().dropLast()) }
        #expect(names == wanted)
        let statuses = Set(try #require(operation["responses"]).map.keys)
        #expect(statuses.isSuperset(of: ["200", "429", "500", "503"]))
        #expect(statuses.contains("401") == route.needsToken)
        #expect(statuses.contains("403") == route.needsToken)
        if operation["requestBody"] != nil { #expect(statuses.isSuperset(of: ["400", "413"])) }
    }

    private func operation(of route: CloudRoute) throws -> YAML {
        try #require(document[["paths", route.path, route.method.rawValue.lowercased()]])
    }

    private func resolve(_ node: YAML) throws -> YAML {
        guard let reference = node["$ref"]?.text else { return node }
        return try #require(document[reference.split(separator: "/").dropFirst().map { String($0) }], "\(reference)")
    }

    // MARK: Bodies

    /// Every body with all of its fields, and with as few as there may be.
    private static let examples: [(schema: String, full: any Encodable & Sendable, least: any Encodable & Sendable)] = {
        let stamp = Stamp(milliseconds: 1, counter: 2, host: HostID(high: 3, low: 4))
        let register = Register(value: .int(1), stamp: stamp)
        let brought = Register(value: .int(1), stamp: stamp, broughtBy: stamp.host)
        let key = RecordKey(type: .host, name: "n")
        var lease = LeaseBody(
            meter: "m", state: "held", token: 1, ttl: 1, lockDelay: 1, policy: "keep", remaining: 1, waiting: ["w"])
        let leastLease = lease
        (lease.holderID, lease.holderName, lease.session) = ("h", "n", "s")
        (lease.transport, lease.acquiredAt, lease.expiresAt) = ("usb", "a", "e")
        lease.oldHolderTold = true
        let leastError = CloudErrorBody.Content(code: .leaseHeld, message: "m")
        var error = leastError
        (error.retryAfter, error.epoch, error.zoneID, error.lease, error.reason) = (1, "e", "i", lease, "held")
        let leastAcquire = AcquireRequest(requestID: "r", session: "s", transport: "usb")
        var acquire = leastAcquire
        (acquire.previousSession, acquire.ttl, acquire.policy, acquire.takeover) = ("p", 1, "keep", .of(token: 5))
        acquire.tokenFloor = 4
        let deletion = Deletion(stamp: stamp)
        let tombstone = SyncRecord(key: key, deletion: deletion)
        let later = Register(value: .null, stamp: Stamp(milliseconds: 9, counter: 0, host: HostID(high: 3, low: 4)))
        let record = SyncRecord(key: key, properties: ["p": later], deletion: deletion)
        let change = EventBody.Change(types: ["Host"], hostID: "h")
        let offer = EventBody.Offer(meter: "m", reserved: 1)
        let interest = EventBody.Interest(meter: "m", remaining: 1, all: true)
        let leastReading = RelayReadingBody(age: 0, time: 1, values: ["voltage_V": 5])
        var reading = leastReading
        (reading.count, reading.least, reading.greatest) = (2, ["voltage_V": 4], ["voltage_V": 6])
        let leastBatch = RelayEventBody.Batch(
            epoch: "e", token: 1, holderID: "h", holderName: "n", number: 1, missed: 0, readings: [reading])
        var batch = leastBatch
        (batch.model, batch.state, batch.shared) = ("UM25C", "ready", true)
        let leastRelayed = RelayRequest(session: "s", token: 1, number: 1, missed: 0, readings: [reading])
        var relayed = leastRelayed
        (relayed.model, relayed.state, relayed.shared) = ("UM25C", "ready", true)
        let leastAction = RelayActionBody(kind: "k")
        var action = leastAction
        (action.command, action.number, action.name) = ("c", 1, "n")
        let leastCommand = EventBody.Command(
            requestID: "r", meter: "m", token: 1, action: action, hostID: "h", hostName: "n")
        var command = leastCommand
        command.copy = "c"
        let leastAnswer = RelayCommandAnswer(.done)
        var answer = leastAnswer
        (answer.code, answer.message, answer.next, answer.result, answer.holderName) = ("c", "m", "n", "{}", "h")
        let leastLine = RelayLogLine(kind: "k", age: 1, lastAge: nil, time: 1, what: "w")
        var line = leastLine
        (line.lastAge, line.count, line.detail, line.by, line.byID, line.adapter) = (1, 2, "d", "b", "i", "a")
        (line.token, line.lastToken) = (1, 2)
        let leastPart = RelayLogPart(lines: [])
        var part = leastPart
        (part.copy, part.cut, part.shared) = ("c", true, false)
        let leastAnswered = RelayLogAnswer.Part(hostID: "h", hostName: "n", lines: [])
        var answered = leastAnswered
        (answered.cut, answered.shared) = (true, false)
        let leastQuestion = EventBody.LogQuestion(requestID: "r", meter: "m", within: nil)
        var question = EventBody.LogQuestion(requestID: "r", meter: "m", within: 1)
        question.copy = "c"
        let ordered = RelayCommandRequest(requestID: "r", token: 1, action: action)
        return [
            ("RelayLogLine", line, leastLine), ("RelayLogPart", part, leastPart),
            ("RelayLogAnswerPart", answered, leastAnswered), ("EventLogQuestion", question, leastQuestion),
            (
                "RelayLogAnswer", RelayLogAnswer(parts: [], silent: []), RelayLogAnswer(parts: [], silent: [])
            ),
            ("RelayActionBody", action, leastAction), ("EventCommand", command, leastCommand),
            ("RelayCommandRequest", ordered, ordered), ("RelayCommandAnswer", answer, leastAnswer),
            (
                "RelayClaimRequest", RelayClaimRequest(session: "s", token: 1, copy: "c"),
                RelayClaimRequest(session: "s", token: 1)
            ),
            (
                "RelayOutcomeRequest", RelayOutcomeRequest(token: 1, copy: "c", answer: answer),
                RelayOutcomeRequest(token: 1, answer: answer)
            ),
            ("EventInterest", interest, interest), ("RelayReadingBody", reading, leastReading),
            ("RelayRequest", relayed, leastRelayed),
            ("RelayAnswer", RelayAnswer(interest: 1), RelayAnswer(interest: 0)),
            ("RelayBatch", batch, leastBatch),
            (
                "RelayEventBody",
                RelayEventBody(batch: batch, holder: lease, refused: "h", missed: 1, serverTime: 1), RelayEventBody()
            ),
            (
                "HostBody", host,
                HostBody(id: "h", name: "n", tokens: 0, leases: [], listening: false)
            ),
            (
                "HealthBody", HealthBody(status: "ok", version: "1", warning: "w"),
                HealthBody(status: "ok", version: "1")
            ),
            (
                "JoinRequest", JoinRequest(hostID: "h", hostName: "n", machine: "m", oldTokens: ["t"]),
                JoinRequest(hostID: "h", hostName: "n", machine: "m")
            ),
            ("JoinAnswer", JoinAnswer(zone: "z", token: "t"), JoinAnswer(zone: "z", token: nil)),
            ("AccountBody", account, leastAccount),
            ("ZoneRequest", ZoneRequest(zoneID: "i"), ZoneRequest(zoneID: nil)),
            ("Register", brought, register),
            ("Deletion", Deletion(stamp: stamp, mergedInto: "x", broughtBy: stamp.host), deletion),
            ("Record", record, SyncRecord(key: key)),
            ("ModifyRequest", ModifyRequest(records: [record]), ModifyRequest(records: [tombstone])),
            (
                "ModifyResult", ModifyAnswer.Result(type: "t", name: "n", error: error, merged: record),
                ModifyAnswer.Result(type: "t", name: "n")
            ),
            ("ModifyAnswer", ModifyAnswer(results: [], serverTime: 1), ModifyAnswer(results: [], serverTime: 1)),
            ("ChangesBody", changes, leastChanges), ("EventChange", change, EventBody.Change(types: [], hostID: nil)),
            ("EventOffer", offer, offer),
            (
                "EventBody",
                EventBody(
                    change: change, lease: lease, offer: offer, interest: interest, command: command, log: question,
                    serverTime: 1),
                EventBody()
            ),
            ("LeaseBody", lease, leastLease), ("LeaseList", LeaseList(leases: [lease]), LeaseList(leases: [])),
            ("AcquireRequest", acquire, leastAcquire),
            ("Takeover", TakeoverRequest.of(token: 1), TakeoverRequest.of(token: 1)),
            (
                "RenewRequest", RenewRequest(session: "s", leases: []), RenewRequest(session: "s", leases: [])
            ),
            (
                "RenewLease", RenewRequest.Lease(meter: "m", token: 1), RenewRequest.Lease(meter: "m", token: 1)
            ),
            ("RenewAnswer", RenewAnswer(results: []), RenewAnswer(results: [])),
            (
                "RenewResult", RenewAnswer.Result(meter: "m", result: "renewed", lease: lease),
                RenewAnswer.Result(meter: "m", result: "unknown", lease: nil)
            ),
            ("ReleaseRequest", ReleaseRequest(session: "s", token: 1), ReleaseRequest(session: "s", token: 1)),
            ("CloudErrorBody", CloudErrorBody(error), CloudErrorBody(leastError)),
            ("ErrorContent", error, leastError),
        ]
    }()

    private static let leastAccount = AccountBody(
        zone: "z", hostID: "h", hostName: "n", serverTime: 1, epoch: "e", policy: "keep")
    private static let account = {
        var account = AccountBody(
            zone: "z", hostID: "h", hostName: "n", serverTime: 1, epoch: "e", policy: "keep", zoneID: "i")
        account.role = "full"
        return account
    }()
    private static let host = {
        var host = HostBody(id: "h", name: "n", tokens: 1, leases: ["m"], listening: true)
        host.role = "full"
        return host
    }()
    private static let leastChanges = ChangesBody(records: [], changeToken: "t", moreComing: false, epoch: "e")
    private static let changes = ChangesBody(
        records: [], changeToken: "t", moreComing: false, epoch: "e", zoneID: "i")

    @Test func schemas_haveTheFieldsOfTheTypes_andTheirOptionalities() throws {
        for (name, full, least) in Self.examples {
            let schema = try #require(document[["components", "schemas", name]], "\(name) is not in the document")
            let required = Set((schema["required"]?.list ?? []).compactMap(\.text))

            #expect(Set(try #require(schema["properties"], "\(name)").map.keys) == (try keys(of: full)), "\(name)")
            #expect(required == (try keys(of: least)), "\(name)")
        }
    }

    @Test func everyObjectOfTheDocument_isOneOfTheExamples() throws {
        let schemas = try #require(document[["components", "schemas"]]).map
        let objects = schemas.filter { $0.value["properties"] != nil }.keys

        #expect(Set(objects) == Set(Self.examples.map(\.schema)))
    }

    /// What is required of a request is what its type cannot do without.
    @Test func requests_areRefused_withoutEachRequiredField() throws {
        func check<Body: Codable>(_ body: Body) throws {
            let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(body))
            let fields = try #require(object as? [String: Any])
            for name in fields.keys {
                let rest = try JSONSerialization.data(withJSONObject: fields.filter { $0.key != name })
                #expect(throws: DecodingError.self, "\(Body.self).\(name)") {
                    try JSONDecoder().decode(Body.self, from: rest)
                }
            }
        }
        try check(JoinRequest(hostID: "h", hostName: "n", machine: "m"))
        try check(ModifyRequest(records: []))
        try check(AcquireRequest(requestID: "r", session: "s", transport: "usb"))
        try check(RenewRequest(session: "s", leases: []))
        try check(RenewRequest.Lease(meter: "m", token: 1))
        try check(ReleaseRequest(session: "s", token: 1))
        try check(RelayRequest(session: "s", token: 1, number: 1, missed: 0, readings: []))
        try check(RelayReadingBody(age: 0, time: 1, values: [:]))
        try check(RelayCommandRequest(requestID: "r", token: 1, action: RelayActionBody(kind: "k")))
        try check(RelayClaimRequest(session: "s", token: 1))
        try check(RelayLogPart(lines: []))
        try check(RelayLogLine(kind: "k", age: 1, lastAge: nil, time: 1, what: "w"))
        try check(RelayOutcomeRequest(token: 1, answer: RelayCommandAnswer(.done)))
    }

    @Test func enumerations_areThoseOfTheCode() throws {
        func values(_ path: String...) -> [String] {
            (document[["components", "schemas"] + path + ["enum"]]?.list ?? []).compactMap(\.text)
        }

        #expect(values("ErrorContent", "properties", "code") == CloudErrorCode.allCases.map(\.rawValue))
        #expect(values("LeaseBody", "properties", "state") == ["free", "held", "revoking", "expired"])
        #expect(
            values("RelayCommandAnswer", "properties", "outcome") == RelayCommandAnswer.Outcome.allCases.map(\.rawValue)
        )
        #expect(values("Policy") == ["keep", "strict"])
        #expect(values("Role") == HostRole.allCases.map(\.rawValue))
        #expect(values("Transport") == ["ble", "spp", "usb"])
    }

    @Test func limits_areThoseOfTheCode() throws {
        func number(_ path: String...) -> Int? { document[["components"] + path]?.text.flatMap { Int($0) } }

        #expect(number("schemas", "ModifyRequest", "properties", "records", "maxItems") == CloudLimits.recordsPerBatch)
        #expect(number("schemas", "RenewRequest", "properties", "leases", "maxItems") == CloudLimits.leasesPerRenewal)
        #expect(
            number("schemas", "Record", "properties", "properties", "maxProperties")
                == CloudLimits.propertiesPerRecord)
        #expect(number("schemas", "Record", "properties", "name", "maxLength") == CloudLimits.nameBytes)
        #expect(
            number("schemas", "RelayRequest", "properties", "readings", "maxItems") == CloudLimits.readingsPerBatch)
        #expect(
            number("schemas", "RelayActionBody", "properties", "name", "maxLength") == CloudLimits.actionTextBytes)
        #expect(
            number("schemas", "RelayCommandAnswer", "properties", "result", "maxLength") == CloudLimits.resultBytes)
        #expect(number("schemas", "RelayLogPart", "properties", "lines", "maxItems") == CloudLimits.logLinesPerPart)
        #expect(number("schemas", "RelayLogLine", "properties", "what", "maxLength") == CloudLimits.logTextBytes)
        #expect(number("schemas", "QuantityValues", "maxProperties") == CloudLimits.quantitiesPerReading)
        let limit = document[["components", "parameters", "Limit", "description"]]?.text
        #expect(limit?.contains("more than \(CloudLimits.recordsPerPage) count") == true)
    }

    private func keys(of value: any Encodable) throws -> Set<String> {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
        return Set(try #require(object as? [String: Any]).keys)
    }

    // MARK: References and the reader

    @Test func references_allLeadSomewhere_andNothingIsLeftOver() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let references = Set(text.matches(of: /\$ref: '(#[^']+)'/).map { String($0.output.1) })
        for reference in references { _ = try resolve(.map(["$ref": .scalar(reference)])) }

        for kind in ["parameters", "responses", "schemas"] {
            for name in try #require(document[["components", kind]]).map.keys {
                let isUsed = references.contains("#/components/\(kind)/\(name)")
                // The events' data is text for OpenAPI; people look its form up all the same.
                #expect(isUsed || ["EventBody", "RelayEventBody"].contains(name), "nothing refers to \(kind)/\(name)")
            }
        }
    }

    @Test func reader_readsWhatItShould() throws {
        let text = """
            # comment
            a: plain text
            'b': [x, 'y']
            c:
              - d: 1
                e: >-
                  folded
                  text
                f: |-
                  literal
              - $ref: '#/it''s'
            """

        #expect(
            try YAMLReader.read(text)
                == .map([
                    "a": .scalar("plain text"), "b": .list([.scalar("x"), .scalar("y")]),
                    "c": .list([
                        .map(["d": .scalar("1"), "e": .scalar("folded text"), "f": .scalar("literal")]),
                        .map(["$ref": .scalar("#/it's")]),
                    ]),
                ]))
    }

    @Test(arguments: ["a: {b: c}", "a: 'b", "a:\n   b: c\n  d: e", "a: b\na: c", "a: b: c", "a:"])
    func reader_refusesWhatItDoesNotKnow(text: String) {
        #expect(throws: (any Error).self) { try YAMLReader.read(text) }
    }
}
