import BluetoothCore
import Domain

extension MonotonicTime {
    static func seconds(_ seconds: Int) -> Self { Self(sinceOrigin: .seconds(seconds)) }
}

/// One line of a conversation.
enum Line: Equatable, CustomStringConvertible {
    /// The client sent these bytes.
    case sent(String)
    /// These bytes came in.
    case received(String)

    var description: String {
        switch self {
        case .sent(let hex): "> \(hex)"
        case .received(let hex): "< \(hex)"
        }
    }
}
