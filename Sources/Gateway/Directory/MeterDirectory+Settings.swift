import GatewayAPI
import Logging
package import MeterModel

/// Settings that changed, here or on another host, reach their meters at once.
extension MeterDirectory: SettingsObserver {
    package func settingsChanged(of meters: [MeterID]) async {
        for meter in meters { await adoptSettings(of: meter) }
    }

    /// Reads until nothing changed meanwhile: of two readings under way the older one may come back last.
    private func adoptSettings(of meter: MeterID) async {
        guard let session = sessions[meter] else { return }
        settingsChanges[meter, default: 0] += 1
        var seen: Int?
        while seen != settingsChanges[meter] {
            seen = settingsChanges[meter]
            do {
                await session.apply(try await edges.settings.settings(of: meter))
            } catch {
                logger.error("settings not read", metadata: ["meter.id": "\(meter)", "cause": "\(error)"])
                return
            }
        }
    }
}
