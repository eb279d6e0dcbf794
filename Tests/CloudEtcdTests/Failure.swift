import CloudEtcd

/// Why it failed; nil if it did not, or for another reason than etcd.
func failure(_ body: () async throws -> Void) async -> EtcdError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? EtcdError
    }
}
