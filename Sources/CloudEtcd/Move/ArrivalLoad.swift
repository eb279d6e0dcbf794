struct EtcdPut: Hashable, Sendable {
    var key: [UInt8]
    var value: [UInt8]
}

struct ArrivalLoad: Sendable {
    private static let requestsAtOnce = 4
    /// Number of keys per request: so many that the wait for the disk costs little per key.
    private static let putsPerRequest = 100
    private static let bytesPerRequest = EtcdTransaction.bytesMax / 2

    private let client: EtcdClient
    private let condition: EtcdCompare
    private var written = Sum()

    init(client: EtcdClient, guarding condition: EtcdCompare) {
        self.client = client
        self.condition = condition
    }

    mutating func put(_ puts: [EtcdPut]) async throws {
        for put in puts { written.add(key: put.key, value: put.value) }
        var requests = Self.requests(for: puts)[...]
        try await withThrowingTaskGroup(of: Void.self) { [self] group in
            for request in requests.prefix(Self.requestsAtOnce) { group.addTask { try await send(request) } }
            requests = requests.dropFirst(Self.requestsAtOnce)
            while try await group.next() != nil {
                if let request = requests.popFirst() { group.addTask { try await send(request) } }
            }
        }
    }

    private func send(_ puts: ArraySlice<EtcdPut>) async throws(EtcdError) {
        let transaction = EtcdTransaction(
            compares: [condition], success: puts.map { .put(key: $0.key, value: $0.value) })
        guard try await client.commit(transaction).succeeded else {
            throw .anotherMove(prefix: client.settings.prefix)
        }
    }

    private static func requests(for puts: [EtcdPut]) -> [ArraySlice<EtcdPut>] {
        var requests: [ArraySlice<EtcdPut>] = []
        var (start, bytes) = (0, 0)
        for (index, put) in puts.enumerated() {
            let size = put.key.count + put.value.count
            if index > start, index - start == putsPerRequest || bytes + size > bytesPerRequest {
                requests.append(puts[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += size
        }
        if start < puts.count { requests.append(puts[start...]) }
        return requests
    }

    /// - Throws: `damaged` if the stored keys' checksum differs from the written keys'.
    func check(_ keys: StoreKeys) async throws {
        var found = Sum()
        for prefix in keys.allKinds {
            try await client.readAll(EtcdRange(prefix: prefix)) { found.add(key: $0.key, value: $0.value) }
        }
        guard found == written else {
            throw EtcdError(
                .damaged,
                "etcd has \(found.count) keys after \(written.count) were written, or other keys. Nothing was changed "
                    + "where they come from; try again, with nothing else at these keys")
        }
    }

    /// Order-independent checksum of keys and values.
    private struct Sum: Hashable, Sendable {
        var count = 0
        private var sum = 0

        mutating func add(key: [UInt8], value: [UInt8]) {
            var hasher = Hasher()
            hasher.combine(key)
            hasher.combine(value)
            count += 1
            sum &+= hasher.finalize()
        }
    }
}
