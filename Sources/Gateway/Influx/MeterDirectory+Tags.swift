package import Domain

extension MeterDirectory {
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
