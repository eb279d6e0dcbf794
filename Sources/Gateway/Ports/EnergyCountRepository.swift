package import Domain

/// Keeps what was counted for the meters. It is written together with their readings
/// (`SampleRepository.append`).
package protocol EnergyCountRepository: Sendable {
    /// What was counted of each meter.
    func energyCounts() async throws -> [MeterID: EnergyCount]
    /// Writes a person's wish: what is counted of the meter from now on, in place of what was. Nil deletes it.
    func keepEnergyCount(_ count: EnergyCount?, of meter: MeterID) async throws
}
