// What hosts send and get at each heartbeat, and with each meter that they connect: as JSON without a coder, which took
// most of the time of such a request (`WrittenBody`, `ReadBody`).

extension LeaseBody: WrittenBody {
    package var text: [UInt8]? {
        var text: [UInt8] = []
        text.reserveCapacity(Self.usualLength)
        write(to: &text)
        return text
    }

    /// Bytes, a little more than usual.
    fileprivate static let usualLength = 512

    /// Its keys are sorted, as in all answers.
    fileprivate func write(to text: inout [UInt8]) {
        func write(_ key: String, _ value: String?) {
            guard let value else { return }
            text.append(key)
            RecordText.write(value, to: &text)
            text.append(",")
        }
        text.append("{")
        write(#""acquiredAt":"#, acquiredAt)
        write(#""expiresAt":"#, expiresAt)
        write(#""holderID":"#, holderID)
        write(#""holderName":"#, holderName)
        text.append("\"lockDelay\":\(lockDelay),")
        write(#""meter":"#, meter)
        if let oldHolderTold { text.append("\"oldHolderTold\":\(oldHolderTold),") }
        write(#""policy":"#, policy)
        text.append("\"remaining\":\(remaining),")
        write(#""session":"#, session)
        write(#""state":"#, state)
        text.append("\"token\":\(token),")
        write(#""transport":"#, transport)
        text.append("\"ttl\":\(ttl),\"waiting\":[")
        for (place, name) in waiting.enumerated() {
            if place > 0 { text.append(",") }
            RecordText.write(name, to: &text)
        }
        text.append("]}")
    }
}

extension RenewAnswer: WrittenBody {
    package var text: [UInt8]? {
        var text: [UInt8] = []
        text.reserveCapacity(results.count * (LeaseBody.usualLength + 64))
        text.append(#"{"results":["#)
        for (place, result) in results.enumerated() {
            text.append(place > 0 ? ",{" : "{")
            if let lease = result.lease {
                text.append(#""lease":"#)
                lease.write(to: &text)
                text.append(",")
            }
            text.append(#""meter":"#)
            RecordText.write(result.meter, to: &text)
            text.append(#","result":"#)
            RecordText.write(result.result, to: &text)
            text.append("}")
        }
        text.append("]}")
        return text
    }
}

extension RenewRequest: ReadBody {
    package init?(text: some Collection<UInt8>) {
        let request = text.read { reader -> RenewRequest? in
            var (session, leases) = (String?.none, [Lease]?.none)
            let isRead = reader.object { reader, key in
                switch key {
                case "session": reader.fill(&session) { $0.string() }
                case "leases": reader.fill(&leases) { $0.array { $0.lease() } }
                default: false
                }
            }
            guard isRead, let session, let leases else { return nil }
            return RenewRequest(session: session, leases: leases)
        }
        guard let request else { return nil }
        self = request
    }
}

extension AcquireRequest: ReadBody {
    /// Also nil for a take-over, which is rare.
    package init?(text: some Collection<UInt8>) {
        let request = text.read { reader -> AcquireRequest? in
            var texts: [String: String] = [:]
            var numbers: [String: UInt64] = [:]
            let isRead = reader.object { reader, key in
                switch key {
                case "requestID", "session", "previousSession", "transport", "policy":
                    guard let value = reader.string() else { return false }
                    return texts.updateValue(value, forKey: key) == nil
                case "ttl", "tokenFloor":
                    guard let value = reader.decimal() else { return false }
                    return numbers.updateValue(value, forKey: key) == nil
                default: return false
                }
            }
            guard isRead, let requestID = texts["requestID"], let session = texts["session"],
                let transport = texts["transport"]
            else { return nil }
            var request = AcquireRequest(requestID: requestID, session: session, transport: transport)
            request.previousSession = texts["previousSession"]
            request.policy = texts["policy"]
            request.tokenFloor = numbers["tokenFloor"]
            request.ttl = numbers["ttl"].flatMap { Int64(exactly: $0) }
            return (request.ttl == nil) == (numbers["ttl"] == nil) ? request : nil
        }
        guard let request else { return nil }
        self = request
    }
}

extension JSONReader {
    fileprivate mutating func lease() -> RenewRequest.Lease? {
        var (meter, token) = (String?.none, UInt64?.none)
        let isRead = object { reader, key in
            switch key {
            case "meter": reader.fill(&meter) { $0.string() }
            case "token": reader.fill(&token) { $0.decimal() }
            default: false
            }
        }
        guard isRead, let meter, let token else { return nil }
        return RenewRequest.Lease(meter: meter, token: token)
    }
}
