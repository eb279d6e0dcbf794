import Domain
import GatewayAPI
import ProgramKit

enum CountedText {
    /// Returns text such as `12.345 Wh, 2345 mAh in 1 h 2 min 3 s, since 10:02:11`.
    static func line(_ counted: CountedBody, _ times: TimeText) -> String {
        let energy = Formatting.quantity(.countedEnergy, counted.energy_Wh)
        return "\(energy), \(Formatting.quantity(.countedCharge, counted.charge_mAh)) "
            + "in \(Formatting.span(milliseconds: counted.counted_ms)), since \(times.text(counted.since))"
    }
}
