import Domain
import GatewayAPI
import ProgramKit

enum CountedText {
    /// Returns text such as `12.345 Wh, 2345 mAh in 1 h 2 min 3 s, since 10:02:11`.
    static func line(_ counted: CountedBody, _ times: TimeText) -> String {
        let counts = [
            counted.energy_Wh.map { Formatting.quantity(.countedEnergy, $0) },
            counted.charge_mAh.map { Formatting.quantity(.countedCharge, $0) },
        ].compactMap(\.self)
        return (counts.isEmpty ? "nothing yet" : counts.joined(separator: ", "))
            + " in \(Formatting.span(milliseconds: counted.counted_ms)), since \(times.text(counted.since))"
    }
}
