package import Domain

/// Stores energy counts. `SampleRepository.append` also writes them, together with readings.
package protocol EnergyCountRepository: Sendable {
    func energyCounts() async throws -> [MeterID: EnergyCount]
    /// Replaces a meter's count; nil deletes it.
    func keepEnergyCount(_ count: EnergyCount?, of meter: MeterID) async throws
}
