package import Domain

extension MeterDirectory {
    /// Returns names and models of meters as this host knows them.
    package func tags(of meters: [MeterID]) -> [MeterID: InfluxService.Tags] {
        var tags: [MeterID: InfluxService.Tags] = [:]
        for meter in meters {
            tags[meter] = session(of: meter)?.assumeIsolated {
                InfluxService.Tags(name: $0.displayName, model: $0.shownModel?.displayName)
            }
        }
        return tags
    }
}
