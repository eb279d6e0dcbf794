import Domain
import GatewayAPI
import ProgramKit

enum AdapterText {
    static func table(_ adapters: [AdapterStatus]) -> Table {
        var table = Table(["ADAPTER", "NAME", "RADIO", "LINKS", "HEARD"])
        for adapter in adapters {
            table.add([
                .init(adapter.address), .init(adapter.name ?? "–"), .init(adapter.state.rawValue, colour(of: adapter)),
                .init("\(adapter.links) of \(adapter.links_max)"), .init("\(adapter.heard) in the last minute"),
            ])
        }
        return table
    }

    static func talk(_ adapters: [AdapterStatus]) -> [String] {
        adapters.compactMap { adapter in
            adapter.error.map { "\(adapter.proxy == nil ? "adapter" : "proxy") \(adapter.address): \($0)" }
        }
    }

    private static func colour(of adapter: AdapterStatus) -> Terminal.Colour? {
        switch adapter.state {
        case .searching, .idle: .green
        case .starting, .recovering: .yellow
        case .blocked, .failed, .forbidden, .gone: .red
        }
    }
}
