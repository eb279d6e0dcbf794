extension EtcdClient {
    private static let entriesPerPage = 2000

    /// Reads a range in pages. With `isOfOneState`, all pages are from one revision: the range's own, or else the first
    /// page's. Otherwise each page is from etcd's current revision.
    ///
    /// - Returns: the revision of the first page.
    @discardableResult
    func readAll(
        _ range: EtcdRange, isOfOneState: Bool = true, _ body: (EtcdEntry) throws -> Void
    ) async throws -> Int64 {
        var range = range
        range.limit = Self.entriesPerPage
        var revision: Int64 = 0
        while true {
            let found = try await read([range])
            if revision == 0 { revision = range.revision > 0 ? range.revision : found.revision }
            if isOfOneState { range.revision = revision }
            for entry in found.ranges[0].entries { try body(entry) }
            guard found.ranges[0].hasMore, let last = found.ranges[0].entries.last else { return revision }
            range.key = last.key + [0]
        }
    }
}
