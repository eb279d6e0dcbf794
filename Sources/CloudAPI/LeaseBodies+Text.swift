import Domain

// JSON of frequent bodies, written and read without an encoder or decoder, which would take most of a request's time
// (`WrittenBody`, `ReadBody`).

extension LeaseBody: WrittenBody {
    package var text: [UInt8]? {
        var text: [UInt8] = []
        text.reserveCapacity(Self.usualLength)
        write(to: &text)
        return text
    }

    /// Estimated length in bytes, a little more than usual.
    fileprivate static let usualLength = 512

    /// Writes the lease's JSON with sorted keys.
    fileprivate func write(to text: inout [UInt8]) {
        func write(_ key: String, _ value: String?) {
            guard let value else { return }
            text.append(key)
            JSONText.write(value, to: &text)
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
            JSONText.write(name, to: &text)
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
            JSONText.write(result.meter, to: &text)
            text.append(#","result":"#)
            JSONText.write(result.result, to: &text)
            text.append("}")
        }
        text.append("]}")
        return text
    }
}

extension RenewRequest: ReadBody {
    package init?(text: some Collection<UInt8>) {
        let request = try? text.read { reader -> RenewRequest? in
            var (session, leases) = (String?.none, [Lease]?.none)
            guard reader.open("{") else { return nil }
            while let key = reader.key() {
                switch key {
                case "session" where session == nil: session = reader.string()
                case "leases" where leases == nil: leases = reader.leases()
                default: return nil
                }
            }
            guard let session, let leases else { return nil }
            return RenewRequest(session: session, leases: leases)
        }
        guard let request else { return nil }
        self = request
    }
}

extension AcquireRequest: ReadBody {
    /// Decodes an acquire request in its usual form. Nil for any other JSON, such as a take-over request, which is
    /// rare.
    package init?(text: some Collection<UInt8>) {
        let request = try? text.read { reader -> AcquireRequest? in
            var texts: [String: String] = [:]
            var numbers: [String: UInt64] = [:]
            guard reader.open("{") else { return nil }
            while let key = reader.key() {
                switch key {
                case "requestID", "session", "previousSession", "transport", "policy":
                    guard let value = reader.string(), texts.updateValue(value, forKey: key) == nil else { return nil }
                case "ttl", "tokenFloor":
                    guard let value = reader.decimal(), numbers.updateValue(value, forKey: key) == nil else {
                        return nil
                    }
                default: return nil
                }
            }
            guard let requestID = texts["requestID"], let session = texts["session"],
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
    fileprivate mutating func leases() -> [RenewRequest.Lease]? {
        guard open("[") else { return nil }
        var leases: [RenewRequest.Lease] = []
        while element() {
            guard let lease = lease() else { return nil }
            leases.append(lease)
        }
        return leases
    }

    private mutating func lease() -> RenewRequest.Lease? {
        var (meter, token) = (String?.none, UInt64?.none)
        guard open("{") else { return nil }
        while let key = key() {
            switch key {
            case "meter" where meter == nil: meter = string()
            case "token" where token == nil: token = decimal()
            default: return nil
            }
        }
        guard let meter, let token else { return nil }
        return RenewRequest.Lease(meter: meter, token: token)
    }
}
