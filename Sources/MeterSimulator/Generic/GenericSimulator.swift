package import Domain
package import MeterCodec

package struct GenericSimulator: FamilySimulator {
    private let boards: GenericFamily

    /// - Parameter boards: models to simulate, including those that users described.
    package init(_ boards: GenericFamily = GenericFamily()) {
        self.boards = boards
    }

    package var family: MeterFamily { boards.family }

    package func meter(
        _ model: ModelName, over transport: LinkAddress.Transport, _ options: SimulatorOptions
    ) -> any SimulatedMeter {
        let usual: Duration? = transport == .serial ? nil : .seconds(1)
        return SimulatedBoard(
            model: model, boards.description(of: model) ?? .usual, load: options.load(),
            period: options.refresh ?? usual)
    }
}
