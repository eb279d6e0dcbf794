import GatewayAPI
import Logging
import MeterCodec
package import MeterModel

/// Settings are of meters, whether they are here or only another host told of them.
extension MeterDirectory {
    /// The meter that a text means, among those of this host and all that anything is set for.
    package func meter(_ reference: String) async throws(GatewayError) -> MeterID {
        if let id = MeterID(reference), sessions[id] != nil { return id }
        if let exact = exactly(reference) { return exact }
        return try MeterReference.resolve(reference, among: try await allNames())
    }

    package func settings(of reference: String) async throws(GatewayError) -> [String: String] {
        try await edges.settings.texts(of: try await meter(reference))
    }

    /// Sets what a person asks for, for a meter that is connected at once. Of a meter that is not here nobody knows the
    /// model, so what it cannot do is only found out where it is.
    package func set(_ changes: [String: String?], for reference: String) async throws(GatewayError) -> [String: String]
    {
        let id = try await meter(reference)
        let profile = await sessions[id]?.profile
        let valid = try MeterSettings.validated(changes, for: profile)
        if let name = valid["name"] ?? nil { try await checkUnique(name, for: id) }
        return try await edges.settings.set(valid, of: id, for: profile)
    }

    /// What people call each meter of this host.
    var names: [(id: MeterID, name: String?)] {
        var names: [(id: MeterID, name: String?)] = []
        forEach { names.append(($0.id, $0.displayName)) }
        return names
    }

    func allNames() async throws(GatewayError) -> [(id: MeterID, name: String?)] {
        let here = names
        let others = try await edges.settings.meters().filter { sessions[$0.id] == nil }
        return here + others
    }

    /// A name that stands for two meters stands for none.
    private func checkUnique(_ name: String, for id: MeterID) async throws(GatewayError) {
        for other in try await allNames() where other.id != id && other.name?.lowercased() == name.lowercased() {
            throw GatewayError(.badRequest, "\(other.id) is called \"\(name)\" already", next: "choose another name")
        }
    }
}

/// Settings that changed, here or on another host, reach their meters at once.
extension MeterDirectory: SettingsObserver {
    package func settingsChanged(of meters: [MeterID]) async {
        for meter in meters { await adoptSettings(of: meter) }
    }

    private func adoptSettings(of meter: MeterID) async {
        do {
            try await sessions[meter]?.readSettings { [edges] in try await edges.settings.settings(of: meter) }
        } catch {
            logger.error("settings not read", metadata: ["meter.id": "\(meter)", "cause": "\(error)"])
        }
    }
}
